"""The figures of a report in reading order, as far as the runs allow them."""

from collections.abc import Sequence

from chorus.analysis import contrasts, drawings
from chorus.analysis.context import AnalysisContext
from chorus.analysis.grouping import find_comparison_groups, find_sweep_axes, pairs_of_interest
from chorus.analysis.report.diagrams import diagram_panels
from chorus.analysis.report.panels import Drawn, Panel, Section, make_panels
from chorus.analysis.results import DIVERSITIES, Series
from chorus.analysis.solved import solved
from chorus.analysis.variants import Variant
from chorus.analysis.visits import visit_maps

NARROW_SWEEP_COLUMNS = 2
NARROW_MAP_COLUMNS = 2


def make_sections(context: AnalysisContext) -> list[Section]:
    """The sections of a report; those without panels are left out.

    A single environment starts with its learning curves, several start with their aggregate.
    """
    one = len(context.results.envs) == 1
    first = [one_environment(context)] if one else [all_environments(context), sweeps(context), by_environment(context)]
    sections = [
        *first,
        Section("contrasts", "Comparisons", "Two algorithms or policies at a time.", comparison_panels(context)),
        *([sweeps(context)] if one else []),
        Section("inside", "Diversity", "How much members differ.", diversity_panels(context)),
        Section("exploration", "Exploration", "What training found and where it was.", exploration_panels(context)),
        Section("diagrams", "What ran", "Drawn from the runs' configurations.", diagram_panels(context)),
    ]
    return [section for section in sections if section.panels]


def one_environment(context: AnalysisContext) -> Section:
    return Section("learning", "Learning", "Raw returns.", [*learning_panels(context), *final_panels(context)])


def all_environments(context: AnalysisContext) -> Section:
    intro = f"Scores: {context.normalisation.meaning}."
    return Section("overall", "All environments together", intro, overall_panels(context))


def by_environment(context: AnalysisContext) -> Section:
    return Section("environments", "Environment by environment", "Raw returns.", env_panels(context), small=True)


def sweeps(context: AnalysisContext) -> Section:
    return Section("sweeps", "Settings", "Final scores over the values of a setting.", sweep_panels(context))


def main_series(context: AnalysisContext) -> list[Series]:
    """The series of curves, without policies that act with modes.

    Of a swept setting only the value that comparisons are made with is kept; the figure of the sweep has the others.
    """
    groups = find_comparison_groups(context.results)
    central = {v for g in groups for v in (g.single and g.single.variant, g.ensemble, g.cerl, g.tandem) if v}
    lines = [line for axis in find_sweep_axes(context.results) for line in axis.lines]
    others = {v for line in lines if central & set(line) for v in line} - central
    return policies_of(context, [v for v in context.results.dataset.variants if v not in others])


def policies_of(context: AnalysisContext, variants: Sequence[Variant]) -> list[Series]:
    return [Series(v, policy) for v in variants for policy in contrasts.swept_policies(context, v)]


def left_out(context: AnalysisContext, shown: Sequence[Series]) -> str:
    """How many variants curves leave out; empty if it is none."""
    others = len(context.results.dataset.variants) - len({series.variant for series in shown})
    return f" {others} other values of swept settings are in the figures of settings." if others else ""


def overall_panels(context: AnalysisContext) -> list[Panel]:
    series = main_series(context)
    several = len(context.envs) > 1
    curves = drawings.learning_curves(context, series, legend=False) if several else None
    if curves is not None:
        curves.caption += left_out(context, series)
    wide, narrow = (drawings.final_aggregates(context, series, columns=columns) for columns in (4, 1))
    return [
        *make_panels(
            [
                ("aggregate-curves", "Learning, all environments together", curves),
                ("profiles", "Performance profiles", drawings.profiles(context, series) if several else None),
            ]
        ),
        *([Panel("final-scores", "Final scores", wide, narrow=narrow, full=True)] if wide else []),
    ]


