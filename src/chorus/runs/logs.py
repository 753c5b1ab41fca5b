"""The reader of a run directory's files (docs/run-directory.md), for finished, running, failed and damaged runs.

Nothing here interprets a run. A file that cannot be read becomes a sentence in `Run.problems` instead of an exception,
so that one broken run does not hide the others. Damaged lines, such as the half line of a killed run, are skipped and
counted. This module imports no JAX.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from chorus.errors import ChorusError
from chorus.files import check_regular, parse_json
from chorus.runs.published import read_log
from chorus.runs.run_directory import RunDirectory

# A directory with one of these files is a run directory.
RUN_FILES = ("config.json", "metrics.jsonl")
STATES = ("finished", "diverged", "running", "stopped", "failed", "unknown")
EVALUATION = re.compile(r"eval/([^/]+)/episodic_return")

_MUJOCO = re.compile(
    r"(Ant|HalfCheetah|Hopper|Humanoid|HumanoidStandup|InvertedDoublePendulum|InvertedPendulum|Pusher|Reacher|Swimmer"
    r"|Walker2d)-v\d+"
)
# Counts pass through float64 columns, which represent integers exactly up to here.
LARGEST_COUNT = 2**52
# Sums and squares of larger values overflow; what float32 can hold is far smaller.
LARGEST_VALUE = 1e150
# Tables sort by seeds as floating-point numbers, which cannot hold integers of hundreds of digits.
_LARGEST_SEED = 2**128
_FIELDS = itemgetter("metric", "iteration", "step", "frames", "value")
# `last_step` reads this many bytes from the end of a log: many times its longest line.
_TAIL_BYTES = 4_096


@dataclass(frozen=True)
class MetricColumns:
    """The metric lines of a run as columns of equal length, in file order."""

    metric: np.ndarray  # index into the names of a `MetricNames`
    iteration: np.ndarray
    step: np.ndarray
    frames: np.ndarray
    value: np.ndarray

    @property
    def count(self) -> int:
        return len(self.value)


class MetricNames:
    """Numbers metric names, so that columns of several runs hold the same integers for the same name."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def names(self) -> tuple[str, ...]:
        return tuple(self._numbers)


@dataclass(frozen=True)
class Run:
    """One run directory: its configuration, its state, and what could not be read."""

    path: Path
    env: str
    preset: str
    seed: int
    config: dict[str, Any] = field(repr=False)
    meta: dict[str, Any] = field(repr=False)
    state: str = "unknown"
    reason: str | None = None
    last_step: int = 0
    damaged_lines: int = 0
    repeated_lines: int = 0
    problems: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return printable(self.path.name)

    @property
    def has_ended(self) -> bool:
        """Whether the last evaluations are the run's outcome; divergence is an outcome too."""
        return self.state in ("finished", "diverged")


def is_run(path: Path) -> bool:
    return any((path / name).is_file() for name in RUN_FILES)


def read_run(path: Path, names: MetricNames) -> tuple[Run, MetricColumns]:
    """A run directory and its metrics."""
    problems: list[str] = []
    config = read_object(path / "config.json", problems)
    meta = read_object(path / "meta.json", problems)
    status = read_object(path / "status.json", problems)
    if members := status.get("diverged_members"):
        problems.append(f"diverged members: {members}")
    columns, damaged, repeated = read_metrics(path / "metrics.jsonl", names, problems)
    state = status.get("state")
    if state == "running":
        state = RunDirectory(path).current_state()
    run = Run(
        path=path,
        env=env_id(config),
        preset=_text(config.get("preset"), "unknown preset"),
        seed=_seed(config.get("seed"), problems),
        config=config,
        meta=meta,
        state=state if state in STATES else "unknown",
        reason=_text(status.get("reason"), "") or None,
        last_step=int(columns.step.max()) if columns.count else 0,
        damaged_lines=damaged,
        repeated_lines=repeated,
        problems=tuple(problems),
    )
    return run, columns


def env_id(config: dict[str, Any]) -> str:
    env = config.get("env")
    return _text(env.get("id") if isinstance(env, dict) else env, "unknown environment")


def read_object(path: Path, problems: list[str]) -> dict[str, Any]:
    """A JSON object; empty if it cannot be read, with a sentence in `problems`."""
    try:
        check_regular(path)
        content = parse_json(path.read_bytes())
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


def read_metrics(path: Path, names: MetricNames, problems: list[str]) -> tuple[MetricColumns, int, int]:
    """The metrics of a file, the number of damaged lines and the number of repeated ones.

    The last of repeated lines counts, because a resumed run wrote it.
    """
    try:
        records = _parse(read_log(path))
    except (OSError, ValueError) as error:
        problems.append(f"{path.name} could not be read: {getattr(error, 'strerror', None) or error}")
        records = []
    table = _all_rows(records, names)
    if table is None:
        found = [row for record in records if (row := _row(record, names)) is not None]
        table = np.array(found, dtype=np.float64).reshape(-1, 5)
    damaged = len(records) - len(table)
    key = table[:, 0] * 2.0**32 + table[:, 1]
    kept = len(key) - 1 - np.unique(key[::-1], return_index=True)[1]
    repeated = len(key) - len(kept)
    table = table[np.sort(kept)] if repeated else table
    columns = MetricColumns(
        metric=table[:, 0].astype(np.int32),
        iteration=table[:, 1].astype(np.int64),
        step=table[:, 2].astype(np.int64),
        frames=table[:, 3].astype(np.int64),
        value=table[:, 4].copy(),
    )
    return columns, damaged, repeated


