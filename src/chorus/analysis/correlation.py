"""Correlations over environments with their intervals."""

from collections.abc import Sequence

import numpy as np
from scipy import special, stats

from chorus.analysis.bootstrap import CONFIDENCE, IntervalEstimate

FEWEST_POINTS_OF_INTERVAL = 4


def pearson(x: Sequence[float], y: Sequence[float]) -> IntervalEstimate:
    return fisher_interval(float(stats.pearsonr(x, y)[0]), len(x))


def spearman(x: Sequence[float], y: Sequence[float]) -> IntervalEstimate:
    """The rank correlation, with the standard error of Bonett and Wright (2000)."""
    found = float(stats.spearmanr(x, y)[0])
    return fisher_interval(found, len(x), 1 + found**2 / 2)


def fisher_interval(correlation: float, count: int, inflation: float = 1.0) -> IntervalEstimate:
    """Fisher's interval: atanh(r) is nearly normal with the variance inflation / (count - 3).

    None is given for too few points, and for r = 1 or -1, where it would have no width.
    """
    if count < FEWEST_POINTS_OF_INTERVAL or abs(correlation) > 1 - 1e-9:
        return IntervalEstimate(correlation, np.nan, np.nan, count)
    z = np.arctanh(correlation)
    half = special.ndtri((1 + CONFIDENCE) / 2) * np.sqrt(inflation / (count - 3))
    return IntervalEstimate(correlation, float(np.tanh(z - half)), float(np.tanh(z + half)), count)
