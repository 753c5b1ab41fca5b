"""The progress of many runs: a live table in a terminal, plain lines elsewhere, or nothing."""

import time
from collections import Counter
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from chorus.runs.progress import PlainText, Silent, duration
from chorus.wrapping import wrap

_SECONDS_BETWEEN_LINES = 30.0
# Columns for steps, rate and time left, with the spaces between them.
_NUMBERS = 48


@dataclass(frozen=True)
class RunLine:
    """One run under way; `rate` in agent steps per second, zero while it compiles."""

    name: str
    step: int
    total_steps: int
    rate: float

    @property
    def pace(self) -> str:
        return f"{self.rate:,.0f} steps/s" if self.rate > 0 else "compiling"

    @property
    def left(self) -> str:
        return f"{duration((self.total_steps - self.step) / self.rate)} left" if self.rate > 0 else ""


@dataclass(frozen=True)
class Snapshot:
    """A grid at one instant; `left` is an estimate in seconds for all of it.

    `queued` holds one reason per run in the engine's own queue.
    """

    total: int
    done: int
    failed: int
    running: tuple[RunLine, ...]
    left: float
    queued: tuple[str, ...] = ()

    def sentence(self) -> str:
        waiting = self.total - self.done - self.failed - len(self.running) - len(self.queued)
        parts = [f"{self.done} of {self.total} runs done", f"{len(self.running)} under way"]
        parts += [f"{len(self.queued)} queued: {_counted(self.queued)}"] if self.queued else []
        parts += [f"{waiting} waiting"] if waiting else []
        parts += [f"{self.failed} failed"] if self.failed else []
        return ", ".join(parts) + (
            f"; about {duration(self.left)} left" if self.running or self.queued or waiting else ""
        )


def _counted(reasons: tuple[str, ...]) -> str:
    counts = Counter(reasons)
    return ", ".join(reason if len(counts) == 1 else f"{count} {reason}" for reason, count in counts.items())


class GridView(Protocol):
    def start(self, title: str, snapshot: Snapshot) -> None: ...

    def update(self, snapshot: Snapshot) -> None: ...

    def say(self, message: str) -> None: ...

    def close(self) -> None: ...


class GridTable:
    """One line per running job with a bar, its rate and its time left, and one line for the whole grid."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, refresh_per_second=4)
        self._bar = 24 if console.width >= 120 else 8
        self._name_width = max(20, console.width - _NUMBERS - self._bar)

    def start(self, title: str, snapshot: Snapshot) -> None:
        self._title = title
        self._live.start()
        self.update(snapshot)

    def update(self, snapshot: Snapshot) -> None:
        table = Table.grid(padding=(0, 1))
        names = short_names([run.name for run in snapshot.running], self._name_width)
        for run, name in zip(snapshot.running, names, strict=True):
            table.add_row(
                Text(name, style="bold"),
                ProgressBar(total=run.total_steps, completed=run.step, width=self._bar),
                f"{run.step:,}/{run.total_steps:,}",
                run.pace,
                run.left,
            )
        head, sentence = Table.grid(padding=(0, 1)), snapshot.sentence()
        room = min(24, self._live.console.width - len(self._title) - len(sentence) - 3)
        bar = [ProgressBar(total=max(snapshot.total, 1), completed=snapshot.done, width=room)] if room >= 6 else []
        head.add_row(Text(self._title, style="bold"), *bar, Text(sentence))
        self._live.update(Group(head, table))

    def say(self, message: str) -> None:
        console = self._live.console
        console.print(wrap(message, console.width), markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        self._live.stop()


def short_names(names: list[str], width: int) -> list[str]:
    """Names that fit: if one does not, all are without what they have in common, except algorithm and seed."""
    if all(len(name) <= width for name in names):
        return names
    parts = [name.split("__") for name in names]
    common = set(parts[0]).intersection(*parts)
    told = [
        "__".join(word for place, word in enumerate(own) if word not in common or place in (1, len(own) - 1))
        for own in parts
    ]
    return [_end_of(name, width) for name in told]


def _end_of(name: str, width: int) -> str:
    """The end of a name that is too long: algorithm and seed stand there."""
    return name if len(name) <= width else f"…{name[len(name) - width + 1 :]}"


class GridLines(PlainText):
    """One line per run that starts or ends, and regular lines for the whole grid."""

    def start(self, title: str, snapshot: Snapshot) -> None:
        self._title, self._last = title, time.monotonic()
        self.say(f"{title}: {snapshot.sentence()}")

    def update(self, snapshot: Snapshot) -> None:
        now = time.monotonic()
        if now - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = now
            self.say(f"{self._title}: {snapshot.sentence()}")
            for run in snapshot.running:
                words = [f"step {run.step:,} of {run.total_steps:,}", run.pace, run.left]
                self.say(f"  {run.name}: {', '.join(filter(None, words))}")


def grid_view(quiet: bool) -> GridView:
    console = Console(stderr=True)
    if quiet:
        return Silent()
    return GridTable(console) if console.is_terminal else GridLines()
