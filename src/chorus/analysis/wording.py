"""How sentences write numbers, counts and intervals."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from chorus.analysis.bootstrap import ENOUGH_SEEDS, FEWEST_RUNS, IntervalEstimate
from chorus.analysis.power import seeds_needed

FEW_SEEDS = f"With fewer than {ENOUGH_SEEDS} seeds the coverage of intervals was not measured: take this as a hint."


def spreadsheet_cell(value: Any) -> Any:
    """Text that a spreadsheet would compute as a formula is quoted, so that nothing runs when the file is opened."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def plural(count: int, noun: str) -> str:
    """`1 seed`, `5 seeds`."""
    return f"{count} {noun}{'s' if count != 1 else ''}"


def seeds_between(counts: Sequence[int]) -> str:
    """`5 seeds`, or `3 to 5 seeds` if the numbers differ."""
    fewest, most = min(counts), max(counts)
    return plural(most, "seed") if fewest == most else f"{fewest} to {most} seeds"


def seeds_of(found: IntervalEstimate) -> str:
    """The seeds behind an estimate: of the environment with fewest to that with most."""
    return seeds_between((found.runs, found.most_runs or found.runs))


def seed_count(found: IntervalEstimate) -> str:
    """`10`, or `3 to 10`, for a column of a table."""
    return seeds_of(found).removesuffix("s").removesuffix(" seed")


def number(value: float) -> str:
    """About three digits, never in powers of ten."""
    size = abs(value)
    if size < 5e-5:
        return "0.00"
    return f"{value:,.{0 if size >= 1_000 else 1 if size >= 10 else 2 if size >= 0.1 else 4}f}"


def signed(value: float) -> str:
    written = number(value)
    return written if written.startswith("-") else f"+{written}"


def percent(share: float, *, careful: bool = False) -> str:
    """Whole percents; `careful` adds a digit where rounding could claim certainty."""
    return f"{100 * share:.1f} %" if careful and 0.99 < share < 1 else f"{100 * share:.0f} %"


def p_value(value: float) -> str:
    """Two digits; below 0.001 only the bound."""
    return "below 0.001" if value < 0.001 else f"{value:.2g}"


def share_of(found: IntervalEstimate, whole: float) -> IntervalEstimate:
    """The estimate as a share of `whole`."""
    return replace(found, value=found.value / whole, low=found.low / whole, high=found.high / whole)


def interval(found: IntervalEstimate, shown: Callable[[float], str] = signed) -> str:
    """`95 % interval +0.51 to +2.3, 5 seeds`, or why there is none."""
    if not found.has_interval:
        return f"{seeds_of(found)}, so no interval"
    return f"95 % interval {shown(found.low)} to {shown(found.high)}, {seeds_of(found)}"


def written(found: IntervalEstimate) -> tuple[str, str]:
    """The difference and its interval, all with the decimals that the largest of the three needs."""
    ends = (found.low, found.high) if found.has_interval else ()
    largest = max(map(abs, (found.value, *ends)))
    decimals = 0 if largest >= 1_000 else 1 if largest >= 10 else 2 if largest >= 0.1 or largest == 0 else 4
    value, *interval = (f"{number:+,.{decimals}f}" for number in (found.value, *ends))
    return value, " to ".join(interval)


def why_unsettled(found: IntervalEstimate) -> str:
    """Why a difference is not settled, and how many seeds might settle it."""
    if found.runs < FEWEST_RUNS or not found.has_interval:
        return f"Not settled: {plural(found.runs, 'seed')}, and it takes at least {FEWEST_RUNS}."
    needed = seeds_needed(found)
    remedy = f"; if it is as large as it looks, {needed} seeds would settle it in nine of ten cases" if needed else ""
    return f"Not settled: the interval includes zero{remedy}."
