"""Real kills of real runs, at instants that can be named."""

import contextlib
import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from running import PATIENCE_SECONDS, command, environment, heard
from warm import WarmProcess

Instant = Callable[[Path], bool]


def newest_checkpoint(run: Path) -> int:
    numbers = [int(path.name) for path in (run / "checkpoints").glob("[0-9]*")]
    return max(numbers, default=0)


def lines_since_checkpoint(run: Path) -> int:
    """Bytes of episodes.jsonl that no checkpoint covers: an iteration is under way."""
    newest = newest_checkpoint(run)
    covered = 0
    if newest:
        manifest = run / "checkpoints" / f"{newest:06d}" / "manifest.json"
        covered = json.loads(manifest.read_text())["logs"]["episodes.jsonl"]["bytes"]
    episodes = run / "episodes.jsonl"
    return max(0, episodes.stat().st_size - covered) if episodes.exists() else 0


def before_the_first_checkpoint(run: Path) -> bool:
    return newest_checkpoint(run) == 0 and lines_since_checkpoint(run) > 200


def in_the_middle_of_an_iteration(run: Path) -> bool:
    return newest_checkpoint(run) >= 2 and lines_since_checkpoint(run) > 100


def late_in_the_run(run: Path) -> bool:
    return newest_checkpoint(run) >= 4 and lines_since_checkpoint(run) > 100


def while_a_checkpoint_is_written(run: Path) -> bool:
    return newest_checkpoint(run) >= 2 and (run / "checkpoints" / ".writing").exists()


# Looking costs processor time that the run needs; only a checkpoint is written too fast for a pause like this.
PAUSE_SECONDS = 0.005
PAUSES = {while_a_checkpoint_is_written: 0.0005}


def wait_for(condition: Callable[[], Any], seconds: float) -> Any:
    """The condition's first true value; files may come and go while it looks."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError):
            if found := condition():
                return found
        time.sleep(0.01)
    return pytest.fail(f"waited {seconds} seconds in vain")


def end_in_the_middle(out: Path, arguments: list[str], how: int, **changes: str) -> tuple[str, int]:
    """What a command said before it ended by this signal while one of its runs was under way, and its exit code."""
    process = _with_changes(arguments, changes) if changes else heard(*arguments)
    wait_for(lambda: [run for run in out.glob("[!.]*__s*") if in_the_middle_of_an_iteration(run)], PATIENCE_SECONDS)
    process.send_signal(how)
    said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    return said, process.wait()


def _with_changes(arguments: list[str], changes: dict[str, str]) -> subprocess.Popen:
    return subprocess.Popen(
        command(*arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(**changes),
        # Whoever starts the tests in the background makes them ignore it, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def kill_at(process: WarmProcess, run: Path, instant: Instant) -> None:
    """Stop the process when `instant` holds, make sure that it still does, and kill it."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the run ended before {instant.__name__.replace('_', ' ')}"
        # A checkpoint may be renamed or removed while we look.
        with contextlib.suppress(FileNotFoundError):
            if instant(run):
                process.send_signal(signal.SIGSTOP)
                if instant(run):
                    process.kill()
                    assert process.wait() == -signal.SIGKILL
                    return
                process.send_signal(signal.SIGCONT)
        time.sleep(PAUSES.get(instant, PAUSE_SECONDS))
    process.kill()
    pytest.fail(f"no instant {instant.__name__.replace('_', ' ')} in {PATIENCE_SECONDS} seconds")
