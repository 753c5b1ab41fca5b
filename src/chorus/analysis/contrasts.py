"""Drawings that set two things against each other: gains by environment, the tandem, sweeps, diversity."""

from collections.abc import Sequence

import numpy as np

from chorus.analysis import aggregates, figures
from chorus.analysis.basis import Basis
from chorus.analysis.bootstrap import (
    FINAL_RESAMPLES,
    Estimate,
    estimate,
    percentile_interval,
    resampled_pair,
)
from chorus.analysis.comparisons import centre, env_differences, metric_estimate, normalised_matrix, same_runs
from chorus.analysis.figures import Drawing
from chorus.analysis.figures.bars import SYMLOG_LINEAR
from chorus.analysis.figures.gaps import LOWEST_SINGLE_SCORE
from chorus.analysis.results import DIVERSITIES, Diversity, Series
from chorus.analysis.swept import SweptSetting
from chorus.analysis.variants import Variant

INTERVAL = f"95 % bootstrap intervals, {FINAL_RESAMPLES:,} resamples"
PROBABILITY_RESAMPLES = 2_000
Pair = tuple[Series, Series]


def gains(basis: Basis, pairs: Sequence[Pair], *, named: bool = True) -> Drawing | None:
    """First minus second of each pair, a bar an environment, one panel a pair; one named elsewhere needs no name."""
    panels = {}
    for first, second in pairs:
        envs = basis.shared_envs(first, second)
        if envs:
            bars = env_differences(basis.results, first, second, envs, basis.scale, basis.resampler)
            better = sum(bar.value > 0 for bar in bars.values())
            count = f"higher in {better} of {len(bars)}"
            name = f"{first.label}\nminus {second.label}: {count}" if named else count
            panels[name] = (basis.look(first), bars)
    if not panels:
        return None
    seeds = basis.seeds([series for pair in pairs for series in pair], basis.envs)
    caption = f"Mean final scores, {seeds}; logarithmic beyond ±{SYMLOG_LINEAR:g}. Lines: {INTERVAL}."
    return figures.improvement_bars(panels, x_label=f"difference in {basis.scale.axis}", caption=caption)


def probabilities(basis: Basis, pairs: Sequence[Pair]) -> Drawing | None:
    """How likely a run of the first of each pair beats one of the second."""
    shown = {}
    for first, second in pairs:
        envs = basis.shared_envs(first, second)
        if not envs:
            continue
        x, y = (normalised_matrix(basis.results, s, envs, basis.scale) for s in (first, second))
        value = float(aggregates.probability_of_improvement(x, y))
        low, high = np.nan, np.nan
        if min(len(x), len(y)) > 1:
            paired = all(same_runs(basis.results, first, second, env) for env in envs)
            measure = aggregates.probability_of_improvement
            samples = resampled_pair(x, y, measure, basis.rng, PROBABILITY_RESAMPLES, paired=paired)
            low, high = map(float, percentile_interval(samples))
        found = Estimate(value, low, high, min(len(x), len(y)))
        shown[first.label, second.label] = (basis.look(first), found)
    if not shown:
        return None
    seeds = basis.seeds([series for pair in pairs for series in pair], basis.envs)
    caption = (
        "How likely a run of the first has a higher final score than a run of the second in the same "
        f"environment, averaged over environments ({seeds}); ties count half. Lines: 95 % stratified bootstrap "
        f"intervals, {PROBABILITY_RESAMPLES:,} resamples."
    )
    return figures.improvement_probabilities(shown, caption=caption)


def tandem_gaps(basis: Basis, single: Series, ensemble: Variant, tandem: Variant) -> Drawing | None:
    """Does the gap between active and passive foretell the gap between single agent and ensemble?"""
    active, passive, member = (
        Series(tandem, "active"),
        Series(tandem, "passive"),
        Series(ensemble, "individual"),
    )
    envs = basis.shared_envs(single, active, passive, member)
    if len(envs) < 2:
        return None
    gaps = {}
    for env in envs:
        alone, act, pas, ens = (
            float(np.nanmean(normalised_matrix(basis.results, s, (env,), basis.scale)))
            for s in (single, active, passive, member)
        )
        # Human-normalised scores become multiples of the single agent's; other scales are so already.
        size = alone if basis.scale.kind == "human" and alone > 0 else 1.0
        gaps[env] = figures.Gap((act - pas) / size, (alone - ens) / size, alone)
    caption = (
        f"One dot an environment, {basis.seeds([active, member], envs)} each, in scores normalised by the single "
        f"agent. Hollow dots are left out of the correlation: the single agent scores below {LOWEST_SINGLE_SCORE}, "
        "or the ensemble does better than the single agent. On the diagonal both gaps are equal."
    )
    return figures.gap_scatter(gaps, look=basis.look(active), caption=caption)


