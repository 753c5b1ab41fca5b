"""The table of studies on the page is the one in the code."""

from pathlib import Path

import pytest

from chorus.scheduling.costs import seconds
from chorus.scheduling.jobs import jobs_of
from chorus.studies.study import Study
from chorus.studies.table import STUDIES

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"
OUT = Path("nowhere")


def row(study: Study) -> str:
    """Figure, what it shows, runs at each scale, laptop hours of one core, GPU-days, what the laptop scale changes."""
    counts, costs = [], []
    for scale in ("smoke", "laptop", "paper"):
        device = "gpu" if scale == "paper" else None
        jobs = [job for part in study.parts for job in jobs_of(part, scale, OUT, device)]
        counts.append(f"{len(jobs):,}")
        costs.append(sum(seconds(job.config) for job in jobs) / 3_600)
    _, laptop, paper = costs
    numbers = f"{' / '.join(counts)} | {laptop:.0f} | {paper / 24:,.0f}"
    return f"| `{study.name}` | {study.title} | {numbers} | {study.laptop} |"


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.name)
def test_the_page_has_the_studys_row(study: Study) -> None:
    assert row(study) in PAGE.read_text(encoding="utf-8").splitlines()
