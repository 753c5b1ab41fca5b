"""Comparisons as figures: gains per environment, probabilities of improvement, tandem gaps, diversity, sweeps."""

from collections.abc import Sequence

import numpy as np

from chorus.analysis import figures
from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.comparisons import centre, env_differences, metric_estimate, normalised_matrix, same_runs
from chorus.analysis.context import AnalysisContext
from chorus.analysis.figures import Drawing
from chorus.analysis.figures.bars import SYMLOG_LINEAR
from chorus.analysis.figures.gaps import CORRELATION, LOWEST_SINGLE_SCORE
from chorus.analysis.figures.style import LineStyle
from chorus.analysis.figures.sweeps import COLUMNS as SWEEP_COLUMNS
from chorus.analysis.grouping import SweepAxis
from chorus.analysis.intervals import INTERVAL, estimate, improvement_estimate
from chorus.analysis.results import DIVERSITIES, DiversityMeasure, Series
from chorus.analysis.variants import CAPACITY, Variant

Pair = tuple[Series, Series]
MODE = "-mode"  # the ending of policies that act with modes instead of samples


def gains(context: AnalysisContext, pairs: Sequence[Pair], *, named: bool = True) -> Drawing | None:
    """First minus second: one panel per pair, one bar per environment; `named` puts the pair above its panel."""
    panels = {}
    left_out: dict[str, None] = {}
    for first, second in pairs:
        envs = context.shared_envs(first, second)
        if envs:
            bars = env_differences(context.results, first, second, envs, context.normalisation)
            better = sum(bar.value > 0 for bar in bars.values())
            count = f"higher in {better} of {len(bars)}"
            name = f"{first.label}\nminus {second.label}: {count}" if named else count
            panels[name] = (context.style(first), bars)
            left_out |= {context.left_out_note((first, second), envs): None}
    if not panels:
        return None
    compared = [series for pair in pairs for series in pair]
    seeds, final = context.seeds(compared, context.envs), context.final_meaning(compared, context.envs)
    drawn = [bar for _, bars in panels.values() for bar in bars.values()]
    largest = max(abs(bar.value) for bar in drawn)
    scale = f"; logarithmic beyond ±{SYMLOG_LINEAR:g}" if largest > SYMLOG_LINEAR else ""
    caption = f"Mean final scores, {seeds}; {final}{scale}.{intervals_note(drawn)}{''.join(left_out)}"
    return figures.improvement_bars(panels, x_label=f"difference in {context.normalisation.axis}", caption=caption)


def probabilities(context: AnalysisContext, pairs: Sequence[Pair]) -> Drawing | None:
    """The probability that a run of the first beats a run of the second, for each pair."""
    shown = {}
    left_out: dict[str, None] = {}
    for first, second in pairs:
        envs = context.shared_envs(first, second)
        if not envs:
            continue
        x, y = (normalised_matrix(context.results, s, envs, context.normalisation) for s in (first, second))
        found = improvement_estimate(x, y, paired=same_runs(context.results, first, second, envs))
        shown[first.label, second.label] = (context.style(first), found)
        left_out |= {context.left_out_note((first, second), envs): None}
    if not shown:
        return None
    compared = [series for pair in pairs for series in pair]
    seeds, final = context.seeds(compared, context.envs), context.final_meaning(compared, context.envs)
    averaged = " in the same environment, averaged over environments" if len(context.envs) > 1 else ""
    caption = (
        f"The probability that a run of the first has a higher final score than a run of the second{averaged} "
        f"({seeds}; {final}); ties count half.{intervals_note([found for _, found in shown.values()])}"
        f"{''.join(left_out)}"
    )
    return figures.improvement_probabilities(shown, caption=caption)


