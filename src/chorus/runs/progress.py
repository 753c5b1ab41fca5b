"""The progress of one run: a bar in a terminal, plain lines elsewhere, or nothing."""

import sys
import time
from collections.abc import Mapping
from typing import Any, Protocol, TextIO, runtime_checkable

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

_SECONDS_BETWEEN_LINES = 10.0


@runtime_checkable
class ProgressView(Protocol):
    """Steps are agent steps of the whole run."""

    def start(self, title: str, step: int, total_steps: int) -> None: ...

    def advance(self, step: int) -> None: ...

    def phase(self, name: str) -> None:
        """What is going on: training, evaluating, saving."""
        ...

    def episode(self, record: Mapping[str, Any]) -> None:
        """A training episode has ended: its line of episodes.jsonl."""
        ...

    def iteration(self, record: Mapping[str, Any]) -> None:
        """An iteration has been saved: iteration, step, frames and metrics."""
        ...

    def say(self, message: str) -> None: ...

    def close(self) -> None: ...


class Silent:
    """Shows nothing; stands in for the view of one run and of a grid."""

    def start(self, *about: object) -> None:
        pass

    def advance(self, step: int) -> None:
        pass

    def update(self, snapshot: object) -> None:
        pass

    def episode(self, record: Mapping[str, Any]) -> None:
        pass

    def iteration(self, record: Mapping[str, Any]) -> None:
        pass

    def phase(self, name: str) -> None:
        pass

    def say(self, message: str) -> None:
        pass

    def close(self) -> None:
        pass


class PlainText:
    """Messages as lines of a stream, for logs and pipes."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr

    def say(self, message: str) -> None:
        print(message, file=self._stream, flush=True)

    def episode(self, record: Mapping[str, Any]) -> None:
        pass

    def iteration(self, record: Mapping[str, Any]) -> None:
        pass

    def close(self) -> None:
        pass


class Bar:
    """A rich bar with rate and time left."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("[bold]{task.fields[title]}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("steps"),
            TaskProgressColumn(show_speed=False),
            TextColumn("{task.fields[rate]}"),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("[dim]{task.fields[phase]}"),
            console=console,
            speed_estimate_period=60.0,
        )

    def start(self, title: str, step: int, total_steps: int) -> None:
        self._task = self._progress.add_task(
            title, total=total_steps, completed=step, title=title, rate="", phase="compiling"
        )
        self._clock = _Rate(step)
        self._progress.start()

    def advance(self, step: int) -> None:
        if self._clock.due(0.2):
            rate = f"{self._clock.steps_per_second(step):,.0f} steps/s"
            self._progress.update(self._task, completed=step, rate=rate)

    def phase(self, name: str) -> None:
        self._progress.update(self._task, phase=name)

    def episode(self, record: Mapping[str, Any]) -> None:
        pass

    def iteration(self, record: Mapping[str, Any]) -> None:
        pass

    def say(self, message: str) -> None:
        self._progress.console.print(message, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        self._progress.stop()


class Lines(PlainText):
    """One line every few seconds."""

    def start(self, title: str, step: int, total_steps: int) -> None:
        self._title, self._total = title, total_steps
        self._clock = _Rate(step)

    def advance(self, step: int) -> None:
        if self._clock.due(_SECONDS_BETWEEN_LINES):
            rate = self._clock.steps_per_second(step)
            left = (self._total - step) / rate if rate > 0 else float("inf")
            self.say(
                f"{self._title}: step {step:,} of {self._total:,}, {rate:,.0f} steps/s, about {duration(left)} left"
            )

    def phase(self, name: str) -> None:
        pass


class _Rate:
    """Steps per second since the run started or was resumed, evaluations included: that is what is left to wait."""

    def __init__(self, step: int) -> None:
        self._first_step, self._began, self._last = step, time.monotonic(), time.monotonic()

    def due(self, seconds: float) -> bool:
        now = time.monotonic()
        if now - self._last < seconds:
            return False
        self._last = now
        return True

    def steps_per_second(self, step: int) -> float:
        return (step - self._first_step) / max(time.monotonic() - self._began, 1e-9)


def duration(seconds: float) -> str:
    """A length of time in words: 3 h 05 min."""
    if seconds == float("inf"):
        return "an unknown time"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, hours = whole // 60 % 60, whole // 3600
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {whole % 60:02d} s"


def for_terminal(quiet: bool) -> ProgressView:
    console = Console(stderr=True)
    if quiet:
        return Silent()
    return Bar(console) if console.is_terminal else Lines()