def learning_panels(context: AnalysisContext) -> list[Panel]:
    """The curves of a single environment: one panel per question, then all together if some are in none of them."""
    (env, *_) = context.results.envs
    found: list[Panel] = []
    drawn: set[str] = set()
    for number, group in enumerate(find_comparison_groups(context.results)):
        questions = drawings.question_curves(context, group, env)
        if questions is None:
            continue
        drawn |= {line.label for lines in questions.panels.values() for line in lines}
        wide, narrow = (questions.draw(columns=columns, legend=False) for columns in (3, 1))
        found.append(Panel(f"questions-{number}", "Learning curves", wide, narrow=narrow, full=True))
    series = main_series(context)
    if {s.label for s in series} - drawn and (
        every := drawings.env_learning_curves(context, series, env, titled=False)
    ):
        every.caption += left_out(context, series)
        title = "All learning curves" if found else "Learning curves"
        found.append(Panel("curves-0", title, every, env))
    return found


def final_panels(context: AnalysisContext) -> list[Panel]:
    (env, *_) = context.results.envs
    return make_panels([("final-scores", "Final returns", drawings.final_returns(context, main_series(context), env))])


def comparison_panels(context: AnalysisContext) -> list[Panel]:
    """Bars per environment and probabilities for each pair; a single bar is left to the answers above."""
    drawn: list[Drawn] = []
    groups = find_comparison_groups(context.results)
    pairs = [pair for group in groups for pair in pairs_of_interest(group)]
    for first, second in pairs:
        several = len(context.shared_envs(first, second)) > 1
        drawing = contrasts.gains(context, [(first, second)], named=False) if several else None
        drawn.append((f"gains-{len(drawn)}", f"{first.label} against {second.label}", drawing))
    probabilities = contrasts.probabilities(context, pairs)
    if probabilities is not None and len(probabilities.rows) > 1:
        drawn.append(("probabilities", "Probability of improvement", probabilities))
    for number, group in enumerate(groups):
        if group.single and group.ensemble and group.tandem:
            drawing = contrasts.tandem_gaps(context, group.single, group.ensemble, group.tandem)
            drawn.append((f"gaps-{number}", "Tandem gap and ensemble gap", drawing))
    return make_panels(drawn)


def env_panels(context: AnalysisContext) -> list[Panel]:
    series = main_series(context)
    found = []
    for number, env in enumerate(context.results.envs):
        drawing = drawings.env_learning_curves(context, series, env)
        if drawing is not None:
            found.append(Panel(f"curves-{number}", env, drawing, env))
    return found


def diversity_panels(context: AnalysisContext) -> list[Panel]:
    """One bar per ensemble; a single bar would compare nothing."""
    found = [(measure, contrasts.diversity(context, measure)) for measure in DIVERSITIES]
    return make_panels(
        (measure.name.replace(" ", "-"), f"Diversity of the members: {measure.name}", drawing)
        for measure, drawing in found
        if drawing is not None and len(drawing.rows) > 1
    )


def exploration_panels(context: AnalysisContext) -> list[Panel]:
    found = make_panels([("solved", "Environments solved", solved(context))])
    for number, env in enumerate(context.results.envs):
        wide = visit_maps(context, env)
        if wide is not None:
            several = len(context.results.dataset.variants) > 1
            narrow = visit_maps(context, env, columns=NARROW_MAP_COLUMNS) if several else None
            found.append(Panel(f"visits-{number}", f"Visits in {env}", wide, env, narrow=narrow, full=several))
    return found


def sweep_panels(context: AnalysisContext) -> list[Panel]:
    found = []
    for axis in find_sweep_axes(context.results):
        wide = contrasts.sweep(context, axis)
        if wide is not None:
            several = len({row[-1] for row in wide.rows}) > 1
            narrow = contrasts.sweep(context, axis, most_columns=NARROW_SWEEP_COLUMNS) if several else None
            title = f"Sweep over the {axis.style.title}"
            found.append(Panel(f"sweep-{axis.name}", title, wide, narrow=narrow, full=several))
    return found
