"""The worker's side of a benchmark in turns: steps are taken only while it is this worker's turn.

It needs nothing but Python, because workers run in environments of their own. A worker says "ready" once everything is
compiled; then each line it reads is a turn, and it answers with the seconds for which it computed. On one core that is
the time the turn took, less what other processes of the machine took away from it.
"""

import os
import sys
import time
from collections.abc import Callable


def limit_to_one_thread() -> None:
    """To be called before anything that computes is imported; `NPROC` is what XLA's CPU client reads."""
    os.environ |= {"NPROC": "1", "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


class Turns:
    """Waits for turns and measures them."""

    def __init__(self) -> None:
        self._answers, sys.stdout = sys.stdout, sys.stderr

    def wait(self) -> None:
        """Ends the process if there are no more turns."""
        print("ready", file=self._answers, flush=True)
        self._next()

    def done(self) -> None:
        print(time.process_time() - self._began, file=self._answers, flush=True)
        self._next()

    def _next(self) -> None:
        if not sys.stdin.readline():
            raise SystemExit
        self._began = time.process_time()

    def serve(self, turn: Callable[[], object]) -> None:
        self.wait()
        while True:
            turn()
            self.done()
