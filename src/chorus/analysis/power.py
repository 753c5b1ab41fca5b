"""Power: the chance that a number of seeds settles a difference that is as large as an estimate says."""

import numpy as np
from scipy import special

from chorus.analysis.bootstrap import CONFIDENCE, FEWEST_RUNS, IntervalEstimate

# The chance at which a number of seeds is called enough.
POWER = 0.9


def chance_to_settle(found: IntervalEstimate, seeds: int, distance: float | None = None) -> float:
    """The chance that an interval of `seeds` runs excludes zero, on the side of the estimate; NaN without an interval.

    With a `distance` the interval is to exclude a value that is this far from the estimate. The standard deviation of
    runs is computed from the width of the interval with n - 1 degrees of freedom for n runs. This is exact for a paired
    difference and approximate for others, which have more.
    """
    away = abs(found.value if distance is None else distance)
    if not found.has_interval or found.runs < 2 or seeds < 2:
        return float("nan")
    spread = (found.high - found.low) / 2 / _critical(found.runs) * np.sqrt(found.runs)
    return chance_to_exclude(away, spread / np.sqrt(seeds), seeds - 1)


def chance_to_exclude(away: float, error: float, freedom: float) -> float:
    """The chance that an interval of this standard error and these degrees of freedom excludes a value so far away.

    Without an error it excludes every other value.
    """
    if error == 0:
        return float(away > 0)
    return float(1 - special.nctdtr(freedom, away / error, _quantile(freedom)))


def seeds_needed(
    found: IntervalEstimate, distance: float | None = None, power: float = POWER, most: int = 100
) -> int | None:
    """The fewest seeds that settle a difference with this chance; None if `most` are not enough."""
    for seeds in range(FEWEST_RUNS, most + 1):
        if chance_to_settle(found, seeds, distance) >= power:
            return seeds
    return None


def _critical(runs: int) -> float:
    """Half the width of an interval, in standard errors."""
    return _quantile(runs - 1)


def _quantile(freedom: float) -> float:
    return float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2))
