"""A diagnosis as a page: what to use, the answers, and the evidence for them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from chorus.analysis import figures
from chorus.analysis.basis import Basis, final_meaning, make_basis
from chorus.analysis.cautions import cautions
from chorus.analysis.contrasts import INTERVAL
from chorus.analysis.diagnosis.evidence import with_one_budget
from chorus.analysis.diagnosis.verdicts import Diagnosis, diagnose
from chorus.analysis.loading import load_runs
from chorus.analysis.report.plates import Plate, Section, diagrams, inside, panels
from chorus.analysis.report.writing import render_page, write_page
from chorus.analysis.summary import Summary


def write_diagnosis(
    paths: Sequence[Path | str], env: str, out: Path, *, actions: int | None = None, seed: int = 0
) -> Summary:
    """Reads run directories of one environment, writes the page, and returns what it says.

    `actions` is how many there are to choose from; the same runs and the same seed give the same bytes.
    """
    basis = make_basis(with_one_budget(load_runs(paths), env), seed)
    diagnosis = diagnose(basis.results, env, seed=seed, actions=actions)
    summary = summarise(basis, diagnosis)
    return write_page(render_page(basis, summary, make_sections(basis, diagnosis), seed), summary, out)


def summarise(basis: Basis, diagnosis: Diagnosis) -> Summary:
    return Summary(
        title=f"What to use on {diagnosis.env}",
        out=None,
        runs=len(basis.results.dataset.runs),
        environments=basis.results.envs,
        scale=basis.scale.meaning,
        findings=diagnosis.findings,
        cautions=tuple(cautions(basis.results, basis.scale)),
        kind="diagnosis",
        conclusion=(diagnosis.advice.headline, *diagnosis.advice.reasons),
    )


def make_sections(basis: Basis, diagnosis: Diagnosis) -> list[Section]:
    compared = differences(basis, diagnosis)
    shown = [Plate("differences", "Who ends above whom", compared)] if compared else []
    sections = [
        Section(
            "evidence",
            "The evidence",
            "Final returns, two at a time, and how they came about.",
            [*shown, *learning(basis)],
        ),
        Section("inside", "Diversity and settings", "How unlike members are; what settings do.", inside(basis)),
        Section("diagrams", "What ran", "Drawn from the runs' configurations.", diagrams(basis)),
    ]
    return [section for section in sections if section.plates]


def learning(basis: Basis) -> list[Plate]:
    return [replace(plate, title="How returns grew") for plate in panels(basis)]


def differences(basis: Basis, diagnosis: Diagnosis) -> figures.Drawing | None:
    """Every difference the answers speak of, with its interval."""
    if not diagnosis.contrasts:
        return None
    bars = [
        figures.Labelled(name, basis.look(found.first), found.difference) for name, found in diagnosis.contrasts.items()
    ]
    series = [one for found in diagnosis.contrasts.values() for one in (found.first, found.second)]
    env = (diagnosis.env,)
    caption = (
        f"Difference of mean final returns, {basis.seeds(series, env)}; {final_meaning(env)}. "
        f"Lines: {INTERVAL}; where one crosses zero, nothing is settled."
    )
    return figures.score_bars(bars, title="", x_label="difference in return", caption=caption)
