"""Reading one run directory (docs/run-directory.md) as it is found: finished, still running, failed or damaged.

Nothing here interprets a run; a file that cannot be read becomes a sentence in `Run.problems`, never an
exception, so that one broken run does not hide the others.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

# One of these in a folder makes it a run directory.
MARKS = ("config.json", "metrics.jsonl")
# Counts pass through float64 columns, which are exact up to here.
LARGEST_COUNT = 2**52
COLUMNS = itemgetter("metric", "iteration", "step", "frames", "value")
STATES = ("finished", "diverged", "running", "failed", "unknown")


@dataclass(frozen=True)
class Rows:
    """The metric lines of one run as columns of equal length, in the order they were written."""

    metric: np.ndarray  # index into a shared list of names
    iteration: np.ndarray
    step: np.ndarray
    frames: np.ndarray
    value: np.ndarray

    @property
    def count(self) -> int:
        return len(self.value)


@dataclass(frozen=True)
class Run:
    """One run directory: who ran what, how it ended, and what could not be read."""

    path: Path
    env: str
    preset: str
    seed: int
    config: dict[str, Any] = field(repr=False)
    meta: dict[str, Any] = field(repr=False)
    state: str
    reason: str | None
    last_step: int
    last_iteration: int
    damaged_lines: int
    repeated_lines: int
    problems: tuple[str, ...]

    @property
    def name(self) -> str:
        return clean(self.path.name)

    @property
    def complete(self) -> bool:
        """Whether the last evaluations are the run's outcome; a diverged run has had its outcome too."""
        return self.state in ("finished", "diverged")


class MetricNames:
    """Gives each metric name a small number, shared by all runs, so that rows hold integers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def names(self) -> tuple[str, ...]:
        return tuple(self._numbers)


def is_run(path: Path) -> bool:
    return any((path / mark).is_file() for mark in MARKS)


def read_run(path: Path, names: MetricNames) -> tuple[Run, Rows]:
    """Everything a report needs of one run directory."""
    problems: list[str] = []
    config = _read_object(path / "config.json", problems)
    meta = _read_object(path / "meta.json", problems)
    status = _read_object(path / "status.json", problems)
    if members := status.get("diverged_members"):
        problems.append(f"diverged members: {members}")
    rows, damaged, repeated = read_metrics(path / "metrics.jsonl", names, problems)
    env = config.get("env")
    state = status.get("state")
    run = Run(
        path=path,
        env=_text(env.get("id") if isinstance(env, dict) else env, "unknown environment"),
        preset=_text(config.get("preset"), "unknown preset"),
        seed=_integer(config.get("seed"), problems),
        config=config,
        meta=meta,
        state=state if state in STATES else "unknown",
        reason=_text(status.get("reason"), "") or None,
        last_step=int(rows.step.max()) if rows.count else 0,
        last_iteration=int(rows.iteration.max()) if rows.count else 0,
        damaged_lines=damaged,
        repeated_lines=repeated,
        problems=tuple(problems),
    )
    return run, rows


def read_metrics(path: Path, names: MetricNames, problems: list[str]) -> tuple[Rows, int, int]:
    """The rows of a metrics file, how many lines were damaged, and how many were written twice.

    A run killed while writing leaves half a line; such lines are counted. Of lines that repeat an
    evaluation the last one counts, because it was written by the run that went on.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        problems.append(f"{path.name} could not be read: {error.strerror}")
        lines = []
    records = _parse(line for line in lines if line.strip())
    table = _all_rows(records, names)
    if table is None:
        found = [row for record in records if (row := _row(record, names)) is not None]
        table = np.array(found, dtype=np.float64).reshape(-1, 5)
    damaged = len(records) - len(table)
    key = table[:, 0] * 2.0**32 + table[:, 1]
    kept = len(key) - 1 - np.unique(key[::-1], return_index=True)[1]
    repeated = len(key) - len(kept)
    table = table[np.sort(kept)] if repeated else table
    return _columns(table), damaged, repeated


def _parse(lines: Iterable[bytes]) -> list[Any]:
    """One value a line, None where a line is no JSON; all at once when all is well, which is four times
    faster.
    """
    kept = list(lines)
    try:
        records = json.loads(b"[" + b",".join(kept) + b"]", parse_constant=_refuse)
        if len(records) == len(kept):
            return list(records)
    except ValueError:
        pass
    return [_parse_line(line) for line in kept]


def _parse_line(line: bytes) -> Any:
    try:
        return json.loads(line, parse_constant=_refuse)
    except ValueError:
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not strict JSON")


def _all_rows(records: list[Any], names: MetricNames) -> np.ndarray | None:
    """All rows at once, or None if any record is not as it should be; then each is looked at alone."""
    try:
        metric, *counts, value = zip(*map(COLUMNS, records), strict=True)
        if set(map(type, metric)) != {str} or not set(map(type, value)) <= {int, float}:
            return None
        if any(set(map(type, column)) != {int} for column in counts):
            return None
        numbers = {name: names.number(name) for name in dict.fromkeys(metric)}
        table = np.array([list(map(numbers.__getitem__, metric)), *counts, value], dtype=np.float64).T
    except (TypeError, KeyError, ValueError, OverflowError):
        return None
    sound = np.isfinite(table).all() and table[:, 1:4].min() >= 0 and table[:, 1:4].max() <= LARGEST_COUNT
    return table if sound else None


def _row(record: Any, names: MetricNames) -> tuple[int, int, int, int, float] | None:
    try:
        value, metric, iteration = record["value"], record["metric"], record["iteration"]
        step = record["step"]
        frames = record.get("frames", step)
        if type(metric) is not str or not (type(iteration) is type(step) is type(frames) is int):
            return None
        if type(value) not in (int, float) or not math.isfinite(value):
            return None
        if min(iteration, step, frames) < 0 or max(iteration, step, frames) > LARGEST_COUNT:
            return None
        return names.number(metric), iteration, step, frames, value
    except (TypeError, KeyError, AttributeError, OverflowError):
        return None


def _columns(table: np.ndarray) -> Rows:
    return Rows(
        metric=table[:, 0].astype(np.int32),
        iteration=table[:, 1].astype(np.int64),
        step=table[:, 2].astype(np.int64),
        frames=table[:, 3].astype(np.int64),
        value=table[:, 4].copy(),
    )


def _read_object(path: Path, problems: list[str]) -> dict[str, Any]:
    """A JSON object, or an empty one and a sentence saying why."""
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        problems.append(f"{path.name} is missing")
        return {}
    except (OSError, ValueError) as error:
        problems.append(f"{path.name} could not be read: {error}")
        return {}
    if not isinstance(content, dict):
        problems.append(f"{path.name} holds {type(content).__name__} where an object was expected")
        return {}
    return content


def clean(text: str) -> str:
    """Text fit for a page and a figure's XML: white space is a space, other control characters are shown
    as such.
    """
    return "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _text(value: Any, default: str) -> str:
    return clean(value) if isinstance(value, str) and value else default


def _integer(value: Any, problems: list[str]) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    problems.append(f"config.json gives no whole number as seed (found {value!r}); counted as seed 0")
    return 0