def tandem_gaps(context: AnalysisContext, single: Series, ensemble: Variant, tandem: Variant) -> Drawing | None:
    """Does the gap between active and passive member predict the gap between single agent and ensemble?"""
    gaps, no_multiple = find_gaps(context, single, ensemble, tandem)
    if not gaps or len(gaps) + len(no_multiple) < 2:
        return None
    envs = [env for env in context.envs if env in gaps or env in no_multiple]
    active, passive, member = Series(tandem, "active"), Series(tandem, "passive"), Series(ensemble, "individual")
    caption = (
        f"One dot per environment, {context.seeds([active, member], envs)} each, in scores normalised by the single "
        f"agent; {context.final_meaning([single, active, passive, member], envs)}. On the diagonal both gaps are "
        f"equal. {CORRELATION}."
        f"{context.left_out_note((single, active, passive, member), envs)}"
    )
    if any(gap.exclusion for gap in gaps.values()):
        caption += (
            f" Hollow dots: the single agent scores below {LOWEST_SINGLE_SCORE}; they are left out of the correlation."
        )
    if no_multiple:
        caption += f" Not drawn, because the single agent is not above a random policy: {', '.join(no_multiple)}."
    return figures.gap_scatter(gaps, style=context.style(active), caption=caption)


def find_gaps(
    context: AnalysisContext, single: Series, ensemble: Variant, tandem: Variant
) -> tuple[dict[str, figures.Gap], list[str]]:
    """The gaps of each environment as multiples of the single agent's score, and the environments without them."""
    compared = (single, Series(tandem, "active"), Series(tandem, "passive"), Series(ensemble, "individual"))
    gaps, no_multiple = {}, []
    for env in context.shared_envs(*compared):
        alone, active, passive, member = (
            float(np.nanmean(normalised_matrix(context.results, s, (env,), context.normalisation))) for s in compared
        )
        # Human-normalised scores become multiples of the single agent's; others are relative to it already.
        size = alone if context.normalisation.kind == "human" else 1.0
        if size <= 0:
            no_multiple.append(env)
            continue
        gaps[env] = figures.Gap((active - passive) / size, (alone - member) / size, alone)
    return gaps, no_multiple


def diversity(context: AnalysisContext, measure: DiversityMeasure) -> Drawing | None:
    """The diversity of each ensemble on the states that its individual policy visits."""
    bars, shown = [], []
    for variant in context.results.dataset.variants:
        found = diversity_estimate(context, measure, variant, context.results.envs)
        if found is not None and variant.members > 1:
            bars.append(figures.LabelledEstimate(variant.label, context.palette.style(variant, "aggregate"), found))
            shown.append(Series(variant, "individual"))
    if not bars:
        return None
    over = "environments, " if len(context.results.envs) > 1 else ""
    caption = (
        f"{measure.meaning}, on states visited by the individual policy; 0 means that all members agree. Mean over "
        f"{over}{context.seeds(shown, context.results.envs)}{' each' if over else ''}, of each run's "
        f"{context.final_meaning(shown, context.results.envs).removeprefix('final score: ')}."
        f"{intervals_note([bar.estimate for bar in bars])}"
    )
    return figures.score_bars(bars, x_label=measure.axis, caption=caption)


def sweep(
    context: AnalysisContext, axis: SweepAxis, *, modes: bool = False, most_columns: int = SWEEP_COLUMNS
) -> Drawing | None:
    """Final scores and diversity over the values of a setting, for all environments together and for each.

    Environments in which not every value was run are left out. `modes` adds the policies of SAC that act with the
    modes of the members, which the paper does not draw.
    """
    every = [Series(v, policy) for line in axis.lines for v in line for policy in swept_policies(context, v, modes)]
    envs = context.shared_envs(*every)
    if not envs:
        return None
    together = [f"All {len(envs)}: {centre(envs).name}"] if len(envs) > 1 else []
    groups = dict.fromkeys(together, tuple(envs)) | {env: (env,) for env in envs}
    columns = [_sweep_column(context, axis, title, group, modes) for title, group in groups.items()]
    each = f"; first the {centre(envs).name} over all, then the mean in each, in the same normalisation"
    where = f"{len(envs)} environments" if len(envs) > 1 else envs[0]
    measured = [name for name in columns[0].measures if name != context.normalisation.axis]
    on_states = ", on states visited by the individual policy" if measured else ""
    caption = (
        f"Final scores{''.join(f' and {name}' for name in measured)}{on_states} in {where}"
        f"{each if together else ''}, {context.seeds(every, envs)} each; {context.normalisation.meaning}; "
        f"{context.final_meaning(every, envs)}."
        f"{_error_bars(columns)}{context.left_out_note(every, envs)}"
    )
    return figures.sweep(
        columns, x_label=axis.style.title, caption=caption, log_x=axis.style.log, most_columns=most_columns
    )


