"""The page of a diagnosis: advice, answers and evidence."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from chorus.analysis import figures
from chorus.analysis.context import AnalysisContext, find_warnings, make_context
from chorus.analysis.diagnosis.evidence import with_one_budget
from chorus.analysis.diagnosis.verdicts import Diagnosis, diagnose
from chorus.analysis.findings import Summary
from chorus.analysis.intervals import INTERVAL
from chorus.analysis.loading import load_runs
from chorus.analysis.report.diagrams import diagram_panels
from chorus.analysis.report.document import render_page, write_page
from chorus.analysis.report.panels import Panel, Section
from chorus.analysis.report.sections import env_panels, setting_panels


def write_diagnosis(
    paths: Sequence[Path | str], env: str, out: Path, *, actions: int | None = None, seed: int = 0
) -> Summary:
    """Reads run directories of one environment, writes the page, and returns its summary.

    `actions` is the number of discrete actions. The same runs and the same seed give the same bytes.
    """
    context = make_context(with_one_budget(load_runs(paths), env), seed)
    diagnosis = diagnose(context.results, env, actions=actions)
    summary = summarise(context, diagnosis)
    return write_page(render_page(context, summary, make_sections(context, diagnosis), seed), summary, out)


def summarise(context: AnalysisContext, diagnosis: Diagnosis) -> Summary:
    return Summary(
        title=f"What to use on {diagnosis.env}",
        out=None,
        runs=len(context.results.dataset.runs),
        environments=context.results.envs,
        normalisation=context.normalisation.meaning,
        findings=diagnosis.findings,
        warnings=tuple(find_warnings(context)),
        kind="diagnosis",
        conclusion=(diagnosis.advice.headline, *diagnosis.advice.reasons),
    )


def make_sections(context: AnalysisContext, diagnosis: Diagnosis) -> list[Section]:
    compared = difference_bars(context, diagnosis)
    shown = [Panel("differences", "Differences of final returns", compared)] if compared else []
    sections = [
        Section(
            "evidence",
            "The evidence",
            "Final returns, two at a time, and learning curves.",
            [*shown, *learning_panels(context)],
        ),
        Section(
            "inside",
            "Diversity and settings",
            "How much members differ; the effect of settings.",
            setting_panels(context),
        ),
        Section("diagrams", "What ran", "Drawn from the runs' configurations.", diagram_panels(context)),
    ]
    return [section for section in sections if section.panels]


def learning_panels(context: AnalysisContext) -> list[Panel]:
    return [replace(panel, title="Learning curves") for panel in env_panels(context)]


def difference_bars(context: AnalysisContext, diagnosis: Diagnosis) -> figures.Drawing | None:
    """The differences behind the answers, with their intervals."""
    if not diagnosis.contrasts:
        return None
    bars = [
        figures.LabelledEstimate(name, context.style(found.first), found.difference)
        for name, found in diagnosis.contrasts.items()
    ]
    series = [one for found in diagnosis.contrasts.values() for one in (found.first, found.second)]
    env = (diagnosis.env,)
    caption = (
        f"Difference of mean final returns, {context.seeds(series, env)}; {context.final_meaning(series, env)}. "
        f"Lines: {INTERVAL}; a line that crosses zero settles nothing."
    )
    return figures.score_bars(bars, x_label="difference in return", caption=caption)
