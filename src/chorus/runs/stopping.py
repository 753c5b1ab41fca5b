"""How a run is asked to stop: by a signal to its process, or by a file in its directory.

A run that is asked finishes the iteration under way and saves it, so that no work is lost. The second signal ends it at
once; what it has done since its last checkpoint is repeated when it is resumed.
"""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
# `timeout` and some batch systems signal a process and then its group: the same signal soon again is the same request.
_ECHO_SECONDS = 0.2


class StopRequest:
    """Whether the run of this process has been asked to stop."""

    def __init__(self) -> None:
        self.asked = False
        self.announced = False
        self._first: tuple[int, float] | None = None

    def ask(self) -> None:
        self.asked = True

    @property
    def signalled(self) -> bool:
        """Whether a signal asked, and not the program itself."""
        return self._first is not None

    @contextlib.contextmanager
    def listening(self, signals: Sequence[int] = SIGNALS) -> Iterator["StopRequest"]:
        """Let signals ask while this lasts; only a program's main thread gets any."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        before = {number: signal.signal(number, self.receive) for number in signals}
        try:
            yield self
        finally:
            self.release(before)

    def receive(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = number, now
            self.ask()
        elif number != self._first[0] or now - self._first[1] > _ECHO_SECONDS:
            raise KeyboardInterrupt

    def release(self, before: dict[int, Any]) -> None:
        for number, handler in before.items():
            # None: the handler was not set by Python, and Python cannot set it back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
