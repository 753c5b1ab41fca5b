"""Stratified percentile bootstrap: runs are drawn again within each task, tasks stay as they are.

All randomness comes from the generator that is passed in. Resamples are made in blocks, so memory does not
grow with their number. With few runs percentile intervals are too narrow (five runs cover a nominal 95 % in
about 85 % of cases); docs/report.md says so, and the report says how many runs there are.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from chorus.analysis.aggregates import Aggregate

FINAL_RESAMPLES = 50_000
CURVE_RESAMPLES = 2_000
CONFIDENCE = 0.95
# How many resampled numbers one block may hold (16 MB of float64).
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


def estimate(
    scores: ArrayLike,
    aggregate: Aggregate,
    rng: Rng,
    *,
    resamples: int = FINAL_RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """An aggregate of a score matrix [runs, tasks] with its bootstrap interval."""
    scores = score_matrix(scores)
    value = float(aggregate(scores))
    runs = int(np.isfinite(scores).sum(axis=0).max())
    if runs < 2:
        return Estimate(value, np.nan, np.nan, runs)
    low, high = percentile_interval(resampled(scores, aggregate, rng, resamples), confidence)
    return Estimate(value, float(low), float(high), runs)


def resampled(scores: ArrayLike, aggregate: Aggregate, rng: Rng, resamples: int) -> np.ndarray:
    """The aggregate of each of `resamples` stratified resamples of one score matrix."""
    scores = score_matrix(scores)
    parts = [aggregate(scores[rows, np.arange(scores.shape[1])]) for rows in draws(scores, rng, resamples)]
    return np.concatenate(parts)


def resampled_pair(
    first: ArrayLike,
    second: ArrayLike,
    statistic: Callable[[np.ndarray, np.ndarray], np.ndarray],
    rng: Rng,
    resamples: int,
    *,
    paired: bool,
) -> np.ndarray:
    """A statistic of two score matrices, resampled together.

    `paired` means that row r of both comes from the same run (two policies of one ensemble): the same runs
    are then drawn for both. Otherwise each is drawn on its own.
    """
    x, y = score_matrix(first), score_matrix(second)
    tasks = np.arange(x.shape[1])
    if paired:
        if x.shape != y.shape or not (np.isnan(x) == np.isnan(y)).all():
            raise ValueError(f"paired scores need the same runs; got shapes {x.shape} and {y.shape}")
        blocks = [statistic(x[rows, tasks], y[rows, tasks]) for rows in draws(x, rng, resamples)]
        return np.concatenate(blocks)
    size = block_size(max(x.size, y.size, x.shape[0] * y.size))
    blocks = [
        statistic(x[rows_x, tasks], y[rows_y, tasks])
        for rows_x, rows_y in zip(draws(x, rng, resamples, size), draws(y, rng, resamples, size), strict=True)
    ]
    return np.concatenate(blocks)


def draws(scores: np.ndarray, rng: Rng, resamples: int, size: int | None = None) -> Iterator[np.ndarray]:
    """Blocks of row numbers [block, runs, tasks]: each task draws from its present runs, as many as it has.

    The rows beyond a task's number of runs point at a missing entry, so the resampled matrix misses as many
    scores as the original does.
    """
    runs, tasks = scores.shape
    present = np.isfinite(scores)
    counts = present.sum(axis=0)
    order = np.argsort(~present, axis=0, kind="stable")  # present rows first, per task
    padding = np.arange(runs)[:, None] >= counts[None, :]
    size = size or block_size(scores.size)
    for start in range(0, resamples, size):
        block = min(size, resamples - start)
        picks = (rng.random((block, runs, tasks)) * counts).astype(np.intp)
        picks = np.where(padding, np.arange(runs)[:, None], picks) if padding.any() else picks
        yield order[picks, np.arange(tasks)]


def block_size(numbers_each: int) -> int:
    return max(1, BLOCK_NUMBERS // max(numbers_each, 1))


def percentile_interval(samples: np.ndarray, confidence: float = CONFIDENCE) -> tuple[np.ndarray, np.ndarray]:
    """The central interval of bootstrap samples along their first axis."""
    tail = 100 * (1 - confidence) / 2
    low, high = np.percentile(samples, [tail, 100 - tail], axis=0)
    return low, high


class MeanResampler:
    """Intervals of means of single tasks, many at a time.

    A resample of n runs is a row of n weights, and one set of weights serves every task with n runs: the
    intervals of different tasks then share their random draws, which changes none of them.
    """

    def __init__(self, rng: Rng, resamples: int = FINAL_RESAMPLES) -> None:
        self._rng, self._resamples = rng, resamples
        self._weights: dict[tuple[int, int], np.ndarray] = {}

    def estimate(self, values: ArrayLike) -> Estimate:
        """The mean of one task's runs."""
        present = _present(values)
        if len(present) < 2:
            return Estimate(float(present[0]) if len(present) else np.nan, np.nan, np.nan, len(present))
        low, high = percentile_interval(self._draw(len(present), 0) @ present)
        return Estimate(float(present.mean()), float(low), float(high), len(present))

    def difference(self, first: ArrayLike, second: ArrayLike, *, paired: bool) -> Estimate:
        """The mean of the first minus that of the second; paired values come from the same runs."""
        if paired:
            return self.estimate(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64))
        x, y = _present(first), _present(second)
        runs = min(len(x), len(y))
        value = float(x.mean() - y.mean()) if runs else np.nan
        if runs == 0 or max(len(x), len(y)) < 2:
            return Estimate(value, np.nan, np.nan, runs)
        low, high = percentile_interval(self._draw(len(x), 0) @ x - self._draw(len(y), 1) @ y)
        return Estimate(value, float(low), float(high), runs)

    def _draw(self, runs: int, side: int) -> np.ndarray:
        if (runs, side) not in self._weights:
            self._weights[runs, side] = resampling_weights(runs, self._rng, self._resamples)
        return self._weights[runs, side]


