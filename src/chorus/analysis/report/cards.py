"""The answers of a page: one card per main question, and a table of every comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.findings import Finding
from chorus.analysis.report.tables import Cell, Row, Table, number_cell, text_cell
from chorus.analysis.wording import p_value, plural

VERDICTS = {
    "yes": "yes",
    "no": "no",
    "negligible": "too small to matter",
    "unsettled": "not settled",
    "missing": "not run",
}


@dataclass(frozen=True)
class IntervalBar:
    """An interval around zero, in percent of the width of its bar; zero is in the middle."""

    left: float
    width: float
    at: float
    clear: bool  # zero is outside


@dataclass(frozen=True)
class Card:
    """A question with its verdict and answer, and the difference behind it."""

    question: str
    verdict: str
    word: str
    answer: str
    details: tuple[str, ...]
    measured: str  # the difference with its interval and seeds; empty if nothing was measured
    bar: IntervalBar | None


def make_cards(findings: Sequence[Finding]) -> list[Card]:
    """The cards of the main findings; bars of one unit have one length per unit, so that they can be compared."""
    main = [finding for finding in findings if getattr(finding, "main", True)]
    extents: dict[str, float] = {}
    for finding in main:
        found = difference_of(finding)
        if found is not None and found.has_interval:
            unit = unit_of(finding)
            extents[unit] = max(extents.get(unit, 0.0), abs(found.low), abs(found.high))
    return [_card(finding, extents.get(unit_of(finding), 0.0)) for finding in main]


def _card(finding: Finding, extent: float) -> Card:
    found = difference_of(finding)
    return Card(
        question=finding.question,
        verdict=finding.verdict,
        word=VERDICTS[finding.verdict],
        answer=finding.answer,
        details=finding.details,
        measured=_measured(found, unit_of(finding)) if found is not None else "",
        bar=_bar(found, extent) if found is not None and found.has_interval and extent > 0 else None,
    )


def _measured(found: IntervalEstimate, unit: str) -> str:
    """`-0.31 of Double DQN's score (95 % interval -0.38 to -0.24), 5 seeds`."""
    value, interval = written(found)
    within = f" (95 % interval {interval})" if interval else ""
    return f"{value} {unit}".strip() + f"{within}, {plural(found.runs, 'seed')}"


def written(found: IntervalEstimate) -> tuple[str, str]:
    """The difference and its interval, all with the decimals that the largest of the three needs."""
    ends = (found.low, found.high) if found.has_interval else ()
    largest = max(map(abs, (found.value, *ends)))
    decimals = 0 if largest >= 1_000 else 1 if largest >= 10 else 2 if largest >= 0.03 or largest == 0 else 4
    value, *interval = (f"{number:+,.{decimals}f}" for number in (found.value, *ends))
    return value, " to ".join(interval)


def _bar(found: IntervalEstimate, extent: float) -> IntervalBar:
    def place(value: float) -> float:
        return round(50 + 48 * value / extent, 2)

    low, high = place(found.low), place(found.high)
    return IntervalBar(low, round(high - low, 2), place(found.value), not found.low <= 0 <= found.high)


def comparison_table(findings: Sequence[Finding]) -> Table | None:
    """Every question with its verdict and difference; None if no finding has a difference."""
    units = {unit_of(finding) for finding in findings if difference_of(finding)}
    if not units:
        return None
    common = f"Difference ({next(iter(units))})" if len(units) == 1 and units != {""} else "Difference"
    rows = [_row(finding, several_units=len(units) > 1) for finding in findings]
    columns = ("Question", "Verdict", common, "95 % interval", "Seeds", "p (Holm)")
    return Table("comparisons-table", columns, tuple(rows))


def _row(finding: Finding, *, several_units: bool) -> Row:
    found = difference_of(finding)
    adjusted_p = getattr(finding, "adjusted_p", None)
    numbers: tuple[Cell, ...] = (text_cell(""),) * 3
    if found is not None:
        value, interval = written(found)
        unit = f" {unit_of(finding)}" if several_units else ""
        numbers = (
            number_cell(found.value, value + unit),
            number_cell(found.low, interval),
            number_cell(found.runs, str(found.runs)),
        )
    last = text_cell("") if adjusted_p is None else number_cell(adjusted_p, p_value(adjusted_p))
    return Row((text_cell(finding.question), text_cell(VERDICTS[finding.verdict]), *numbers, last))


def difference_of(finding: Finding) -> IntervalEstimate | None:
    found: IntervalEstimate | None = getattr(finding, "difference", None)
    return found


def unit_of(finding: Finding) -> str:
    return str(getattr(finding, "unit", ""))
