"""Rank correlation with an interval."""

from collections.abc import Sequence

import numpy as np
from scipy import special, stats

from chorus.analysis.bootstrap import CONFIDENCE, IntervalEstimate

# Fisher's transformation needs three degrees of freedom, and an interval of fewer points says nothing.
FEWEST_POINTS = 5


def correlation(x: Sequence[float], y: Sequence[float]) -> IntervalEstimate:
    """Spearman's rank correlation; its interval is Fisher's with the standard error of Bonett and Wright (2000)."""
    points = len(x)
    if points < 2:
        return IntervalEstimate(np.nan, np.nan, np.nan, points)
    value = float(stats.spearmanr(x, y).statistic)
    if points < FEWEST_POINTS or not np.isfinite(value):
        return IntervalEstimate(value, np.nan, np.nan, points)
    centre = np.arctanh(np.clip(value, -0.999, 0.999))
    error = np.sqrt((1 + value**2 / 2) / (points - 3))
    half = float(special.ndtri((1 + CONFIDENCE) / 2) * error)
    return IntervalEstimate(value, float(np.tanh(centre - half)), float(np.tanh(centre + half)), points)
