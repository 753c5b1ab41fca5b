"""A process that trains runs: each line of stdin is a job, and it exits when its parent does.

A job that says `stays` lets the process wait for the next one, once the line `DONE` on stdout has said that it ended
well. Any problem ends the process, so a run that failed leaves nothing behind.
"""

import contextlib
import gc
import json
import os
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NoReturn

from chorus.errors import ChorusError

if TYPE_CHECKING:
    from chorus.runs.programs import ProgramCache
    from chorus.runs.stopping import StopRequest

HOPELESS = 2
DONE = b"done\n"


def run_job(
    message: dict[str, Any],
    patience_seconds: float = 0.0,
    stop: "StopRequest | None" = None,
    programs: "ProgramCache | None" = None,
) -> None:
    """Start or resume the run that `Job.message` describes; every engine's worker calls it."""
    from chorus.runs.lifecycle import decode_with_plugins, start_run
    from chorus.runs.progress import Silent

    path, about = Path(message["path"]), message["about"]
    config = decode_with_plugins(message["config"], about.get("plugins", ()), str(path))
    start_run(path, config, about, Silent(), patience_seconds=patience_seconds, stop=stop, programs=programs)


def main() -> int:
    jobs: SimpleQueue[dict[str, Any]] = SimpleQueue()
    threading.Thread(target=_read_jobs, args=(jobs,), daemon=True).start()
    _stay_nice()
    done = _take_stdout()
    try:
        message = jobs.get()
        if message["stays"]:
            _run_jobs(message, jobs, done)
        run_job(message)
    except ChorusError as problem:
        print(problem, file=sys.stderr)
        return HOPELESS
    return 0


def _run_jobs(message: dict[str, Any], jobs: "SimpleQueue[dict[str, Any]]", done: int) -> NoReturn:
    """Train one run after the other, until the parent closes stdin; runs of one configuration share their programs."""
    from chorus.runs.programs import ProgramCache
    from chorus.runs.runtime import trim_heap

    programs = ProgramCache()
    while True:
        run_job(message, programs=programs)
        # The next run checks whether the system has the memory that it needs.
        gc.collect()
        trim_heap()
        os.write(done, DONE)
        message = jobs.get()


def _take_stdout() -> int:
    """The descriptor of stdout; what a run prints goes nowhere."""
    done = os.dup(sys.stdout.fileno())
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)
    return done


def _stay_nice() -> None:
    """Linux may schedule every session as a group of its own, for which `nice` counts only once the group is told."""
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(os.getpriority(os.PRIO_PROCESS, 0)), encoding="ascii")


def _read_jobs(jobs: "SimpleQueue[dict[str, Any]]") -> None:
    """Pass jobs on; exit when stdin closes, which happens when the parent ends, however it ends.

    Reads the descriptor directly: this thread would hold the lock of Python's buffer when the interpreter ends.
    """
    text = b""
    while chunk := os.read(sys.stdin.fileno(), 65_536):
        *lines, text = (text + chunk).split(b"\n")
        for line in lines:
            jobs.put(json.loads(line))
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
