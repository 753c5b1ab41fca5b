"""The report, and the paper's figure if there is one, of a command that ran many jobs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chorus.scheduling.jobs import Job

_FORMATS = ("svg", "png")


def write_findings(jobs: "Sequence[Job]", folder: Path, title: str, figure: int | None = None, tag: str = "") -> None:
    """Answers in the terminal, the report and perhaps a figure in `folder`."""
    from chorus.analysis.context import make_context
    from chorus.analysis.loading import load_runs
    from chorus.analysis.paper import draw_paper_figure
    from chorus.analysis.report import write_dataset_report
    from chorus.errors import ChorusError
    from chorus.scheduling.jobs import evaluated

    found = evaluated(jobs)
    if not found:
        print("no run has been evaluated yet, so there is nothing to draw")
        return
    dataset = load_runs(found)
    report = folder / f"report{tag}.html"
    summary = write_dataset_report(dataset, report, title=title)
    for finding in summary.findings:
        print(f"{finding.question} {finding.answer}")
        for detail in finding.details:
            print(f"  {detail}")
    for warning in summary.warnings:
        print(f"Note: {warning}")
    if figure is not None:
        try:
            panels = draw_paper_figure(make_context(dataset), figure)
        except ChorusError as problem:
            print(f"no figure: {problem}")
            panels = {}
        for name, drawing in panels.items():
            for ending in _FORMATS:
                drawing.save(folder / f"figure{figure}{tag}-{name}.{ending}", captioned=True)
            print(f"figure: {folder / f'figure{figure}{tag}-{name}.svg'} (and .png)")
    print(f"report: {report}")
