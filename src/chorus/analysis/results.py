"""Curves and final scores per variant, policy and environment."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from chorus.analysis.loading import Dataset
from chorus.analysis.variants import Variant
from chorus.runs.logs import FinalWindow, final_evaluations

# The paper's smoothing of curves, in evaluations.
SMOOTHING_WINDOW = 5


@dataclass(frozen=True)
class Measure:
    """A metric that is compared as scores are: its name, and its unit if it has one."""

    metric: str
    name: str
    unit: str
    meaning: str

    @property
    def axis(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name


@dataclass(frozen=True)
class DiversityMeasure(Measure):
    """A measure of how much members differ, on the states that individual members visit."""

    low_share: float
    """Members count as nearly alike below this share of the largest possible value."""


VOTES = DiversityMeasure(
    "diversity/vote_entropy/individual",
    "vote entropy",
    "nats",
    "Mean entropy of the members' greedy votes, in nats",
    0.1,
)
# A squared distance: modes a tenth of the largest distance apart are at a hundredth of its square.
DISTANCES = DiversityMeasure(
    "diversity/action_distance/individual",
    "action distance",
    "",
    "Half the mean squared distance of two members' modes, per action dimension in [-1, 1]",
    0.01,
)
DIVERSITIES = (VOTES, DISTANCES)


@dataclass(frozen=True)
class Series:
    """One line of a figure: a variant judged by one of its policies."""

    variant: Variant
    policy: str

    @property
    def label(self) -> str:
        return self.variant.series_label(self.policy)

    @property
    def metric(self) -> str:
        return f"eval/{self.policy}/episodic_return"


def series_of(variant: Variant | None, policy: str) -> Series | None:
    """None if the variant was not run."""
    return Series(variant, policy) if variant else None


@dataclass(frozen=True)
class Curve:
    """One metric of one variant in one environment; `values` is [runs, points], NaN where a run has no point."""

    iterations: np.ndarray
    steps: np.ndarray  # the median over runs, whose iterations may end at slightly different steps
    frames: np.ndarray
    values: np.ndarray
    runs: tuple[int, ...]
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Final:
    """Final scores, one per run."""

    values: np.ndarray
    runs: tuple[int, ...]
    seeds: tuple[int, ...]
    windows: tuple[FinalWindow, ...]  # the evaluations that each score is the mean of
    last_step: int
    finished: bool  # if False, no run has ended and these are the scores so far
    left_out: int  # runs that have not ended, while others have


class Results:
    """Curves and final scores of a dataset, computed on first use."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._curves: dict[tuple[Variant, str, str], Curve | None] = {}
        self._finals: dict[tuple[Variant, str, str], Final | None] = {}
        self._numbers = {name: number for number, name in enumerate(dataset.metrics)}

    @cached_property
    def series(self) -> tuple[Series, ...]:
        return tuple(Series(v, policy) for v in self.dataset.variants for policy in self.dataset.policies(v))

    @property
    def envs(self) -> tuple[str, ...]:
        return self.dataset.envs

    def find(self, role: str, policy: str) -> tuple[Series, ...]:
        return tuple(s for s in self.series if s.variant.role == role and s.policy == policy)

    def envs_of(self, series: Sequence[Series]) -> tuple[str, ...]:
        """The environments in which each of these series has a curve."""
        return tuple(env for env in self.envs if all(self.curve(s, env) for s in series))

    def curve(self, series: Series, env: str) -> Curve | None:
        return self.metric_curve(series.variant, env, series.metric)

    def metric_curve(self, variant: Variant, env: str, metric: str) -> Curve | None:
        key = (variant, env, metric)
        if key not in self._curves:
            self._curves[key] = self._build(variant, env, metric)
        return self._curves[key]

    def final(self, series: Series, env: str) -> Final | None:
        return self.metric_final(series.variant, env, series.metric)

    def metric_final(self, variant: Variant, env: str, metric: str) -> Final | None:
        """Final scores of the runs that have ended, or of all runs if none has."""
        key = (variant, env, metric)
        if key not in self._finals:
            curve = self.metric_curve(variant, env, metric)
            self._finals[key] = self._score(curve) if curve else None
        return self._finals[key]

    def _score(self, curve: Curve) -> Final:
        ended = [self.dataset.runs[run].has_ended for run in curve.runs]
        chosen = [row for row, end in enumerate(ended) if end or not any(ended)]
        windows = [self._window(curve, row) for row in chosen]
        values = np.array([final_score(curve.values[row], w.last) for row, w in zip(chosen, windows, strict=True)])
        points = np.isfinite(curve.values[chosen]).any(axis=0)
        return Final(
            values=values,
            runs=tuple(curve.runs[row] for row in chosen),
            seeds=tuple(curve.seeds[row] for row in chosen),
            windows=tuple(windows),
            last_step=int(curve.steps[points][-1]),
            finished=any(ended),
            left_out=len(ended) - len(chosen),
        )

    def _window(self, curve: Curve, row: int) -> FinalWindow:
        count = int(np.isfinite(curve.values[row]).sum())
        return FinalWindow(min(final_evaluations(self.dataset.runs[curve.runs[row]].config), count), count)

    def score_matrix(self, series: Series, envs: Sequence[str]) -> np.ndarray:
        """Final scores as a (runs x tasks) matrix, NaN where an environment has fewer runs than another."""
        columns = [f.values if (f := self.final(series, env)) else np.zeros(0) for env in envs]
        return stack_ragged(columns)

    def _build(self, variant: Variant, env: str, metric: str) -> Curve | None:
        number = self._numbers.get(metric)
        runs = [run for run in variant.runs if self.dataset.runs[run].env == env]
        parts = [(run, self._points(run, number)) for run in runs] if number is not None else []
        parts = [(run, points) for run, points in parts if len(points[0])]
        if not parts:
            return None
        iterations = np.unique(np.concatenate([points[0] for _, points in parts]))
        shape = (len(parts), len(iterations))
        values, steps, frames = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, np.nan)
        for row, (_, (iteration, step, frame, value)) in enumerate(parts):
            at = np.searchsorted(iterations, iteration)
            values[row, at], steps[row, at], frames[row, at] = value, step, frame
        return Curve(
            iterations=iterations,
            steps=np.nanmedian(steps, axis=0),
            frames=np.nanmedian(frames, axis=0),
            values=values,
            runs=tuple(run for run, _ in parts),
            seeds=tuple(self.dataset.runs[run].seed for run, _ in parts),
        )

    def _points(self, run: int, number: int | None) -> tuple[np.ndarray, ...]:
        rows, table = self.dataset.rows_of_run[run], self.dataset.table
        chosen = np.flatnonzero(table.metric[rows] == number) + rows.start
        return table.iteration[chosen], table.step[chosen], table.frames[chosen], table.value[chosen]


def stack_ragged(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Columns of unequal length as a matrix; short ones are padded with NaN."""
    matrix = np.full((max(map(len, columns), default=0), len(columns)), np.nan)
    for number, column in enumerate(columns):
        matrix[: len(column), number] = column
    return matrix


def final_score(evaluations: ArrayLike, count: int) -> float:
    """The mean of the last `count` evaluations of a run, or of all if there are fewer."""
    evaluations = np.asarray(evaluations, dtype=np.float64)
    present = evaluations[np.isfinite(evaluations)]
    return float(present[-count:].mean()) if len(present) else float("nan")


def smooth(values: np.ndarray, window: int = SMOOTHING_WINDOW) -> np.ndarray:
    """The trailing mean over `window` points of curves [..., points]; missing points stay missing."""
    present = np.isfinite(values)
    padding = [(0, 0)] * (values.ndim - 1) + [(window, 0)]
    sums = np.cumsum(np.pad(np.where(present, values, 0.0), padding), axis=-1)
    counts = np.cumsum(np.pad(present, padding), axis=-1)
    total = sums[..., window:] - sums[..., :-window]
    number = counts[..., window:] - counts[..., :-window]
    return np.where(present, total / np.maximum(number, 1), np.nan)
