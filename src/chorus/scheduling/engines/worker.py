"""The process of one run: reads its job from the first line of stdin, and exits when its parent does."""

import contextlib
import json
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chorus.errors import ChorusError

if TYPE_CHECKING:
    from chorus.runs.stopping import StopRequest

HOPELESS = 2


def run_job(message: dict[str, Any], patience_seconds: float = 0.0, stop: "StopRequest | None" = None) -> None:
    """Start or resume the run that `Job.message` describes; every engine's worker calls it."""
    from chorus.runs.lifecycle import decode_with_plugins, start_run
    from chorus.runs.progress import Silent

    path, about = Path(message["path"]), message["about"]
    config = decode_with_plugins(message["config"], about.get("plugins", ()), str(path))
    start_run(path, config, about, Silent(), patience_seconds=patience_seconds, stop=stop)


def main() -> int:
    message = json.loads(sys.stdin.readline())
    threading.Thread(target=_die_with_parent, daemon=True).start()
    _stay_nice()
    try:
        run_job(message)
    except ChorusError as problem:
        print(problem, file=sys.stderr)
        return HOPELESS
    return 0


def _stay_nice() -> None:
    """Linux may schedule every session as a group of its own, for which `nice` counts only once the group is told."""
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(os.getpriority(os.PRIO_PROCESS, 0)), encoding="ascii")


def _die_with_parent() -> None:
    """Exit when stdin closes, which happens when the parent ends, however it ends.

    Reads the descriptor directly: this thread would hold the lock of Python's buffer when the interpreter ends.
    """
    while os.read(sys.stdin.fileno(), 1_024):
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
