"""Functions of a user that see a run while it trains and may stop it."""

from collections.abc import Callable, Mapping
from typing import Any

from chorus.runs.progress import ProgressView
from chorus.runs.stopping import StopRequest

# Given a record, as `ProgressView` describes it; False stops the run.
Callback = Callable[[Mapping[str, Any]], object]


class StopRun(Exception):
    """Raised by a callback to stop its run after the iteration under way, which is saved."""


class WithCallbacks:
    """Another view of the run, and the callbacks. None is called any more once one has stopped the run."""

    def __init__(
        self, view: ProgressView, stop: StopRequest, on_episode: Callback | None, on_iteration: Callback | None
    ) -> None:
        self._view, self._stop = view, stop
        self._on_episode, self._on_iteration = on_episode, on_iteration
        self._over = False
        self.problem: Exception | None = None
        """What a callback raised: the run stops as if it had been asked to, and the caller raises it afterwards."""

    def start(self, title: str, step: int, total_steps: int) -> None:
        self._view.start(title, step, total_steps)

    def advance(self, step: int) -> None:
        self._view.advance(step)

    def phase(self, name: str) -> None:
        self._view.phase(name)

    def episode(self, record: Mapping[str, Any]) -> None:
        self._view.episode(record)
        self._call(self._on_episode, record)

    def iteration(self, record: Mapping[str, Any]) -> None:
        self._view.iteration(record)
        self._call(self._on_iteration, record)

    def say(self, message: str) -> None:
        self._view.say(message)

    def close(self) -> None:
        self._view.close()

    def _call(self, callback: Callback | None, record: Mapping[str, Any]) -> None:
        if callback is None or self._over:
            return
        try:
            self._over = callback(record) is False
        except StopRun:
            self._over = True
        except Exception as problem:
            self._over, self.problem = True, problem
        if self._over:
            self._stop.ask()
