"""Comparisons as figures: gains per environment, probabilities of improvement, tandem gaps, diversity, sweeps."""

from collections.abc import Sequence

import numpy as np

from chorus.analysis import figures
from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.comparisons import centre, env_differences, metric_estimate, normalised_matrix, same_runs
from chorus.analysis.context import AnalysisContext
from chorus.analysis.figures import Drawing
from chorus.analysis.figures.bars import LOWEST_SINGLE_SCORE, SYMLOG_LINEAR
from chorus.analysis.figures.style import LineStyle
from chorus.analysis.grouping import SweepAxis
from chorus.analysis.intervals import INTERVAL, estimate, improvement_estimate
from chorus.analysis.results import DIVERSITIES, DiversityMeasure, Series
from chorus.analysis.variants import CAPACITY, Variant

Pair = tuple[Series, Series]


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
    caption = (
        f"Mean final scores, {seeds}; {final}; logarithmic beyond ±{SYMLOG_LINEAR:g}. "
        f"Lines: {INTERVAL}.{''.join(left_out)}"
    )
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
    caption = (
        "The probability that a run of the first has a higher final score than a run of the second in the same "
        f"environment, averaged over environments ({seeds}; {final}); ties count half. Lines: {INTERVAL}."
        f"{''.join(left_out)}"
    )
    return figures.improvement_probabilities(shown, caption=caption)


def tandem_gaps(context: AnalysisContext, single: Series, ensemble: Variant, tandem: Variant) -> Drawing | None:
    """Does the gap between active and passive member predict the gap between single agent and ensemble?"""
    active, passive, member = (
        Series(tandem, "active"),
        Series(tandem, "passive"),
        Series(ensemble, "individual"),
    )
    envs = context.shared_envs(single, active, passive, member)
    if len(envs) < 2:
        return None
    gaps, no_multiple = {}, []
    for env in envs:
        alone, act, pas, ens = (
            float(np.nanmean(normalised_matrix(context.results, s, (env,), context.normalisation)))
            for s in (single, active, passive, member)
        )
        # Human-normalised scores become multiples of the single agent's; others are relative to it already.
        size = alone if context.normalisation.kind == "human" else 1.0
        if size <= 0:
            no_multiple.append(env)
            continue
        gaps[env] = figures.Gap((act - pas) / size, (alone - ens) / size, alone)
    if not gaps:
        return None
    caption = (
        f"One dot per environment, {context.seeds([active, member], envs)} each, in scores normalised by the single "
        f"agent; {context.final_meaning([single, active, passive, member], envs)}. Hollow dots are left out of the "
        f"correlation: the single agent scores below {LOWEST_SINGLE_SCORE}, or the ensemble does better than "
        "the single agent. On the diagonal both gaps are equal."
        f"{context.left_out_note((single, active, passive, member), envs)}"
    )
    if no_multiple:
        caption += f" Not drawn, because the single agent is not above a random policy: {', '.join(no_multiple)}."
    return figures.gap_scatter(gaps, style=context.style(active), caption=caption)


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
    caption = (
        f"{measure.meaning}, on states visited by the individual policy; 0 means that all members agree. Mean over "
        f"environments, {context.seeds(shown, context.results.envs)} each, of each run's "
        f"{context.final_meaning(shown, context.results.envs).removeprefix('final score: ')}; lines: {INTERVAL}."
    )
    return figures.score_bars(bars, x_label=measure.axis, caption=caption)


def sweep(context: AnalysisContext, axis: SweepAxis) -> Drawing | None:
    """Final scores and diversity over the values of a setting, in the environments in which every value was run."""
    policies = context.results.dataset.policies
    every = [Series(v, policy) for line in axis.lines for v in line for policy in policies(v)]
    envs = context.shared_envs(*every)
    if not envs:
        return None
    score = f"{centre(envs).name} of {context.normalisation.axis}" if len(envs) > 1 else context.normalisation.axis
    rows: dict[str, list[figures.Line]] = {score: []}
    below: dict[str, list[figures.Line]] = {}
    for line in axis.lines:
        name, first = axis.line_label(line), line[0]
        for policy in dict.fromkeys(p for v in line for p in policies(v)):
            label = Series(first, policy).label.replace(first.label, name)
            points = [(axis.value(v), score_estimate(context, Series(v, policy), envs)) for v in line]
            rows[score].append(_line(label, context.palette.style(first, policy), points))
        for measure in DIVERSITIES:
            points = [(axis.value(v), diversity_estimate(context, measure, v, envs)) for v in line]
            if any(found for _, found in points):
                # Diversity is measured on the states of the individual policy, so it has that policy's style.
                label = Series(first, "individual").label.replace(first.label, name)
                style = context.palette.style(first, "individual")
                below.setdefault(measure.axis, []).append(_line(label, style, points))
    if axis.path != CAPACITY:
        rows |= below
    levels = [
        figures.LabelledEstimate(v.label, context.palette.style(v, "individual"), found)
        for v in axis.references
        if (found := score_estimate(context, Series(v, "individual"), envs))
    ]
    where = f"{len(envs)} environments" if len(envs) > 1 else envs[0]
    caption = (
        f"Final scores over {where}, {context.seeds(every, envs)} each; {context.normalisation.meaning}; "
        f"{context.final_meaning(every, envs)}. "
        f"Error bars: {INTERVAL}.{context.left_out_note(every, envs)}"
    )
    return figures.sweep(
        rows, x_label=axis.style.title, caption=caption, references={score: levels}, log_x=axis.style.log
    )


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
