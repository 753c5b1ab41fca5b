"""The answers of a page: one card per main question, and a table of every comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.effects import VERDICT_WORDS
from chorus.analysis.findings import Finding
from chorus.analysis.report.tables import Cell, Row, Table, number_cell, text_cell
from chorus.analysis.shipped import Beside
from chorus.analysis.wording import p_value, seed_count, seeds_of, written


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
    main = [finding for finding in findings if finding.main]
    extents: dict[str, float] = {}
    for finding in main:
        found = finding.difference
        if found is not None and found.has_interval:
            unit = finding.unit
            extents[unit] = max(extents.get(unit, 0.0), abs(found.low), abs(found.high))
    return [_card(finding, extents.get(finding.unit, 0.0)) for finding in main]


def _card(finding: Finding, extent: float) -> Card:
    found = finding.difference
    return Card(
        question=finding.question,
        verdict=finding.verdict,
        word=VERDICT_WORDS[finding.verdict],
        answer=finding.answer,
        details=finding.details,
        measured=_measured(found, finding.unit) if found is not None else "",
        bar=_bar(found, extent) if found is not None and found.has_interval and extent > 0 else None,
    )


def _measured(found: IntervalEstimate, unit: str) -> str:
    """`-0.31 of Double DQN's score (95 % interval -0.38 to -0.24), 5 seeds`."""
    value, interval = written(found)
    within = f" (95 % interval {interval})" if interval else ""
    return f"{value} {unit}".strip() + f"{within}, {seeds_of(found)}"


def _bar(found: IntervalEstimate, extent: float) -> IntervalBar:
    def place(value: float) -> float:
        return round(50 + 48 * value / extent, 2)

    low, high = place(found.low), place(found.high)
    return IntervalBar(low, round(high - low, 2), place(found.value), not found.low <= 0 <= found.high)


def comparison_table(findings: Sequence[Finding]) -> Table | None:
    """Every question with its verdict and difference; None if no finding has a difference."""
    units = {finding.unit for finding in findings if finding.difference}
    if not units:
        return None
    common = f"Difference ({next(iter(units))})" if len(units) == 1 and units != {""} else "Difference"
    rows = [_row(finding, several_units=len(units) > 1) for finding in findings]
    columns = ("Question", "Verdict", common, "95 % interval", "Seeds", "p (Holm)")
    return Table("comparisons-table", columns, tuple(rows))


def answer_table(beside: Beside | None) -> Table | None:
    """What other runs say, one row per question and place; None if there are none."""
    if beside is None:
        return None
    rows = []
    for answer in beside.answers:
        value, interval = written(answer.estimate)
        cells = (
            text_cell(answer.question),
            text_cell(answer.where),
            text_cell(VERDICT_WORDS[answer.verdict]),
            number_cell(answer.estimate.value, f"{value} {answer.unit}".strip()),
            number_cell(answer.estimate.low, interval),
            number_cell(answer.estimate.runs, seed_count(answer.estimate)),
        )
        rows.append(Row(cells))
    columns = ("Question", "Where", "Verdict", "Difference", "95 % interval", "Seeds")
    return Table("beside-table", columns, tuple(rows))


def _row(finding: Finding, *, several_units: bool) -> Row:
    found = finding.difference
    adjusted_p = finding.adjusted_p
    numbers: tuple[Cell, ...] = (text_cell(""),) * 3
    if found is not None:
        value, interval = written(found)
        unit = f" {finding.unit}" if several_units else ""
        numbers = (
            number_cell(found.value, value + unit),
            number_cell(found.low, interval),
            number_cell(found.runs, seed_count(found)),
        )
    last = text_cell("") if adjusted_p is None else number_cell(adjusted_p, p_value(adjusted_p))
    return Row((text_cell(finding.question), text_cell(VERDICT_WORDS[finding.verdict]), *numbers, last))
