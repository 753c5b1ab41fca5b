"""The figures of a report that set two things against each other: gains, the tandem, sweeps."""

from collections.abc import Sequence

import numpy as np

from chorus.analysis import aggregates, figures
from chorus.analysis.bootstrap import FINAL_RESAMPLES, Estimate, estimate, percentile_interval, resampled_pair
from chorus.analysis.comparisons import env_differences, metric_estimate, normalised_matrix
from chorus.analysis.figures.bars import SYMLOG_LINEAR
from chorus.analysis.figures.gaps import LOWEST_SINGLE_SCORE
from chorus.analysis.report.plates import Plate, Study, final_meaning
from chorus.analysis.report.summary import Family, find_families
from chorus.analysis.results import VOTE_ENTROPY, Series
from chorus.analysis.sweeps import Sweep, find_sweeps
from chorus.analysis.variants import Variant

INTERVAL = f"95 % bootstrap intervals, {FINAL_RESAMPLES:,} resamples"


def pairs_of_interest(study: Study, family: Family) -> list[tuple[Series, Series]]:
    """What the paper compares: members and votes with the single agent, votes with members, CERL with the
    plain.
    """
    single, ensemble, cerl = family.single, family.ensemble, family.cerl
    pairs = []
    for policy in ("individual", "aggregate"):
        if single and ensemble:
            pairs.append((Series(ensemble, policy), single))
        if ensemble and cerl:
            pairs.append((Series(cerl, policy), Series(ensemble, policy)))
    if ensemble:
        pairs.append((Series(ensemble, "aggregate"), Series(ensemble, "individual")))
    return [(a, b) for a, b in pairs if _shared(study, a, b)]


def gains(study: Study) -> list[Plate]:
    """A bar an environment for each comparison of interest."""
    caption = (
        f"Difference of mean final scores; {study.scale.meaning}; {final_meaning(study.envs)}. "
        f"The axis is logarithmic beyond ±{SYMLOG_LINEAR:g}. Lines: {INTERVAL}."
    )
    plates: list[Plate] = []
    for family in find_families(study.results):
        for first, second in pairs_of_interest(study, family):
            envs = _shared(study, first, second)
            bars = env_differences(study.results, first, second, envs, study.scale, study.resampler)
            name = f"{first.label}\nminus {second.label}"
            label = f"difference in {study.scale.axis}"
            panels = {name: (study.look(first), bars)}
            drawing = figures.improvement_bars(panels, x_label=label, caption=caption)
            plates.append(Plate(f"gains-{len(plates)}", "Gain or loss by environment", drawing))
    return plates


def probabilities(study: Study) -> list[Plate]:
    pairs = {}
    for family in find_families(study.results):
        for first, second in pairs_of_interest(study, family):
            envs = _shared(study, first, second)
            x, y = (normalised_matrix(study.results, s, envs, study.scale) for s in (first, second))
            value = float(aggregates.probability_of_improvement(x, y))
            low, high = np.nan, np.nan
            if min(len(x), len(y)) > 1:
                same = first.variant is second.variant and x.shape == y.shape
                samples = resampled_pair(
                    x, y, aggregates.probability_of_improvement, study.rng, 2_000, paired=same
                )
                low, high = map(float, percentile_interval(samples))
            found = Estimate(value, low, high, min(len(x), len(y)))
            pairs[first.label, second.label] = (study.look(first), found)
    if not pairs:
        return []
    caption = (
        "How likely a run of the first has a higher final score than a run of the second in the same "
        "environment, "
        "averaged over environments; ties count half. Lines: 95 % stratified bootstrap intervals, 2,000 "
        "resamples."
    )
    drawing = figures.improvement_probabilities(pairs, caption=caption)
    return [Plate("probabilities", "Probability of improvement", drawing)]


