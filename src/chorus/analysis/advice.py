"""What to use: the best ensemble if it is settled to be better than the single agent, otherwise the cheapest choice."""

from collections.abc import Sequence
from dataclasses import dataclass

from chorus.analysis.bootstrap import ENOUGH_SEEDS
from chorus.analysis.context import AnalysisContext
from chorus.analysis.effects import Effect, measure, minus
from chorus.analysis.grouping import ComparisonGroup, find_comparison_groups
from chorus.analysis.results import Series
from chorus.analysis.wording import FEW_SEEDS, plural, why_unsettled


@dataclass(frozen=True)
class Advice:
    """What to use; `settled` is False for the cheapest choice while nothing is settled."""

    use: Series | None
    settled: bool
    headline: str
    reasons: tuple[str, ...] = ()


def advise(context: AnalysisContext) -> Advice:
    """Advice from the first comparison group with a single agent; ensembles are judged acting together."""
    group = next((g for g in find_comparison_groups(context.results) if g.single), None)
    if group is None or group.single is None:
        return Advice(None, False, "No advice: there is no evaluation of the single agent.")
    if group.single.variant.is_smoke:
        return Advice(None, False, "No advice: at the smoke scale nothing is learnt.")
    ensembles = [Series(v, "aggregate") for v in group.variants if v.members > 1]
    against = [found for series in ensembles if (found := measure(context, minus(series, group.single)))]
    if not against:
        return Advice(None, False, "No advice: there is no evaluation of an ensemble that acts together.")
    # Leads in other environments are in other units, so only ensembles with the most environments are compared.
    widest = max(against, key=lambda found: len(found.envs)).envs
    return _choose(context, group, group.single, [found for found in against if found.envs == widest])


def _choose(context: AnalysisContext, group: ComparisonGroup, single: Series, against: Sequence[Effect]) -> Advice:
    verdicts = [found.verdict(1) for found in against]
    better = [found for found, verdict in zip(against, verdicts, strict=True) if verdict == "yes"]
    best = max(better or against, key=lambda found: found.estimate.value)
    enough = best.estimate.runs >= ENOUGH_SEEDS
    lead, hint = ("Use", ()) if enough else ("A hint, no more: use", (FEW_SEEDS,))
    if better:
        used = best.terms[0].series
        reasons = _reasons_for(context, group, best, len(against))
        return Advice(used, enough, f"{lead} {used.label}.", (*reasons, *hint))
    if "unsettled" not in verdicts:
        how = "worse" if set(verdicts) == {"no"} else "no better"
        headline = f"{lead} {single.label}: every ensemble tried is {how}, and costs more."
        return Advice(single, enough, headline, (*(found.sentence() for found in against), *hint))
    return Advice(
        single,
        False,
        f"Too few seeds to tell; until there are more, {single.label}, because it costs least.",
        (f"Closest to being better: {best.sentence()} {why_unsettled(best.estimate)}",),
    )


def _reasons_for(context: AnalysisContext, group: ComparisonGroup, best: Effect, tried: int) -> tuple[str, ...]:
    reasons = [best.sentence()]
    used = best.terms[0].series
    plain = Series(group.ensemble, "aggregate") if group.ensemble else None
    extra = measure(context, minus(used, plain)) if plain and plain != used else None
    if extra is not None:
        verdict = (
            "That is more than the plain ensemble gives."
            if extra.verdict(1) == "yes"
            else "It is not settled whether it gives more than the plain ensemble, which is simpler."
        )
        reasons.append(f"{verdict} {extra.sentence()}")
    if tried > 1:
        reasons.append(
            f"It is the best of {plural(tried, 'ensemble')}, and the best of several looks better than it is."
        )
    return tuple(reasons)
