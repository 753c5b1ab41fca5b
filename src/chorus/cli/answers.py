"""How commands print findings: a table, one line of advice, warnings, and where the page is."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from chorus.analysis.findings import Finding, Summary
    from chorus.analysis.shipped import Answer

_STYLES = {"yes": "bold", "no": "bold", "negligible": "", "unsettled": "dim", "missing": "dim"}


def print_summary(summary: "Summary", *, most_warnings: int | None = None) -> None:
    """Main questions as a table, those that were not run in sentences, the number of other comparisons, the advice, and
    the path of the page."""
    from chorus.analysis.wording import plural

    console = Console(highlight=False, soft_wrap=False)
    for warning in summary.warnings[:most_warnings]:
        console.print(Text(f"Note: {warning}"))
    if most_warnings is not None and len(summary.warnings) > most_warnings:
        console.print(Text(f"{plural(len(summary.warnings) - most_warnings, 'more note')} on the page."))
    main = [finding for finding in summary.findings if finding.main]
    missing = [finding for finding in main if finding.verdict == "missing"]
    if len(missing) < len(main):
        console.print(findings_table(finding for finding in main if finding not in missing))
    for finding in missing:
        console.print(Text(f"{finding.question} {finding.answer}"))
    if others := len(summary.findings) - len(main):
        console.print(Text(f"{others} further comparison{'s are' if others > 1 else ' is'} on the page."))
    if summary.asked:
        console.print(Text(summary.asked))
    if summary.conclusion:
        console.print(Text(summary.conclusion[0], style="bold"))
    if summary.beside:
        console.print(Text(f"{summary.beside.title}. {summary.beside.intro}"))
        console.print(answers_table(summary.beside.answers))
    print_path(summary.kind, summary.out)


def findings_table(findings: Iterable["Finding"]) -> Table:
    """One row per question, wrapped to the terminal."""
    from chorus.analysis.effects import VERDICT_WORDS

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("question", ratio=1, overflow="fold")
    table.add_column("verdict", max_width=11)
    table.add_column("difference", justify="right")
    table.add_column("95 % interval", no_wrap=True)
    table.add_column("seeds", justify="right")
    for finding in findings:
        difference, interval, seeds = effect_cells(finding)
        verdict = Text(VERDICT_WORDS[finding.verdict], style=_STYLES[finding.verdict])
        table.add_row(Text(finding.question), verdict, difference, interval, seeds)
    return table


def answers_table(answers: Iterable["Answer"]) -> Table:
    """What other runs say, one row per question; places are headings, so that ids of environments stay whole."""
    from chorus.analysis.effects import VERDICT_WORDS
    from chorus.analysis.wording import seed_count, written

    places: dict[str, list[Answer]] = {}
    for answer in answers:
        places.setdefault(answer.where, []).append(answer)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    head = f"in {next(iter(places))}" if len(places) == 1 else "question"
    table.add_column(Text(head), ratio=1, overflow="fold")
    table.add_column("verdict", max_width=11)
    table.add_column("difference", justify="right")
    table.add_column("95 % interval", no_wrap=True)
    table.add_column("seeds", justify="right")
    for place, own in places.items():
        if len(places) > 1:
            table.add_row(Text(f"in {place}", style="bold"))
        for answer in own:
            verdict = Text(VERDICT_WORDS[answer.verdict], style=_STYLES[answer.verdict])
            difference, interval = written(answer.estimate)
            table.add_row(Text(answer.question), verdict, difference, interval, seed_count(answer.estimate))
    return table


def effect_cells(finding: "Finding") -> tuple[str, str, str]:
    """Difference, interval and seeds as text; empty without an effect."""
    from chorus.analysis.wording import seed_count, written

    if finding.difference is None:
        return "", "", ""
    return *written(finding.difference), seed_count(finding.difference)


def print_path(kind: str, path: Path | None) -> None:
    """On one line whatever the width, so that it can be copied."""
    print(f"{kind}: {path}")
