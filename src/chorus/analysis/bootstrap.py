"""Stratified percentile bootstrap: runs are drawn again within each task, tasks stay as they are.

All randomness comes from the generator that is passed in. A resample is a table of how often each run was
drawn, and resamples are made in blocks, so memory does not grow with their number. With few runs
percentile intervals are too narrow (five runs cover a nominal 95 % in about 85 % of cases);
docs/report.md says so, and the report names the number of runs.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from chorus.analysis.aggregates import Aggregate, iqm, score_matrix

FINAL_RESAMPLES = 50_000
CURVE_RESAMPLES = 2_000
CONFIDENCE = 0.95
# How many counts one block may hold.
BLOCK_NUMBERS = 2_000_000

Rng = np.random.Generator


@dataclass(frozen=True)
class Estimate:
    """A number, its interval, and how many runs it rests on; with a single run there is no interval."""

    value: float
    low: float
    high: float
    runs: int

    @property
    def certain(self) -> bool:
        return bool(np.isfinite(self.low) and np.isfinite(self.high))


def draw_counts(present: np.ndarray, rng: Rng, resamples: int) -> np.ndarray:
    """How often each run is drawn: [runs, tasks, resamples]; each task draws as many runs as it has."""
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
) -> dict[str, Estimate]:
    """Several aggregates of a score matrix with their intervals, all from the same resamples."""
    matrix = score_matrix(scores)
    values = {name: float(aggregate(matrix)) for name, aggregate in aggregates.items()}
    runs = int(np.isfinite(matrix).sum(axis=0).max())
    if runs < 2:
        return {name: Estimate(value, np.nan, np.nan, runs) for name, value in values.items()}
    parts: dict[str, list[np.ndarray]] = {name: [] for name in aggregates}
    for counts in count_blocks(matrix, rng, resamples):
        for name, aggregate in aggregates.items():
            parts[name].append(aggregate(matrix, counts))
    found = {}
    for name, value in values.items():
        low, high = map(float, percentile_interval(np.concatenate(parts[name]), confidence))
        found[name] = Estimate(value, low, high, runs)
    return found


def estimate(
    scores: ArrayLike,
    aggregate: Aggregate,
    rng: Rng,
    *,
    resamples: int = FINAL_RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """An aggregate of a score matrix with its bootstrap interval."""
    return estimates(scores, {"": aggregate}, rng, resamples=resamples, confidence=confidence)[""]


def resampled(scores: ArrayLike, aggregate: Aggregate, rng: Rng, resamples: int) -> np.ndarray:
    """The aggregate of each resample, along the last axis."""
    matrix = score_matrix(scores)
    parts = [aggregate(matrix, counts) for counts in count_blocks(matrix, rng, resamples)]
    return np.concatenate(parts, axis=-1)


def resampled_pair(
    first: ArrayLike,
    second: ArrayLike,
    statistic: Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    rng: Rng,
    resamples: int,
    *,
    paired: bool,
) -> np.ndarray:
    """A statistic of two score matrices, called with both and the counts of both.

    `paired` means that row r of both comes from the same run (two policies of one ensemble): the same
    runs are then drawn for both. Otherwise each is drawn on its own.
    """
    x, y = score_matrix(first), score_matrix(second)
    if paired and (x.shape != y.shape or (np.isnan(x) != np.isnan(y)).any()):
        raise ValueError(f"paired scores need the same runs; got shapes {x.shape} and {y.shape}")
    larger = x if x.size >= y.size else y
    parts = []
    for counts in count_blocks(larger, rng, resamples):
        block = counts.shape[-1]
        of_x = counts if larger is x else draw_counts(np.isfinite(x), rng, block)
        of_y = of_x if paired else counts if larger is y else draw_counts(np.isfinite(y), rng, block)
        parts.append(statistic(x, y, of_x, of_y))
    return np.concatenate(parts)


def percentile_interval(samples: np.ndarray, confidence: float = CONFIDENCE) -> tuple[np.ndarray, np.ndarray]:
    """The central interval of bootstrap samples along their last axis, interpolated as np.percentile does.

    Sorting outright is twice as fast as the partial sort of np.percentile for these sizes.
    """
    ordered = np.sort(samples, axis=-1)
    last = ordered.shape[-1] - 1

    def quantile(share: float) -> np.ndarray:
        below, part = divmod(share * last, 1)
        low, high = ordered[..., int(below)], ordered[..., min(int(below) + 1, last)]
        return np.asarray(low + (high - low) * part)

    tail = (1 - confidence) / 2
    return quantile(tail), quantile(1 - tail)


class MeanResampler:
    """Intervals of means of single tasks, many at a time.

    One set of draws serves every task with as many runs: the intervals of different tasks then share
    their random numbers, which changes none of them.
    """

    def __init__(self, rng: Rng, resamples: int = FINAL_RESAMPLES) -> None:
        self._rng, self._resamples = rng, resamples
        self._weights: dict[tuple[int, int], np.ndarray] = {}

    def estimate(self, values: ArrayLike) -> Estimate:
        """The mean of one task's runs."""
        present = _present(values)
        if len(present) < 2:
            return Estimate(float(present[0]) if len(present) else np.nan, np.nan, np.nan, len(present))
        low, high = map(float, percentile_interval(present @ self._draw(len(present), 0)))
        return Estimate(float(present.mean()), low, high, len(present))

    def difference(self, first: ArrayLike, second: ArrayLike, *, paired: bool) -> Estimate:
        """The mean of the first minus that of the second; paired values come from the same runs."""
        if paired:
            return self.estimate(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64))
        x, y = _present(first), _present(second)
        runs = min(len(x), len(y))
        value = float(x.mean() - y.mean()) if runs else np.nan
        if runs == 0 or max(len(x), len(y)) < 2:
            return Estimate(value, np.nan, np.nan, runs)
        samples = x @ self._draw(len(x), 0) - y @ self._draw(len(y), 1)
        low, high = map(float, percentile_interval(samples))
        return Estimate(value, low, high, runs)

    def _draw(self, runs: int, side: int) -> np.ndarray:
        if (runs, side) not in self._weights:
            self._weights[runs, side] = _weights(runs, self._rng, self._resamples)
        return self._weights[runs, side]


