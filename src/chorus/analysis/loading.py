"""From folders of runs to one long table with one row per logged number.

Every run directory that is found is either in the table or in `Dataset.unusable` with the reason.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from chorus.analysis.variants import NO_IDENTITY, Variant, find_variants
from chorus.errors import ChorusError
from chorus.runs.logs import EVALUATION, RUN_FILES, MetricColumns, MetricNames, Run, is_run, read_run

MEMBER = re.compile(r"member_\d+")


@dataclass(frozen=True)
class Unusable:
    """A run directory that cannot be used, and why."""

    path: Path
    state: str
    reason: str


@dataclass(frozen=True)
class LongTable(MetricColumns):
    """The metrics of all runs; `run` and `metric` are positions in `Dataset.runs` and `Dataset.metrics`."""

    run: np.ndarray


@dataclass(frozen=True)
class Dataset:
    """The usable runs of some folders with their metrics and variants, and the run directories that are unusable."""

    runs: tuple[Run, ...]
    metrics: tuple[str, ...]
    table: LongTable = field(repr=False)
    unusable: tuple[Unusable, ...]
    variants: tuple[Variant, ...]

    @cached_property
    def envs(self) -> tuple[str, ...]:
        return tuple(sorted({run.env for run in self.runs}))

    @cached_property
    def own_variants(self) -> tuple[Variant, ...]:
        """Without those that are shown beside them: published curves, and runs of other folders."""
        return tuple(variant for variant in self.variants if variant.role != "published")

    @cached_property
    def own_runs(self) -> tuple[Run, ...]:
        return tuple(self.runs[run] for run in sorted(run for variant in self.own_variants for run in variant.runs))

    @cached_property
    def rows_of_run(self) -> tuple[slice, ...]:
        """The rows of each run in the table; they are contiguous."""
        edges = np.searchsorted(self.table.run, np.arange(len(self.runs) + 1))
        return tuple(slice(int(a), int(b)) for a, b in pairwise(edges))

    def policies(self, variant: Variant) -> tuple[str, ...]:
        """The evaluated policies of a variant, in the order of comparisons; single members are left out."""
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
    usable, unusable = [], []
    for path in find_run_directories(paths):
        run, columns = read_run(path, names)
        if reason := _why_unusable(run, columns):
            unusable.append(Unusable(run.path, run.state, reason))
        else:
            known = isinstance(run.meta.get("identity"), dict)
            usable.append((run if known else replace(run, problems=(*run.problems, NO_IDENTITY)), columns))
    if not usable:
        listed = "; ".join(f"{u.path.name}: {u.reason}" for u in unusable[:3])
        raise ChorusError(
            f"None of the {len(unusable)} run directories under {_listing(paths)} has an evaluation yet "
            f"({listed}). Wait for a first evaluation, or pass another folder."
        )
    return assemble([run for run, _ in usable], [columns for _, columns in usable], names.names(), unusable)


def assemble(
    runs: Sequence[Run], parts: Sequence[MetricColumns], metrics: Sequence[str], unusable: Iterable[Unusable] = ()
) -> Dataset:
    """A dataset from runs and the metrics of each."""
    table = LongTable(
        run=np.repeat(np.arange(len(runs), dtype=np.int32), [part.count for part in parts]),
        metric=np.concatenate([part.metric for part in parts]),
        iteration=np.concatenate([part.iteration for part in parts]),
        step=np.concatenate([part.step for part in parts]),
        frames=np.concatenate([part.frames for part in parts]),
        value=np.concatenate([part.value for part in parts]),
    )
    return Dataset(
        runs=tuple(runs),
        metrics=tuple(metrics),
        table=table,
        unusable=tuple(unusable),
        variants=find_variants(runs),
    )


def merge(first: Dataset, second: Dataset) -> Dataset:
    """One dataset of both, for example of runs and published curves."""
    names = MetricNames()
    parts = [_renumbered(data, run, names) for data in (first, second) for run in range(len(data.runs))]
    return assemble((*first.runs, *second.runs), parts, names.names(), (*first.unusable, *second.unusable))


def select_runs(dataset: Dataset, keep: Callable[[Run], bool]) -> Dataset:
    """The dataset of some of the runs, with the variants among them."""
    names = MetricNames()
    kept = [position for position, run in enumerate(dataset.runs) if keep(run)]
    parts = [_renumbered(dataset, position, names) for position in kept]
    return assemble([dataset.runs[position] for position in kept], parts, names.names(), dataset.unusable)


def find_run_directories(paths: Sequence[Path | str]) -> list[Path]:
    """Run directories at or below `paths`, each once, in a stable order."""
    found: dict[Path, Path] = {}
    for path in map(Path, paths):
        if not path.is_dir():
            raise ChorusError(f"{path} is not a folder. Pass a run directory, or a folder that holds run directories.")
        candidates = [path] if is_run(path) else _runs_below(path)
        for candidate in candidates:
            found.setdefault(candidate.resolve(), candidate)
    if not found:
        raise ChorusError(
            f"No run directory under {_listing(paths)}: none holds a {RUN_FILES[0]} or a {RUN_FILES[1]}. "
            "Pass the folder that `chorus train --out` wrote to."
        )
    return list(found.values())


def has_runs(path: Path) -> bool:
    """Whether a run directory lies at or below the path; reports alone are none."""
    return path.is_dir() and (is_run(path) or bool(_runs_below(path)))


def _runs_below(path: Path, above: frozenset[Path] = frozenset()) -> list[Path]:
    """Follows links, but never back to a folder above; hidden folders are runs that are being created."""
    here = above | {path.resolve()}
    found: list[Path] = []
    for child in sorted(path.iterdir()):
        if child.is_dir() and not child.name.startswith(".") and child.resolve() not in here:
            found += [child] if is_run(child) else _runs_below(child, here)
    return found


def _why_unusable(run: Run, columns: MetricColumns) -> str | None:
    if not run.config:
        return "; ".join(run.problems)
    if columns.count == 0:
        lost = f" ({run.damaged_lines} damaged lines)" if run.damaged_lines else ""
        reason = f"; it says: {run.reason}" if run.reason else ""
        return "; ".join((f"no evaluation was written{lost}{reason}", *run.problems))
    return None


def _renumbered(dataset: Dataset, position: int, names: MetricNames) -> MetricColumns:
    numbers = np.array([names.number(name) for name in dataset.metrics], dtype=np.int32)
    rows, table = dataset.rows_of_run[position], dataset.table
    return MetricColumns(
        metric=numbers[table.metric[rows]],
        iteration=table.iteration[rows],
        step=table.step[rows],
        frames=table.frames[rows],
        value=table.value[rows],
    )


def _listing(paths: Sequence[Path | str]) -> str:
    return ", ".join(str(path) for path in paths)
