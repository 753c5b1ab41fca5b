"""The real command line in processes of its own, and runs small enough for tests."""

import atexit
import fcntl
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from warm import HeardProcess, WarmProcess

# For what takes seconds on an idle machine. A campaign beside other work sets it higher.
PATIENCE_SECONDS = float(os.environ.get("CHORUS_PATIENCE_SECONDS", "300"))
# Two slots, a replay of 60 transitions: in 1,600 steps the files of the ring are written round and round.
TINY = (
    "--scale", "smoke", "--members", "2", "--num-envs", "2", "--total-steps", "1600", "--iteration-steps", "200",
    "--learning-starts", "40", "--buffer-size", "60", "--batch-size", "8", "--eval-episodes", "2",
)  # fmt: skip
SHORT_EPISODES = ("--max-episode-steps", "30")
# One real game with everything that may happen in it. Iterations end with an episode, after 90 steps and not after 60;
# a ring of 548 rows is written round and round.
ATARI = (
    "--num-envs", "1", "--max-episode-steps", "45", "--iteration-steps", "60", "--total-steps", "720",
    "--sticky-actions", "0.25", "--noop-max", "5", "--terminal-on-life-loss", "--redraw-on-life-loss",
    "--eval-episodes", "1", "--eval-envs", "1", "--eval-steps", "10",
)  # fmt: skip
# A JAX environment that compiles fast, one that people use, one that lives in Python, a real game, real physics.
RUNS = {
    "probe": ("bootstrapped-dqn", "--env", "Probe/Discount-v0", *TINY),
    "minatar": ("cerl", "--env", "MinAtar/Breakout-v1", *TINY, *SHORT_EPISODES),
    "cartpole": ("bootstrapped-dqn", "--env", "CartPole-v1", *TINY, *SHORT_EPISODES),
    "atari": ("bootstrapped-dqn", "--env", "ALE/Breakout-v5", *TINY, *ATARI),
    "control": ("ensemble-sac-cerl", "--env", "Hopper-v4", *TINY, *SHORT_EPISODES),
}
LOGS = ("metrics.jsonl", "episodes.jsonl")


def environment(**changes: str | None) -> dict[str, str]:
    """This process's variables with `changes` (None takes a variable away)."""
    merged = {**os.environ, **changes}
    return {name: value for name, value in merged.items() if value is not None}


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "chorus", *map(str, arguments)]


def chorus(*arguments: str | Path, cwd: Path | None = None, **changes: str | None) -> subprocess.CompletedProcess:
    """`chorus ARGUMENTS` to its end, in a process of its own: with variables changed, one that imports everything."""
    if not changes:
        return _warm(arguments, cwd)
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment(**changes),
        timeout=PATIENCE_SECONDS,
    )


def _warm(arguments: Sequence[str | Path], cwd: Path | None) -> subprocess.CompletedProcess:
    process = heard(*arguments, cwd=cwd)
    said = process.communicate(PATIENCE_SECONDS)
    return subprocess.CompletedProcess(arguments, process.wait(), *said)


def heard(*arguments: str | Path, cwd: Path | None = None) -> HeardProcess:
    return HeardProcess([str(word) for word in arguments], cwd)


def background(*arguments: str | Path) -> WarmProcess:
    with Path(os.devnull).open("w") as nowhere:
        return WarmProcess([str(word) for word in arguments], nowhere.fileno(), nowhere.fileno())


def train(out: Path, *arguments: str | Path, **changes: str | None) -> Path:
    """A whole quiet run in a process of its own; its directory."""
    before = set(out.iterdir()) if out.exists() else set()
    done = chorus("train", *arguments, "--out", out, "--quiet", **changes)
    assert done.returncode == 0, done.stderr
    (path,) = set(out.iterdir()) - before
    return path


@functools.cache
def own_folder() -> Path:
    """For this process's copies of runs that are made once."""
    folder = Path(tempfile.mkdtemp(prefix="chorus-copies-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """A copy of the one run that `make` writes into a folder; the first process of the session that asks makes it."""
    shared = Path(os.environ["CHORUS_TEST_RUNS"])
    folder, done = shared / name, shared / f"{name}.done"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    (run,) = folder.iterdir()
    copy = own_folder() / name / run.name
    return copy if copy.exists() else Path(shutil.copytree(run, copy))


@functools.cache
def finished_probe_run() -> Path:
    """One undisturbed run, seed 3, for everyone to read and compare with."""
    from chorus.cli.main import main

    def make(out: Path) -> None:
        assert main(["train", *RUNS["probe"], "--seed", "3", "--out", str(out), "--quiet"]) == 0

    return made_once("probe", make)


def logs(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in LOGS}


def records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def status(run: Path) -> dict:
    return json.loads((run / "status.json").read_text())


def listing(directory: Path) -> dict[str, tuple[int, int]]:
    """Every file below a directory with its size and time of change: equal listings mean nothing was touched."""
    return {
        str(path.relative_to(directory)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(directory.rglob("*"))
    }
