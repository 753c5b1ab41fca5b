"""The figure of a study, drawn from its runs: one function per kind of panel (`chorus.studies.panels`).

Panels whose series were not run are left out.
"""

from collections.abc import Sequence
from functools import singledispatch

from chorus.analysis import contrasts, drawings
from chorus.analysis.context import AnalysisContext
from chorus.analysis.costs import training_time
from chorus.analysis.figures import Drawing
from chorus.analysis.grouping import find_comparison_groups, find_sweep_axes
from chorus.analysis.results import DIVERSITIES, Series
from chorus.analysis.solved import solved
from chorus.errors import ChorusError
from chorus.studies import panels
from chorus.studies.panels import Panel

Drawings = dict[str, Drawing | None]


def draw_panels(context: AnalysisContext, shown: Sequence[Panel]) -> dict[str, Drawing]:
    """The drawings that the runs allow, by name."""
    found = {
        name: drawing for panel in shown for name, drawing in draw_panel(panel, context).items() if drawing is not None
    }
    if not found:
        kinds = ", ".join(dict.fromkeys(type(panel).__name__ for panel in shown))
        raise ChorusError(
            f"These runs have nothing for the panels {kinds}; `chorus reproduce STUDY --dry-run` lists the runs that a "
            "study needs."
        )
    return found


@singledispatch
def draw_panel(panel: Panel, context: AnalysisContext) -> Drawings:
    """The drawings of one panel; None for what the runs do not allow."""
    raise TypeError(f"no function draws {type(panel).__name__}")


@draw_panel.register
def _(panel: panels.Curves, context: AnalysisContext) -> Drawings:
    title = panel.policies[0] if len(panel.policies) == 1 else ""
    return {_name("curves", panel): drawings.learning_curves(context, _series(context, panel), title=title)}


@draw_panel.register
def _(panel: panels.EnvironmentCurves, context: AnalysisContext) -> Drawings:
    return {_name("environments", panel): drawings.learning_curve_grid(context, _series(context, panel))}


@draw_panel.register
def _(panel: panels.GainsOverSingle, context: AnalysisContext) -> Drawings:
    pairs = [
        (Series(group.ensemble, policy), group.single)
        for group in find_comparison_groups(context.results)
        if group.single and group.ensemble
        for policy in ("individual", "aggregate")
    ]
    return {"gains-over-single": contrasts.gains(context, pairs)}


@draw_panel.register
def _(panel: panels.GainsOverEnsemble, context: AnalysisContext) -> Drawings:
    pairs = [
        (Series(variant, policy), Series(group.ensemble, policy))
        for group in find_comparison_groups(context.results)
        if group.ensemble
        for variant in context.results.dataset.variants
        if variant.group == group.ensemble.group and variant.members > 1 and variant.role in panels.COMPARED
        if variant is not group.ensemble
        for policy in ("individual", "aggregate")
    ]
    return {"gains-over-ensemble": contrasts.gains(context, pairs)}


@draw_panel.register
def _(panel: panels.GainsByVoting, context: AnalysisContext) -> Drawings:
    ensembles = [group.ensemble for group in find_comparison_groups(context.results) if group.ensemble]
    pairs = [(Series(ensemble, "aggregate"), Series(ensemble, "individual")) for ensemble in ensembles]
    return {"gains-by-voting": contrasts.gains(context, pairs)}


@draw_panel.register
def _(panel: panels.TandemGaps, context: AnalysisContext) -> Drawings:
    found = [
        contrasts.tandem_gaps(context, group.single, group.ensemble, group.tandem)
        for group in find_comparison_groups(context.results)
        if group.single and group.ensemble and group.tandem
    ]
    return {"gaps": found[0] if found else None}


@draw_panel.register
def _(panel: panels.Diversity, context: AnalysisContext) -> Drawings:
    return {measure.name.replace(" ", "-"): contrasts.diversity(context, measure) for measure in DIVERSITIES}


@draw_panel.register
def _(panel: panels.Sweep, context: AnalysisContext) -> Drawings:
    relative = context.normalised_by_single_agent()
    found = [axis for axis in find_sweep_axes(context.results) if axis.path == panel.path]
    return {f"sweep-{axis.name}": contrasts.sweep(relative, axis) for axis in found}


@draw_panel.register
def _(panel: panels.Solved, context: AnalysisContext) -> Drawings:
    return {"solved": solved(context)}


@draw_panel.register
def _(panel: panels.TrainingTime, context: AnalysisContext) -> Drawings:
    return {"training-time": training_time(context)}


def _series(context: AnalysisContext, panel: panels.Curves | panels.EnvironmentCurves) -> list[Series]:
    """The series with one of the panel's roles and policies."""
    return [
        series
        for series in context.results.series
        if series.variant.role in panel.roles
        and series.policy in (("individual",) if series.variant.members == 1 else panel.policies)
    ]


def _name(kind: str, panel: panels.Curves | panels.EnvironmentCurves) -> str:
    """A panel of one policy says which."""
    return f"{kind}-{panel.policies[0]}" if len(panel.policies) == 1 else kind