def intervals_note(estimates: Sequence[IntervalEstimate]) -> str:
    """What the lines of a figure are; empty if none is drawn, as for single seeds."""
    return f" Lines: {INTERVAL}." if any(found.has_interval for found in estimates) else ""


def _error_bars(columns: Sequence[figures.SweepColumn]) -> str:
    lines = [line for column in columns for lines in column.measures.values() for line in lines]
    return f" Error bars: {INTERVAL}." if any(np.isfinite(line.low).any() for line in lines) else ""


def swept_policies(context: AnalysisContext, variant: Variant, modes: bool = False) -> list[str]:
    """The policies of a variant; those that act with modes only on request, or if there are no others."""
    policies = context.results.dataset.policies(variant)
    sampled = [policy for policy in policies if not policy.endswith(MODE)]
    return list(policies) if modes or not sampled else sampled


def _sweep_column(
    context: AnalysisContext, axis: SweepAxis, title: str, envs: Sequence[str], modes: bool
) -> figures.SweepColumn:
    scores: list[figures.Line] = []
    below: dict[str, list[figures.Line]] = {}
    for line in axis.lines:
        # The line has the colour of its main value, which is that of the algorithm's curves.
        name, first = axis.line_label(line), min(line, key=lambda v: v.rank)
        for policy in dict.fromkeys(p for v in line for p in swept_policies(context, v, modes)):
            label = Series(first, policy).label.replace(first.label, name)
            points = [(axis.value(v), score_estimate(context, Series(v, policy), envs)) for v in line]
            scores.append(_line(label, context.palette.style(first, policy), points))
        for measure in DIVERSITIES if axis.path != CAPACITY else ():
            points = [(axis.value(v), diversity_estimate(context, measure, v, envs)) for v in line]
            # Single agents have no diversity, whatever they logged.
            if any(found for _, found in points) and any(v.members > 1 for v in line):
                # Diversity is measured on the states of the individual policy, so it has that policy's style.
                label = Series(first, "individual").label.replace(first.label, name)
                style = context.palette.style(first, "individual")
                below.setdefault(measure.axis, []).append(_line(label, style, points))
    levels = [
        figures.LabelledEstimate(v.label, context.palette.style(v, "individual"), found)
        for v in axis.references
        if (found := score_estimate(context, Series(v, "individual"), envs))
    ]
    return figures.SweepColumn(title=title, measures={context.normalisation.axis: scores} | below, references=levels)


def score_estimate(context: AnalysisContext, series: Series, envs: Sequence[str]) -> IntervalEstimate | None:
    if not all(context.results.final(series, env) for env in envs):
        return None
    return estimate(normalised_matrix(context.results, series, envs, context.normalisation), centre(envs).influence)


def diversity_estimate(
    context: AnalysisContext, measure: DiversityMeasure, variant: Variant, envs: Sequence[str]
) -> IntervalEstimate | None:
    return metric_estimate(context.results, Series(variant, "individual"), measure.metric, envs)


def _line(label: str, style: LineStyle, points: Sequence[tuple[float, IntervalEstimate | None]]) -> figures.Line:
    kept = [(x, found) for x, found in points if found is not None]
    return figures.Line(
        label,
        style,
        np.array([x for x, _ in kept]),
        np.array([found.value for _, found in kept]),
        np.array([found.low for _, found in kept]),
        np.array([found.high for _, found in kept]),
        np.array([found.runs for _, found in kept]),
    )
