"""Stratified percentile bootstrap: runs are resampled within each task, tasks are not resampled.

All randomness comes from the generator that is passed in. A resample is a table of how often each run was drawn.
Resamples are made in blocks, so that memory does not grow with their number. With few runs percentile intervals are
too narrow: with five runs a nominal 95 % interval covers the truth in about 85 % of cases (docs/report.md). Final
scores therefore have the intervals of `chorus.analysis.intervals`; bands of curves and performance profiles are
percentile intervals, as in rliable.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from chorus.analysis.aggregates import Aggregate, iqm, score_matrix

FINAL_RESAMPLES = 50_000
CURVE_RESAMPLES = 2_000
CONFIDENCE = 0.95
# With fewer runs an interval is drawn, but nothing is concluded from it.
FEWEST_RUNS = 3
# With fewer seeds the coverage of intervals was not measured (docs/report.md), so conclusions are hints.
ENOUGH_SEEDS = 5
# The largest number of counts in one block.
BLOCK_NUMBERS = 2_000_000

Rng = np.random.Generator


@dataclass(frozen=True)
class IntervalEstimate:
    """A value, its interval (NaN if there is only one run), and the number of runs behind it.

    `most_runs` is the number of the environment with most, where `runs` is that of the one with fewest.
    """

    value: float
    low: float
    high: float
    runs: int
    most_runs: int | None = None

    @property
    def has_interval(self) -> bool:
        return bool(np.isfinite(self.low) and np.isfinite(self.high))

    @property
    def settled(self) -> bool:
        """Whether there are enough runs and the interval excludes zero."""
        return self.has_interval and self.runs >= FEWEST_RUNS and not (self.low <= 0 <= self.high)


def draw_counts(present: np.ndarray, rng: Rng, resamples: int) -> np.ndarray:
    """How often each run is drawn: [runs, tasks, resamples]. Each task draws as many runs as it has."""
    runs, tasks = present.shape
    counts = np.zeros((runs, tasks, resamples), np.int16)
    for task in range(tasks):
        rows = np.flatnonzero(present[:, task])
        drawn = rng.integers(len(rows), size=(len(rows), resamples), dtype=np.uint16).astype(np.intp)
        cells = (drawn * resamples + np.arange(resamples)).ravel()
        counts[rows, task] = np.bincount(cells, minlength=len(rows) * resamples).reshape(len(rows), resamples)
    return counts


def count_blocks(scores: np.ndarray, rng: Rng, resamples: int) -> Iterator[np.ndarray]:
    """`draw_counts` in blocks of bounded size."""
    size = max(1, BLOCK_NUMBERS // scores.size)
    present = np.isfinite(scores)
    for start in range(0, resamples, size):
        yield draw_counts(present, rng, min(size, resamples - start))


def estimates(
    scores: ArrayLike,
    aggregates: Mapping[str, Aggregate],
    rng: Rng,
    *,
    resamples: int = FINAL_RESAMPLES,
    confidence: float = CONFIDENCE,
) -> dict[str, IntervalEstimate]:
    """Several aggregates of a score matrix with their intervals, all from the same resamples."""
    matrix = score_matrix(scores)
    values = {name: float(aggregate(matrix)) for name, aggregate in aggregates.items()}
    runs = int(np.isfinite(matrix).sum(axis=0).max())
    if runs < 2:
        return {name: IntervalEstimate(value, np.nan, np.nan, runs) for name, value in values.items()}
    parts: dict[str, list[np.ndarray]] = {name: [] for name in aggregates}
    for counts in count_blocks(matrix, rng, resamples):
        for name, aggregate in aggregates.items():
            parts[name].append(aggregate(matrix, counts))
    found = {}
    for name, value in values.items():
        low, high = map(float, percentile_interval(np.concatenate(parts[name]), confidence))
        found[name] = IntervalEstimate(value, low, high, runs)
    return found


def estimate(
    scores: ArrayLike,
    aggregate: Aggregate,
    rng: Rng,
    *,
    resamples: int = FINAL_RESAMPLES,
    confidence: float = CONFIDENCE,
) -> IntervalEstimate:
    """An aggregate of a score matrix with its bootstrap interval."""
    return estimates(scores, {"": aggregate}, rng, resamples=resamples, confidence=confidence)[""]


def resampled(scores: ArrayLike, aggregate: Aggregate, rng: Rng, resamples: int) -> np.ndarray:
    """The aggregate of each resample; resamples are the last axis."""
    matrix = score_matrix(scores)
    parts = [aggregate(matrix, counts) for counts in count_blocks(matrix, rng, resamples)]
    return np.concatenate(parts, axis=-1)


def percentile_interval(samples: np.ndarray, confidence: float = CONFIDENCE) -> tuple[np.ndarray, np.ndarray]:
    """The central interval of bootstrap samples along their last axis, interpolated as in np.percentile.

    A full sort is twice as fast as the partial sort of np.percentile at these sizes.
    """
    ordered = np.sort(samples, axis=-1)
    last = ordered.shape[-1] - 1

    def quantile(share: float) -> np.ndarray:
        below, part = divmod(share * last, 1)
        low, high = ordered[..., int(below)], ordered[..., min(int(below) + 1, last)]
        return np.asarray(low + (high - low) * part)

    tail = (1 - confidence) / 2
    return quantile(tail), quantile(1 - tail)


def mean_curve_interval(values: np.ndarray, rng: Rng, resamples: int = CURVE_RESAMPLES) -> np.ndarray:
    """Interval of the mean over runs of curves [runs, points], NaN where a run has no point: [2, points].

    Whole runs are drawn, so that neighbouring points of a band move together.
    """
    band = np.full((2, values.shape[1]), np.nan)
    for points in _points_with_same_runs(np.isfinite(values)):
        present = np.isfinite(values[:, points[0]])
        if present.sum() >= 2:
            weights = _weights(int(present.sum()), rng, resamples)
            for some in np.array_split(points, 1 + len(points) * resamples // BLOCK_NUMBERS):
                band[:, some] = percentile_interval(values[np.ix_(present, some)].T @ weights)
    return band


def iqm_curve_interval(values: np.ndarray, rng: Rng, resamples: int = CURVE_RESAMPLES) -> np.ndarray:
    """Interval of the IQM at each point of curves [runs, tasks, points]: [2, points].

    Points at which the same runs are present share one set of draws.
    """
    band = np.full((2, values.shape[2]), np.nan)
    for points in _points_with_same_runs(np.isfinite(values).reshape(-1, values.shape[2])):
        present = np.isfinite(values[:, :, points[0]])
        runs = present.sum(axis=0)
        if runs.min() >= 1 and runs.max() >= 2:
            counts = draw_counts(present, rng, resamples)
            for point in points:
                band[:, point] = percentile_interval(iqm(values[:, :, point], counts))
    return band


def _points_with_same_runs(present: np.ndarray) -> Iterator[np.ndarray]:
    """Groups of columns with the same rows present."""
    _, where = np.unique(present, axis=1, return_inverse=True)
    for number in range(where.max() + 1):
        yield np.flatnonzero(where.reshape(-1) == number)


def _weights(runs: int, rng: Rng, resamples: int) -> np.ndarray:
    """The share of each run in each resample of one task: [runs, resamples]."""
    return draw_counts(np.ones((runs, 1), bool), rng, resamples)[:, 0] / runs
