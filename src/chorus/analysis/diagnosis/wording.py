"""How a diagnosis says numbers: a difference, its interval, how many seeds, and why nothing can be concluded."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from chorus.analysis.bootstrap import Estimate
from chorus.analysis.comparisons import FEWEST_RUNS
from chorus.analysis.counted import many
from chorus.analysis.diagnosis.evidence import Contrast
from chorus.analysis.summary import ENOUGH_SEEDS

Shown = Callable[[float], str]
FEW_SEEDS = f"With fewer than {ENOUGH_SEEDS} seeds intervals are too narrow: take this as a hint."


def number(value: float) -> str:
    """Three digits or so, never in powers of ten."""
    size = abs(value)
    return f"{value:,.{0 if size >= 1_000 else 1 if size >= 10 else 2 if size >= 0.1 or size == 0 else 4}f}"


def signed(value: float) -> str:
    return ("+" if value >= 0 else "") + number(value)


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def share_of(found: Estimate, whole: float) -> Estimate:
    """The same estimate as a share of something."""
    return replace(found, value=found.value / whole, low=found.low / whole, high=found.high / whole)


def interval(found: Estimate, shown: Shown = signed) -> str:
    """`95 % interval +0.51 to +2.3, 5 seeds`, or why there is none."""
    if not found.certain:
        return f"{many(found.runs, 'seed')}, so no interval"
    return f"95 % interval {shown(found.low)} to {shown(found.high)}, {many(found.runs, 'seed')}"


def compared(found: Contrast) -> str:
    """One whole sentence about a difference."""
    side = "above" if found.difference.value > 0 else "below" if found.difference.value < 0 else "level with"
    ratio = f"{percent(abs(found.difference.value) / found.base)} " if found.base > 0 and found.level >= 0 else ""
    place = side if side == "level with" else f"{ratio}{side}"
    return (
        f"{found.first.label} ends {place} {found.second.label}: mean return {number(found.level)} against "
        f"{number(found.base)}, difference {signed(found.difference.value)} ({interval(found.difference)})."
    )


def unsettled_because(found: Estimate) -> str:
    """Too few seeds to tell is an answer, and says what would give another one."""
    if found.runs < FEWEST_RUNS or not found.certain:
        return f"Too few seeds to tell: {many(found.runs, 'seed')}, and it takes at least {FEWEST_RUNS}."
    needed = seeds_needed(found)
    hope = f"; if the difference is real, it takes about {needed} seeds to show" if needed else ""
    return f"Too few seeds to tell: the interval includes zero{hope}."


def seeds_needed(found: Estimate, most: int = 100) -> int | None:
    """An interval shrinks with the root of the number of seeds: how many until this difference lies outside of it?

    None if it would take more than `most`: such a number is no help to anybody.
    """
    half = (found.high - found.low) / 2
    if found.value == 0 or not np.isfinite(half):
        return None
    needed = int(np.ceil(found.runs * (half / found.value) ** 2)) + 1
    return needed if found.runs < needed <= most else None
