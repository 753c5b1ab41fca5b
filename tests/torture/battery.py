"""One command after the other on the same files, in one process that a warm server forks, as `battery.py REQUEST`.

A line of JSON before each step says what begins, and one after it what came of it, so that whoever reads them knows in
which step the process died.
"""

import contextlib
import hashlib
import io
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

LOGS = ("metrics.jsonl", "episodes.jsonl")


@dataclass(frozen=True)
class Step:
    """A command (`how` is "command", with its words), or a function of `chorus` with its arguments.

    With any other exit code than the `codes_of_writing` it must leave all files as they are.
    """

    name: str
    how: str = "command"
    words: tuple[str, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)
    codes_of_writing: tuple[int, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a step did: its exit code (2 for a ChorusError) or what it raised, what it said on stderr, whether a file
    of the watched runs changed, and hashes of their logs before and after."""

    name: str
    code: int | None
    raised: str | None
    said: str
    changed: list[str]
    before: dict[str, str]
    after: dict[str, str]
    cpu_seconds: float


def files_of(runs: list[Path]) -> dict[str, tuple[int, int]]:
    """Every file, link or folder with its size and time of change; of folders only that they are there."""
    found = {}
    for run in runs:
        for path in sorted(run.rglob("*")):
            facts = path.lstat()
            is_folder = path.is_dir() and not path.is_symlink()
            found[str(path)] = (0, 0) if is_folder else (facts.st_size, facts.st_mtime_ns)
    return found


def log_hashes(runs: list[Path]) -> dict[str, str]:
    return {
        f"{run.name}/{name}": hashlib.sha256((run / name).read_bytes() if (run / name).is_file() else b"").hexdigest()
        for run in runs
        for name in LOGS
    }


def perform(step: Step) -> int:
    """The exit code; a ChorusError of a function counts as 2."""
    import chorus
    from chorus.cli.main import main
    from chorus.errors import ChorusError

    if step.how == "command":
        return main(step.words)
    functions: dict[str, Callable[..., Any]] = {
        "load": _load_and_act,
        "resume": chorus.resume,
        "train": chorus.train,
        "diagnosis": _train_diagnosis,
    }
    try:
        functions[step.how](*step.words, **step.keywords)
    except ChorusError as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


def _load_and_act(run: str) -> None:
    import chorus

    player = chorus.load(run)
    player.predict(player.observation_example())


def _train_diagnosis(env: str, out: str, total_steps: int, trained: bool) -> None:
    """The runs of `chorus diagnose`, without a process for each; or runs that look finished, without checkpoints."""
    from chorus.envs.registry import describe
    from chorus.runs.lifecycle import start_run
    from chorus.runs.progress import Silent
    from chorus.scheduling.jobs import jobs_of
    from chorus.studies.diagnosis import Overrides, diagnosis

    sys.path.insert(0, str(Path(__file__).parent.parent))
    import small_jobs

    part = diagnosis(describe(env), "smoke", 1, Overrides(members=2, total_steps=total_steps))
    for job in jobs_of(part, "smoke", Path(out)):
        if trained:
            start_run(job.path, job.config, job.about, Silent())
        else:
            small_jobs.write_finished(job)


def observe(step: Step, runs: list[Path]) -> Outcome:
    before, logs, began = files_of(runs), log_hashes(runs), time.process_time()
    code, raised, said = None, None, io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            code = perform(step)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException as problem:
            raised = f"{type(problem).__name__}: {problem}"[:500]
    after = files_of(runs)
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    spent = time.process_time() - began
    return Outcome(step.name, code, raised, said.getvalue()[-2_000:], changed, logs, log_hashes(runs), round(spent, 2))


def main() -> None:
    request = json.loads(Path(sys.argv[1]).read_text())
    runs = [Path(run) for run in request["runs"]]
    for step in (Step(**{**given, "words": tuple(given["words"])}) for given in request["steps"]):
        print(json.dumps({"began": step.name}), flush=True)
        print(json.dumps({"ended": asdict(observe(step, runs))}), flush=True)


if __name__ == "__main__":
    main()
