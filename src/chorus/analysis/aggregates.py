"""Aggregates over a score matrix [..., runs, tasks]: one number a matrix, vectorised over the leading axes.

A missing run is NaN. With a full matrix the definitions are those of Agarwal et al. (2021), "Deep
reinforcement learning at the edge of the statistical precipice". The IQM pools runs and tasks, so a task
with fewer runs weighs less; mean and median average over runs first, so there every task weighs the same.
"""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

Aggregate = Callable[[np.ndarray], np.ndarray]


def task_means(scores: ArrayLike) -> np.ndarray:
    """The mean over the runs of each task; NaN for a task nobody ran."""
    scores = np.asarray(scores, dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=RuntimeWarning)  # a task without runs is NaN on purpose
        return np.nanmean(scores, axis=-2)


def mean(scores: ArrayLike) -> np.ndarray:
    """The mean over tasks of the mean over runs."""
    return np.asarray(np.nanmean(task_means(scores), axis=-1))


def median(scores: ArrayLike) -> np.ndarray:
    """The median over tasks of the mean over runs."""
    return np.asarray(np.nanmedian(task_means(scores), axis=-1))


def iqm(scores: ArrayLike) -> np.ndarray:
    """The interquartile mean: the mean of what remains of all runs x tasks without the lowest and highest
    quarter.

    Of n scores, floor(n / 4) are dropped at either end (5 x 55: 68 and 68 of 275, so 139 remain; SPEC 5.3).
    """
    scores = np.asarray(scores, dtype=np.float64)
    pooled = scores.reshape(*scores.shape[:-2], -1)
    present = np.count_nonzero(np.isfinite(pooled.reshape(-1, pooled.shape[-1])[:1]))
    if present == 0:
        raise ValueError(
            f"the IQM of no scores at all (shape {scores.shape}) is undefined; pass at least one run"
        )
    ordered = np.sort(pooled, axis=-1)[..., :present]  # NaN sorts last
    if not np.isfinite(ordered).all():
        raise ValueError(
            "matrices stacked for one call must miss the same runs; resample within the present ones"
        )
    dropped = present // 4
    return np.asarray(ordered[..., dropped : present - dropped].mean(axis=-1))


def optimality_gap(scores: ArrayLike, goal: float = 1.0) -> np.ndarray:
    """By how much scores fall short of `goal` on average, with anything above it counted as reaching it."""
    scores = np.asarray(scores, dtype=np.float64)
    return np.asarray(goal - np.nanmean(np.minimum(scores, goal), axis=(-2, -1)))


def probability_of_improvement(scores_x: ArrayLike, scores_y: ArrayLike) -> np.ndarray:
    """The chance that a run of X beats one of Y on the same task, averaged over tasks; a tie counts half."""
    x = np.asarray(scores_x, dtype=np.float64)[..., :, None, :]
    y = np.asarray(scores_y, dtype=np.float64)[..., None, :, :]
    wins = np.where(np.isnan(x) | np.isnan(y), np.nan, (x > y) + 0.5 * (x == y))
    pairs = wins.reshape(*wins.shape[:-3], -1, wins.shape[-1])
    return np.asarray(np.nanmean(task_means(pairs), axis=-1))


def performance_profile(scores: ArrayLike, thresholds: ArrayLike) -> np.ndarray:
    """The share of runs that score above each threshold, averaged over tasks: [..., thresholds]."""
    scores = np.asarray(scores, dtype=np.float64)[..., None]
    thresholds = np.asarray(thresholds, dtype=np.float64)
    above = np.where(np.isnan(scores), np.nan, scores > thresholds)  # [..., runs, tasks, thresholds]
    return np.asarray(np.nanmean(np.nanmean(above, axis=-3), axis=-2))


AGGREGATES: dict[str, Aggregate] = {
    "IQM": iqm,
    "Mean": mean,
    "Median": median,
    "Optimality gap": optimality_gap,
}
