"""Reports from folders of runs; published runs in several folders, as in results/, have a page per folder and an index.

The folders of published runs differ in their environments or in their numbers of steps, so that one page of all of them
would average what cannot be compared.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.findings import Finding, Summary, summarise
from chorus.analysis.ledger import count_words, evaluate
from chorus.analysis.loading import Dataset, load_runs, select_runs
from chorus.analysis.normalisation import Reference
from chorus.analysis.report import provenance
from chorus.analysis.report.cards import comparison_table
from chorus.analysis.report.document import (
    check_page,
    render_page,
    render_template,
    write_dataset_report,
    write_page,
)
from chorus.analysis.report.sections import make_sections
from chorus.analysis.report.tables import Table, claim_table
from chorus.analysis.wording import plural
from chorus.components import short_number
from chorus.runs.logs import printable
from chorus.runs.published import published_folders

SCRIPTS = ("theme.js", "saving.js", "sorting.js")


@dataclass(frozen=True)
class FolderPage:
    """What the index says of the page of one folder."""

    name: str
    link: str
    extent: str
    envs: tuple[str, ...]
    scores: str
    """The meaning of a score; empty for a single environment, which is in returns."""
    steps: str
    cost: str
    answers: Table | None
    missing: tuple[Finding, ...]


def write_report(
    paths: Sequence[Path | str],
    out: Path | str,
    *,
    title: str | None = None,
    seed: int = 0,
    references: dict[str, Reference] | None = None,
    normalisation: str | None = None,
) -> Summary:
    """Reads run directories, writes the report to `out`, and returns its summary.

    The same runs and the same seed give the same bytes.
    """
    dataset = load_runs(paths)
    options: dict[str, Any] = {"title": title, "seed": seed, "references": references, "normalisation": normalisation}
    if folders := split_by_folder(dataset, paths):
        return write_folder_reports(dataset, folders, out, **options)
    return write_dataset_report(dataset, out, **options)


def split_by_folder(dataset: Dataset, paths: Sequence[Path | str]) -> dict[str, Dataset]:
    """The runs of each folder below a single folder of published runs; empty if that is not what was given."""
    if len(paths) != 1:
        return {}
    parent = Path(paths[0])
    found = {name: set(runs) for name, runs in published_folders(parent, [run.path for run in dataset.runs]).items()}

    def of(name: str, own: set[Path]) -> Dataset:
        unusable = tuple(one for one in dataset.unusable if one.path.is_relative_to(parent / name))
        return replace(select_runs(dataset, lambda run: run.path in own), unusable=unusable)

    return {name: of(name, own) for name, own in found.items()}


def write_folder_reports(
    dataset: Dataset,
    folders: Mapping[str, Dataset],
    out: Path | str,
    *,
    title: str | None = None,
    seed: int = 0,
    references: dict[str, Reference] | None = None,
    normalisation: str | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Summary:
    """Writes a page per folder, and at `out` the index that links them; returns a summary with all main findings."""
    out = check_page(out)
    paths = {name: check_page(out.with_name(f"{out.stem}-{name}{out.suffix}")) for name in folders}
    pages: list[FolderPage] = []
    findings: list[Finding] = []
    heading = printable(title or f"Ensembles in {plural(len(folders), 'folder')} of runs")
    for number, (name, own) in enumerate(folders.items(), start=1):
        page = paths[name]
        tell(f"page {number} of {len(folders)}: {printable(page.name)}, {plural(len(own.runs), 'run')}")
        context = make_context(own, seed, references, normalisation)
        summary = summarise(context, f"{title or 'Ensembles'}: {printable(name)}")
        write_page(render_page(context, summary, make_sections(context), seed), summary, page)
        pages.append(_entry(name, page, context, summary))
        # Corrected for the questions of one page only, so not to be counted over all of them.
        main = (finding for finding in summary.findings if finding.main)
        findings += [replace(one, question=f"{printable(name)}: {one.question}", adjusted_p=None) for one in main]
    index = Summary(
        title=heading,
        out=out,
        runs=len(dataset.runs),
        environments=dataset.envs,
        normalisation="",
        findings=tuple(findings),
        warnings=_on_no_page(dataset, folders),
        kind="index",
    )
    tell(f"index of {plural(len(folders), 'page')}, with the paper's claims")
    return write_page(_render_index(index, pages, dataset, references), index, out)


def _on_no_page(dataset: Dataset, folders: Mapping[str, Dataset]) -> tuple[str, ...]:
    """A sentence about the unusable runs that lie in none of the folders with a page."""
    shown = {one.path for own in folders.values() for one in own.unusable}
    rest = [printable(str(one.path)) for one in dataset.unusable if one.path not in shown]
    return (f"Runs that could not be used, in no folder with a page: {', '.join(rest)}.",) if rest else ()


def _entry(name: str, page: Path, context: AnalysisContext, summary: Summary) -> FolderPage:
    main = [finding for finding in summary.findings if finding.main]
    answers = comparison_table([finding for finding in main if finding.verdict != "missing"])
    return FolderPage(
        name=printable(name),
        link=quote(os.fsencode(page.name)),
        extent=provenance.extent(context),
        envs=context.results.envs,
        scores=summary.normalisation if len(context.results.envs) > 1 else "",
        steps=_steps(context.results.dataset),
        cost=provenance.cost(context.results.dataset),
        answers=answers and replace(answers, name=f"answers-{quote(os.fsencode(name))}"),
        missing=tuple(finding for finding in main if finding.verdict == "missing"),
    )


def _steps(dataset: Dataset) -> str:
    """`36k agent steps per run`, or `10k to 100k agent steps per run`."""
    counts = [run.last_step for run in dataset.runs]
    ends = dict.fromkeys(map(short_number, (min(counts), max(counts))))
    return f"{' to '.join(ends)} agent steps per run"


def _render_index(
    summary: Summary, pages: Sequence[FolderPage], dataset: Dataset, references: dict[str, Reference] | None
) -> str:
    claims = evaluate(dataset, references=references)
    return render_template(
        "index.html.j2",
        SCRIPTS,
        summary=summary,
        pages=pages,
        extent=f"{plural(summary.runs, 'run')} in {plural(len(summary.environments), 'environment')}",
        paper=provenance.PAPER,
        cost=provenance.cost(dataset),
        counts=count_words(claims),
        claims=claim_table(claims),
        series_numbers={},
        env_numbers={},
    )
