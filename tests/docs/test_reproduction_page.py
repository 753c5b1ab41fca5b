"""The table of studies on the page is the one in the code."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from chorus.config.request import Request
from chorus.config.resolution import resolve
from chorus.config.schema import RunConfig
from chorus.scheduling import costs
from chorus.studies.study import Study
from chorus.studies.table import STUDIES

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"
# The processor of the page; others have rates of their own.
PROCESSOR = "AMD EPYC"


_resolved: dict[str, RunConfig] = {}


def resolved(request: Request) -> RunConfig:
    """Studies share most of their runs."""
    key = repr(request)
    if key not in _resolved:
        _resolved[key] = resolve(request).config
    return _resolved[key]


def row(study: Study) -> str:
    """Figure, what it shows, runs at each scale, laptop hours of one core, GPU-days, what the laptop scale changes."""
    counts, hours = [], []
    for scale in ("smoke", "laptop", "paper"):
        device = "gpu" if scale == "paper" else None
        requests = [request for part in study.parts for request in part.requests(scale, device)]
        # Requests that differ in their seed resolve alike, and arms may share runs.
        alike = {repr(alone): alone for request in requests if (alone := replace(request, seed=0))}
        configs = {name: resolved(alone) for name, alone in alike.items()}
        digests = {name: config.digest() for name, config in configs.items()}
        by_digest = {digests[name]: config for name, config in configs.items()}
        runs = {(digests[repr(replace(request, seed=0))], request.seed) for request in requests}
        counts.append(f"{len(runs):,}")
        seeds = Counter(digest for digest, _ in runs)
        hours.append(sum(count * costs.seconds(by_digest[digest]) for digest, count in seeds.items()) / 3_600)
    _, laptop, paper = hours
    numbers = f"{' / '.join(counts)} | {laptop:.0f} | {paper / 24:,.0f}"
    return f"| `{study.name}` | {study.title} | {numbers} | {study.laptop} |"


@pytest.mark.long
@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.name)
def test_the_page_has_the_studys_row(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "measured_processor", lambda: PROCESSOR)
    assert row(study) in PAGE.read_text(encoding="utf-8").splitlines()
