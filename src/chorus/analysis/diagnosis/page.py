"""The page of a diagnosis: the advice and the answers, then the figures of a report."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from chorus.analysis.context import make_context
from chorus.analysis.diagnosis.answers import diagnose
from chorus.analysis.diagnosis.budgets import with_one_budget
from chorus.analysis.findings import Summary, summarise
from chorus.analysis.loading import load_runs
from chorus.analysis.report.document import render_page, write_page
from chorus.analysis.report.sections import make_sections


def write_diagnosis(
    paths: Sequence[Path | str], env: str, out: Path, *, actions: int | None = None, seed: int = 0
) -> Summary:
    """Reads run directories of one environment, writes the page, and returns its summary.

    `actions` is the number of discrete actions. The same runs and the same seed give the same bytes.
    """
    context = make_context(with_one_budget(load_runs(paths), env), seed)
    diagnosis = diagnose(context, env, actions=actions)
    advice = diagnosis.advice
    summary = replace(
        summarise(context, f"What to use on {env}"),
        findings=diagnosis.findings,
        kind="diagnosis",
        conclusion=(advice.headline, *advice.reasons),
    )
    return write_page(render_page(context, summary, make_sections(context), seed), summary, out)