def tandem_gaps(study: Study) -> list[Plate]:
    """Does the gap between active and passive foretell the gap between single agent and ensemble?"""
    plates = []
    for number, family in enumerate(find_families(study.results)):
        if not (family.single and family.ensemble and family.tandem):
            continue
        active, passive = Series(family.tandem, "active"), Series(family.tandem, "passive")
        member = Series(family.ensemble, "individual")
        envs = [
            e
            for e in study.results.envs_of([family.single, active, passive, member])
            if e in study.scale.envs
        ]
        if len(envs) < 2:
            continue
        gaps = {}
        for env in envs:
            single, act, pas, ens = (
                float(np.nanmean(normalised_matrix(study.results, s, (env,), study.scale)))
                for s in (family.single, active, passive, member)
            )
            size = single if study.scale.kind == "human" and single > 0 else 1.0
            gaps[env] = figures.Gap((act - pas) / size, (single - ens) / size, single)
        caption = (
            f"One dot an environment, {study.seeds([active, member], envs)} each, in scores normalised by "
            "the single agent. "
            "Hollow dots are left out of the correlation: the single agent scores below "
            f"{LOWEST_SINGLE_SCORE}, "
            "or the ensemble does better than the single agent. On the diagonal both gaps are equal."
        )
        drawing = figures.gap_scatter(gaps, look=study.look(active), caption=caption)
        plates.append(Plate(f"gaps-{number}", "Tandem gap and ensemble gap", drawing))
    return plates


def diversity(study: Study) -> list[Plate]:
    """Vote entropy of each ensemble, on the states its individual policy visited."""
    bars = []
    for variant in study.results.dataset.variants:
        found = _entropy(study, variant, study.results.envs)
        if found is not None and variant.traits.members > 1:
            bars.append(figures.Labelled(variant.label, study.palette.look(variant, "aggregate"), found))
    if not bars:
        return []
    caption = (
        "Mean entropy of the members' greedy votes, in nats, on states visited by the individual policy; 0 "
        "means that "
        f"all members agree. Mean over environments; lines: {INTERVAL}."
    )
    drawing = figures.score_bars(bars, title="", x_label="vote entropy (nats)", caption=caption)
    return [Plate("diversity", "Diversity of the members", drawing)]


def sweep_plates(study: Study) -> list[Plate]:
    """One plate a swept setting, over the environments in which every value of it was run."""
    plates = []
    for sweep in find_sweeps(study.results):
        swept = [v for group in sweep.groups for v in group]
        policies = study.results.dataset.policies
        envs = _shared(study, *(Series(v, policy) for v in swept for policy in policies(v)))
        if envs:
            plates.append(_sweep_plate(study, sweep, envs))
    return plates


def _sweep_plate(study: Study, sweep: Sweep, envs: Sequence[str]) -> Plate:
    score = f"IQM of {study.scale.axis}" if len(envs) > 1 else study.scale.axis
    rows: dict[str, list[figures.Line]] = {score: []}
    entropies: list[figures.Line] = []
    for group in sweep.groups:
        name = sweep.group_label(group)
        for policy in dict.fromkeys(p for v in group for p in study.results.dataset.policies(v)):
            label = Series(group[0], policy).label.replace(group[0].label, name)
            points = [(sweep.value(v), _score(study, Series(v, policy), envs)) for v in group]
            rows[score].append(_line(label, study.palette.look(group[0], policy), points))
        points = [(sweep.value(v), _entropy(study, v, envs)) for v in group]
        if any(found for _, found in points):
            entropies.append(_line(name, study.palette.look(group[0], "aggregate"), points))
    if entropies and sweep.field != "buffer":
        rows["vote entropy (nats)"] = entropies
    levels = [
        figures.Level(v.label, study.palette.look(v, "individual"), found)
        for v in sweep.bystanders
        if (found := _score(study, Series(v, "individual"), envs))
    ]
    many = f"{len(envs)} environments" if len(envs) > 1 else envs[0]
    caption = f"Final scores over {many}; {study.scale.meaning}. Error bars: {INTERVAL}."
    drawing = figures.sweep(
        rows, title="", x_label=sweep.axis, caption=caption, references={score: levels}, log_x=sweep.log_axis
    )
    return Plate(f"sweep-{sweep.field}", f"Sweep over the {sweep.axis}", drawing)


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


def _score(study: Study, series: Series, envs: Sequence[str]) -> Estimate | None:
    if not all(study.results.final(series, env) for env in envs):
        return None
    return estimate(normalised_matrix(study.results, series, envs, study.scale), aggregates.iqm, study.rng)


def _entropy(study: Study, variant: Variant, envs: Sequence[str]) -> Estimate | None:
    return metric_estimate(study.results, Series(variant, "individual"), VOTE_ENTROPY, envs, study.rng)


def _shared(study: Study, *series: Series) -> list[str]:
    return [env for env in study.results.envs_of(series) if env in study.scale.envs]