def diversity(basis: Basis, measure: Diversity) -> Drawing | None:
    """Of each ensemble, on the states its individual policy visited."""
    bars, counted = [], []
    for variant in basis.results.dataset.variants:
        found = final_diversity(basis, measure, variant, basis.results.envs)
        if found is not None and variant.traits.members > 1:
            bars.append(figures.Labelled(variant.label, basis.palette.look(variant, "aggregate"), found))
            counted.append(Series(variant, "individual"))
    if not bars:
        return None
    caption = (
        f"{measure.meaning}, on states visited by the individual policy; 0 means that all members agree. Mean over "
        f"environments, {basis.seeds(counted, basis.results.envs)} each; lines: {INTERVAL}."
    )
    return figures.score_bars(bars, title="", x_label=measure.axis, caption=caption)


def sweep(basis: Basis, swept: SweptSetting) -> Drawing | None:
    """Final scores, and diversity below, over the environments in which every value was run."""
    policies = basis.results.dataset.policies
    every = [Series(v, policy) for group in swept.groups for v in group for policy in policies(v)]
    envs = basis.shared_envs(*every)
    if not envs:
        return None
    score = f"{centre(envs).name} of {basis.scale.axis}" if len(envs) > 1 else basis.scale.axis
    rows: dict[str, list[figures.Line]] = {score: []}
    below: dict[str, list[figures.Line]] = {}
    for group in swept.groups:
        name = swept.group_label(group)
        for policy in dict.fromkeys(p for v in group for p in policies(v)):
            label = Series(group[0], policy).label.replace(group[0].label, name)
            points = [(swept.value(v), final_score(basis, Series(v, policy), envs)) for v in group]
            rows[score].append(_line(label, basis.palette.look(group[0], policy), points))
        for measure in DIVERSITIES:
            points = [(swept.value(v), final_diversity(basis, measure, v, envs)) for v in group]
            if any(found for _, found in points):
                # Measured on the states the individual policy visits, so it is drawn as that policy.
                label = Series(group[0], "individual").label.replace(group[0].label, name)
                line = _line(label, basis.palette.look(group[0], "individual"), points)
                below.setdefault(measure.axis, []).append(line)
    if swept.field != "buffer":
        rows |= below
    levels = [
        figures.Level(v.label, basis.palette.look(v, "individual"), found)
        for v in swept.bystanders
        if (found := final_score(basis, Series(v, "individual"), envs))
    ]
    many = f"{len(envs)} environments" if len(envs) > 1 else envs[0]
    caption = (
        f"Final scores over {many}, {basis.seeds(every, envs)} each; {basis.scale.meaning}. Error bars: {INTERVAL}."
    )
    return figures.sweep(
        rows, title="", x_label=swept.axis, caption=caption, references={score: levels}, log_x=swept.log_axis
    )


def final_score(basis: Basis, series: Series, envs: Sequence[str]) -> Estimate | None:
    if not all(basis.results.final(series, env) for env in envs):
        return None
    return estimate(normalised_matrix(basis.results, series, envs, basis.scale), centre(envs).of, basis.rng)


def final_diversity(basis: Basis, measure: Diversity, variant: Variant, envs: Sequence[str]) -> Estimate | None:
    return metric_estimate(basis.results, Series(variant, "individual"), measure.metric, envs, basis.rng)


def _line(label: str, look: figures.Look, points: Sequence[tuple[float, Estimate | None]]) -> figures.Line:
    kept = [(x, found) for x, found in points if found is not None]
    return figures.Line(
        label,
        look,
        np.array([x for x, _ in kept]),
        np.array([found.value for _, found in kept]),
        np.array([found.low for _, found in kept]),
        np.array([found.high for _, found in kept]),
        np.array([found.runs for _, found in kept]),
    )