def mean_curve_interval(values: np.ndarray, rng: Rng, resamples: int = CURVE_RESAMPLES) -> np.ndarray:
    """Low and high of the mean over runs of curves [runs, points], NaN where a run has ended: [2, points].

    Whole runs are drawn, so neighbouring points of the band move together as they should.
    """
    band = np.full((2, values.shape[1]), np.nan)
    for points in _alike(np.isfinite(values)):
        present = np.isfinite(values[:, points[0]])
        if present.sum() >= 2:
            weights = _weights(int(present.sum()), rng, resamples)
            for some in np.array_split(points, 1 + len(points) * resamples // BLOCK_NUMBERS):
                band[:, some] = percentile_interval(values[np.ix_(present, some)].T @ weights)
    return band


def iqm_curve_interval(values: np.ndarray, rng: Rng, resamples: int = CURVE_RESAMPLES) -> np.ndarray:
    """Low and high of the IQM at each point of curves [runs, tasks, points]: [2, points].

    One set of drawn runs serves all points at which the same runs are present.
    """
    band = np.full((2, values.shape[2]), np.nan)
    for points in _alike(np.isfinite(values).reshape(-1, values.shape[2])):
        present = np.isfinite(values[:, :, points[0]])
        runs = present.sum(axis=0)
        if runs.min() >= 1 and runs.max() >= 2:
            counts = draw_counts(present, rng, resamples)
            for point in points:
                band[:, point] = percentile_interval(iqm(values[:, :, point], counts))
    return band


def _alike(present: np.ndarray) -> Iterator[np.ndarray]:
    """Groups of columns with the same rows present."""
    _, where = np.unique(present, axis=1, return_inverse=True)
    for number in range(where.max() + 1):
        yield np.flatnonzero(where.reshape(-1) == number)


def _weights(runs: int, rng: Rng, resamples: int) -> np.ndarray:
    """The share of each run in each resample of one task: [runs, resamples]."""
    return draw_counts(np.ones((runs, 1), bool), rng, resamples)[:, 0] / runs


def _present(values: ArrayLike) -> np.ndarray:
    every = np.asarray(values, dtype=np.float64)
    return every[np.isfinite(every)]
