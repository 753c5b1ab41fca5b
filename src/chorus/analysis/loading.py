"""From folders of runs to one long table: a row an evaluation, with the run it belongs to.

Every run directory found is either in the table or named in `Dataset.unusable` with the reason.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from chorus.analysis.runs import MARKS, MetricNames, Rows, Run, is_run, read_run
from chorus.analysis.variants import Variant, find_variants
from chorus.errors import ChorusError

EVALUATION = re.compile(r"eval/([^/]+)/episodic_return")
MEMBER = re.compile(r"member_\d+")


@dataclass(frozen=True)
class Unusable:
    """A run directory that adds nothing to the results, and why."""

    path: Path
    state: str
    reason: str


@dataclass(frozen=True)
class Table(Rows):
    """The long table: the rows of all runs; `run` and `metric` are positions in `Dataset.runs` and
    `metrics`.
    """

    run: np.ndarray


@dataclass(frozen=True)
class Dataset:
    """All runs under some folders: the table, what could not be used, and the variants found."""

    runs: tuple[Run, ...]
    metrics: tuple[str, ...]
    table: Table = field(repr=False)
    unusable: tuple[Unusable, ...]
    variants: tuple[Variant, ...]

    @cached_property
    def envs(self) -> tuple[str, ...]:
        return tuple(sorted({run.env for run in self.runs}))

    @cached_property
    def rows_of_run(self) -> tuple[slice, ...]:
        """Where each run's rows lie; a run's rows are contiguous."""
        edges = np.searchsorted(self.table.run, np.arange(len(self.runs) + 1))
        return tuple(slice(int(a), int(b)) for a, b in pairwise(edges))

    def policies(self, variant: Variant) -> tuple[str, ...]:
        """The evaluated policies of a variant except single members, in the order people compare them."""
        found = set()
        for run in variant.runs:
            for number in np.unique(self.table.metric[self.rows_of_run[run]]):
                match = EVALUATION.fullmatch(self.metrics[number])
                if match and not MEMBER.fullmatch(match[1]):
                    found.add(match[1])
        usual = ("individual", "aggregate", "active", "passive")
        return tuple(sorted(found, key=lambda p: (usual.index(p) if p in usual else len(usual), p)))

    @property
    def damaged_lines(self) -> int:
        return sum(run.damaged_lines for run in self.runs)


def load_runs(paths: Sequence[Path | str]) -> Dataset:
    """Loads every run directory at or below the given paths."""
    names = MetricNames()
    read = [read_run(path, names) for path in find_run_directories(paths)]
    usable, unusable = [], []
    for run, rows in read:
        if reason := _useless(run, rows):
            unusable.append(Unusable(run.path, run.state, reason))
        else:
            usable.append((run, rows))
    if not usable:
        listed = "; ".join(f"{u.path.name}: {u.reason}" for u in unusable[:3])
        raise ChorusError(
            f"None of the {len(unusable)} run directories under {_listing(paths)} has an evaluation yet "
            f"({listed}). Wait for a first evaluation, or pass another folder."
        )
    return assemble([run for run, _ in usable], [rows for _, rows in usable], names.names(), unusable)


def assemble(
    runs: Sequence[Run], rows: Sequence[Rows], metrics: Sequence[str], unusable: Iterable[Unusable] = ()
) -> Dataset:
    """A dataset from runs and their rows; imports use it too."""
    table = Table(
        run=np.repeat(np.arange(len(runs), dtype=np.int32), [r.count for r in rows]),
        metric=np.concatenate([r.metric for r in rows]),
        iteration=np.concatenate([r.iteration for r in rows]),
        step=np.concatenate([r.step for r in rows]),
        frames=np.concatenate([r.frames for r in rows]),
        value=np.concatenate([r.value for r in rows]),
    )
    return Dataset(
        runs=tuple(runs),
        metrics=tuple(metrics),
        table=table,
        unusable=tuple(unusable),
        variants=find_variants(runs),
    )


def merge(first: Dataset, second: Dataset) -> Dataset:
    """Two datasets side by side, for putting published curves beside one's own."""
    names = MetricNames()
    rows = [_renumbered(dataset, position, names) for dataset in (first, second) for position in _positions(dataset)]
    return assemble((*first.runs, *second.runs), rows, names.names(), (*first.unusable, *second.unusable))


def selected(dataset: Dataset, keep: Callable[[Run], bool]) -> Dataset:
    """Only some of the runs; variants are found anew among them."""
    names = MetricNames()
    kept = [position for position, run in enumerate(dataset.runs) if keep(run)]
    rows = [_renumbered(dataset, position, names) for position in kept]
    return assemble([dataset.runs[position] for position in kept], rows, names.names(), dataset.unusable)


def find_run_directories(paths: Sequence[Path | str]) -> list[Path]:
    """Run directories at or below `paths`, each once, in a stable order."""
    found: dict[Path, Path] = {}
    for path in map(Path, paths):
        if not path.is_dir():
            raise ChorusError(f"{path} is no folder. Pass a run directory, or the folder that holds run directories.")
        candidates = [path] if is_run(path) else _runs_below(path)
        for candidate in candidates:
            found.setdefault(candidate.resolve(), candidate)
    if not found:
        raise ChorusError(
            f"No run directory under {_listing(paths)}: none holds a {MARKS[0]} or a {MARKS[1]}. "
            "Pass the folder that `chorus train --out` wrote to."
        )
    return list(found.values())


def _runs_below(path: Path, above: frozenset[Path] = frozenset()) -> list[Path]:
    """Links are followed, but never back to a folder the search is in."""
    here = above | {path.resolve()}
    found: list[Path] = []
    for child in sorted(path.iterdir()):
        if child.is_dir() and child.resolve() not in here:
            found += [child] if is_run(child) else _runs_below(child, here)
    return found


def _useless(run: Run, rows: Rows) -> str | None:
    if not run.config:
        return "; ".join(run.problems)
    if rows.count == 0:
        lost = f" ({run.damaged_lines} damaged lines)" if run.damaged_lines else ""
        reason = f"; it says: {run.reason}" if run.reason else ""
        return f"no evaluation was written{lost}{reason}"
    return None


def _positions(dataset: Dataset) -> range:
    return range(len(dataset.runs))


def _renumbered(dataset: Dataset, position: int, names: MetricNames) -> Rows:
    numbers = np.array([names.number(name) for name in dataset.metrics], dtype=np.int32)
    rows, table = dataset.rows_of_run[position], dataset.table
    return Rows(
        metric=numbers[table.metric[rows]],
        iteration=table.iteration[rows],
        step=table.step[rows],
        frames=table.frames[rows],
        value=table.value[rows],
    )


def _listing(paths: Sequence[Path | str]) -> str:
    return ", ".join(str(path) for path in paths)
