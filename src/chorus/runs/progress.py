"""The progress of one run: a bar in a terminal, plain lines elsewhere, or nothing."""

import re
import sys
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Protocol, TextIO, runtime_checkable

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from chorus.wrapping import wrap

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_DRAWINGS = 0.2
_RECENT_EPISODES = 20
# More do not fit beside the rest.
_POLICIES_SHOWN = 2
_EVALUATION = re.compile(r"eval/[^/]+/episodic_return")
COMPILING = "compiling"


@runtime_checkable
class ProgressView(Protocol):
    """Steps are agent steps of the whole run."""

    def start(self, title: str, step: int, total_steps: int) -> None: ...

    def advance(self, step: int) -> None: ...

    def phase(self, name: str) -> None:
        """What is going on: compiling, training, evaluating, saving."""
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


class _State:
    """What a view knows of its run: how far it is, how fast, and how well its agent does."""

    def __init__(self, title: str, step: int, total_steps: int) -> None:
        self.title, self.step, self.total_steps = title, step, total_steps
        self.phase = COMPILING
        self._returns: deque[float] = deque(maxlen=_RECENT_EPISODES)
        self._metrics: Mapping[str, float] = {}
        # Time and step of the first progress: compiling comes before it and is no part of the rate.
        self._first: tuple[float, int] | None = None

    def advance(self, step: int) -> None:
        self.step = step
        if self._first is None:
            self._first = time.monotonic(), step
        if self.phase == COMPILING:
            self.phase = "training"

    def enter(self, phase: str) -> None:
        """The first training of a process compiles before its first step."""
        self.phase = COMPILING if phase == "training" and self._first is None else phase
        if phase == COMPILING:
            self._first = None

    def episode(self, record: Mapping[str, Any]) -> None:
        self._returns.append(float(record["return"]))

    def iteration(self, record: Mapping[str, Any]) -> None:
        self.step, self._metrics = int(record["step"]), record["metrics"]

    @property
    def share(self) -> float:
        return min(1.0, self.step / max(1, self.total_steps))

    @property
    def steps_per_second(self) -> float:
        """Since the first step, evaluations included: that is what is left to wait for."""
        since, start = self._first or (0.0, self.step)
        return (self.step - start) / max(time.monotonic() - since, 1e-9)

    def pace(self) -> list[str]:
        rate = self.steps_per_second
        if rate <= 0:
            return []
        left = (self.total_steps - self.step) / rate
        return [f"{rate:,.0f} steps/s", *([f"{duration(left)} left"] if left > 0 else [])]

    def scores(self) -> list[str]:
        """The mean return of recent training episodes, the last evaluation, and the exploration."""
        parts = []
        if self._returns:
            parts.append(f"return {sum(self._returns) / len(self._returns):.2f}")
        evaluated = {name.split("/")[1]: value for name, value in self._metrics.items() if _EVALUATION.fullmatch(name)}
        if evaluated:
            shown = dict(list(evaluated.items())[:_POLICIES_SHOWN])
            parts.append("eval " + " ".join(f"{name} {value:.2f}" for name, value in shown.items()))
        if "charts/epsilon" in self._metrics:
            parts.append(f"epsilon {self._metrics['charts/epsilon']:.2f}")
        return parts


class Bar:
    """Three lines that are redrawn: the run, its bar with rate, time left and phase, and its scores."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, auto_refresh=False)
        self._drawn = 0.0

    def start(self, title: str, step: int, total_steps: int) -> None:
        self._state = _State(title, step, total_steps)
        self._live.start()
        self._draw()

    def advance(self, step: int) -> None:
        self._state.advance(step)
        if time.monotonic() - self._drawn >= _SECONDS_BETWEEN_DRAWINGS:
            self._draw()

    def phase(self, name: str) -> None:
        self._state.enter(name)
        self._draw()

    def episode(self, record: Mapping[str, Any]) -> None:
        self._state.episode(record)

    def iteration(self, record: Mapping[str, Any]) -> None:
        self._state.iteration(record)
        self._draw()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        state, width = self._state, self._console.width
        row = Table.grid(padding=(0, 1))
        # What matters least is last, where a narrow terminal cuts.
        words = [*reversed(state.pace()), f"{state.step:,}/{state.total_steps:,} steps"]
        if state.share < 1.0:
            words.insert(0, state.phase.partition(" ")[0])
        bar = ProgressBar(total=max(1, state.total_steps), completed=state.step, width=10 if width < 100 else 30)
        row.add_row(bar, Text(f"{state.share:4.0%}"), Text(", ".join(words), no_wrap=True, overflow="ellipsis"))
        lines: list[Any] = [Text(state.title, style="bold", no_wrap=True, overflow="ellipsis"), row]
        if scores := state.scores():
            lines.append(Text(", ".join(scores), style="dim", no_wrap=True, overflow="ellipsis"))
        self._live.update(Group(*lines), refresh=True)

    def say(self, message: str) -> None:
        self._console.print(wrap(message, self._console.width), markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        self._live.stop()


class Lines(PlainText):
    """One line every few seconds, and one per evaluation."""

    def start(self, title: str, step: int, total_steps: int) -> None:
        self._state = _State(title, step, total_steps)
        self._said = time.monotonic()

    def advance(self, step: int) -> None:
        self._state.advance(step)
        if time.monotonic() - self._said >= _SECONDS_BETWEEN_LINES:
            self._line()

    def episode(self, record: Mapping[str, Any]) -> None:
        self._state.episode(record)

    def iteration(self, record: Mapping[str, Any]) -> None:
        self._state.iteration(record)
        if time.monotonic() - self._said >= _SECONDS_BETWEEN_LINES or self._state.share >= 1.0:
            self._line()

    def _line(self) -> None:
        self._said = time.monotonic()
        state = self._state
        words = [f"step {state.step:,} of {state.total_steps:,} ({state.share:.0%})", *state.pace(), *state.scores()]
        self.say(f"{state.title}: {', '.join(words)}")

    def phase(self, name: str) -> None:
        self._state.enter(name)


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