def _present(values: ArrayLike) -> np.ndarray:
    every = np.asarray(values, dtype=np.float64)
    return every[np.isfinite(every)]


def resampling_weights(runs: int, rng: Rng, resamples: int) -> np.ndarray:
    """How often each run is drawn in each resample, as a share: [resamples, runs]."""
    return rng.multinomial(runs, np.full(runs, 1 / runs), size=resamples) / runs


def mean_curve_interval(values: np.ndarray, rng: Rng, resamples: int = CURVE_RESAMPLES) -> np.ndarray:
    """Low and high of the mean over runs at each point of curves [runs, points], NaN where a run has ended:
    [2, points].

    Whole runs are drawn, so neighbouring points of the band move together as they should.
    """
    band = np.full((2, values.shape[1]), np.nan)
    present = np.isfinite(values)
    patterns, where = np.unique(present, axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        if pattern.sum() < 2:
            continue
        points = np.flatnonzero(where.reshape(-1) == number)
        weights = resampling_weights(int(pattern.sum()), rng, resamples)
        for start in range(0, len(points), block_size(resamples)):
            some = points[start : start + block_size(resamples)]
            band[:, some] = percentile_interval(weights @ values[np.ix_(pattern, some)])
    return band


def aggregate_curve_interval(
    values: np.ndarray, aggregate: Aggregate, rng: Rng, resamples: int = CURVE_RESAMPLES
) -> np.ndarray:
    """Low and high of an aggregate at each point of curves [runs, tasks, points]: [2, points].

    One set of drawn runs serves all points, as long as the same runs are present.
    """
    band = np.full((2, values.shape[2]), np.nan)
    present = np.isfinite(values)
    patterns, where = np.unique(present.reshape(-1, present.shape[2]), axis=1, return_inverse=True)
    tasks = np.arange(values.shape[1])
    for number in range(patterns.shape[1]):
        points = np.flatnonzero(where.reshape(-1) == number)
        first = values[:, :, points[0]]
        counts = np.isfinite(first).sum(axis=0)
        if counts.min() == 0 or counts.max() < 2:
            continue
        rows = np.concatenate(list(draws(first, rng, resamples)))
        for point in points:
            band[:, point] = percentile_interval(aggregate(values[:, :, point][rows, tasks]))
    return band


def score_matrix(scores: ArrayLike) -> np.ndarray:
    """A [runs, tasks] matrix with at least one run a task."""
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2:
        raise ValueError(f"scores must be a (runs x tasks) matrix; got shape {scores.shape}")
    empty = np.flatnonzero(~np.isfinite(scores).any(axis=0))
    if scores.size == 0 or len(empty):
        raise ValueError(
            f"every task needs at least one run; tasks {empty.tolist()} of shape {scores.shape} have none"
        )
    return scores