def last_step(log: Path) -> int:
    """The step of a log's last whole line; 0 if there is none. Reads only the end of a file that is not compressed."""
    try:
        lines = _tail(log).splitlines(keepends=True)
    except (OSError, ValueError):
        return 0
    for line in reversed(lines):
        if line.endswith(b"\n"):
            try:
                return int(parse_json(line)["step"])
            except (ValueError, KeyError, TypeError, OverflowError):
                continue
    return 0


def _tail(log: Path) -> bytes:
    if not log.exists():
        return read_log(log)[-_TAIL_BYTES:]
    check_regular(log)
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, 2) - _TAIL_BYTES))
        return file.read()


@dataclass(frozen=True, order=True)
class FinalWindow:
    """A final score is the mean of the last `last` of a run's `of` evaluations."""

    last: int
    of: int

    def __str__(self) -> str:
        return f"last {self.last} of {self.of}"

    @property
    def words(self) -> str:
        return f"mean of the {self} evaluations" if self.last > 1 else f"the last of {self.of} evaluations"


def final_evaluations(config: dict[str, Any]) -> int:
    """The number of last evaluations that a run's final score is the mean of.

    Runs of older versions do not record it: 5 for MuJoCo and 10 for everything else, as these versions had it.
    """
    evaluation = config.get("evaluation")
    count = evaluation.get("final_evaluations") if isinstance(evaluation, dict) else None
    if isinstance(count, int) and not isinstance(count, bool) and count >= 1:
        return count
    return 5 if _MUJOCO.fullmatch(env_id(config)) else 10


def final_returns(path: Path) -> tuple[dict[str, float], FinalWindow]:
    """The final score of each policy of a run, and the evaluations that it is the mean of."""
    problems: list[str] = []
    names = MetricNames()
    columns, _, _ = read_metrics(path / "metrics.jsonl", names, problems)
    config = read_object(path / "config.json", problems)
    if problems:
        raise ChorusError(f"{path} cannot be read as a run: {'; '.join(problems)}; pass a run directory")
    last = final_evaluations(config)
    returns = {}
    for name in names.names():
        if match := EVALUATION.fullmatch(name):
            returns[match[1]] = columns.value[columns.metric == names.number(name)]
    count = max(map(len, returns.values()), default=0)
    scores = {policy: float(np.mean(values[-last:])) for policy, values in returns.items()}
    return scores, FinalWindow(min(last, count), count)


def read_records(log: Path) -> Iterator[dict[str, Any]]:
    """The undamaged records of a log; none if there is no such file."""
    try:
        content = read_log(log)
    except (OSError, ValueError):
        return
    yield from (record for record in _parse(content) if isinstance(record, dict))


def read_visits(run: Path) -> np.ndarray | None:
    """The map of visits of a run; None if it has none, or one that cannot be read."""
    path = run / "visits.json"
    try:
        check_regular(path)
        visits = np.array(parse_json(path.read_bytes())["visits"], dtype=np.float64)
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None
    sound = visits.ndim == 2 and visits.size > 0 and np.isfinite(visits).all() and visits.min() >= 0
    return visits if sound and visits.max() <= LARGEST_COUNT else None


def printable(text: str) -> str:
    """Text that is safe in HTML and XML: white space becomes a space, other control characters become a mark."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _parse(content: bytes) -> list[Any]:
    """One value per line that is not blank, None for a line that is not strict JSON.

    A file without damage is parsed at once, which is four times faster.
    """
    lines = [line for line in content.splitlines() if line.strip()]
    try:
        records = parse_json(b"[" + b",".join(lines) + b"]", parse_constant=_refuse)
        if len(records) == len(lines):
            return list(records)
    except ValueError:
        pass
    return [_parse_line(line) for line in lines]


def _parse_line(line: bytes) -> Any:
    try:
        return parse_json(line, parse_constant=_refuse)
    except ValueError:
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not strict JSON")


def _all_rows(records: Iterable[Any], names: MetricNames) -> np.ndarray | None:
    """All rows at once; None if any record is not as it should be, so that each must be checked on its own."""
    try:
        metric, *counts, value = zip(*map(_FIELDS, records), strict=True)
        if set(map(type, metric)) != {str} or not set(map(type, value)) <= {int, float}:
            return None
        if any(set(map(type, column)) != {int} for column in counts):
            return None
        numbers = {name: names.number(name) for name in dict.fromkeys(metric)}
        table = np.array([list(map(numbers.__getitem__, metric)), *counts, value], dtype=np.float64).T
    except (TypeError, KeyError, ValueError, OverflowError):
        return None
    sound = (np.abs(table) <= LARGEST_VALUE).all() and table[:, 1:4].min() >= 0 and table[:, 1:4].max() <= LARGEST_COUNT
    return table if sound else None


def _row(record: Any, names: MetricNames) -> tuple[int, int, int, int, float] | None:
    try:
        value, metric, iteration = record["value"], record["metric"], record["iteration"]
        step = record["step"]
        frames = record.get("frames", step)
        if type(metric) is not str or not (type(iteration) is type(step) is type(frames) is int):
            return None
        if type(value) not in (int, float) or not abs(value) <= LARGEST_VALUE:
            return None
        if min(iteration, step, frames) < 0 or max(iteration, step, frames) > LARGEST_COUNT:
            return None
        return names.number(metric), iteration, step, frames, value
    except (TypeError, KeyError, AttributeError, OverflowError):
        return None


def _text(value: Any, default: str) -> str:
    return printable(value) if isinstance(value, str) and value else default


def _seed(value: Any, problems: list[str]) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST_SEED:
        return value
    problems.append(f"config.json gives no usable number as seed (found {str(value)[:50]}); counted as seed 0")
    return 0
