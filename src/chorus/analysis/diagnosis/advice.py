"""What to use: the best ensemble if it is settled to be better than the single agent, otherwise the cheapest choice."""

from dataclasses import dataclass

from chorus.analysis.bootstrap import ENOUGH_SEEDS
from chorus.analysis.diagnosis.evidence import Contrast, Evidence
from chorus.analysis.results import Series, series_of
from chorus.analysis.wording import FEW_SEEDS, plural, why_unsettled


@dataclass(frozen=True)
class Advice:
    """What to use; `settled` is False for the cheapest choice while nothing is settled."""

    use: Series | None
    settled: bool
    headline: str
    reasons: tuple[str, ...]


def advise(evidence: Evidence) -> Advice:
    """Ensembles are judged as they would be used: acting together."""
    roles = evidence.roles
    single = series_of(roles.single, "individual")
    ensembles = [Series(v, "aggregate") for v in (roles.ensemble, roles.larger, roles.cerl) if v]
    if evidence.budget and evidence.budget.scale == "smoke":
        return Advice(None, False, "No advice: at the smoke scale nothing is learnt.", ())
    if single is None:
        return Advice(None, False, "No advice: there is no evaluation of the single agent.", ())
    against = [found for series in ensembles if (found := evidence.contrast(series, single))]
    if not against:
        return Advice(None, False, "No advice: there is no evaluation of an ensemble.", ())
    better = [found for found in against if found.above]
    best = max(better or against, key=lambda found: found.difference.value)
    enough = best.difference.runs >= ENOUGH_SEEDS
    lead, hint = ("Use", ()) if enough else ("A hint, no more: use", (FEW_SEEDS,))
    if better:
        return Advice(
            best.first, enough, f"{lead} {best.first.label}.", (*_reasons_for(best, against, evidence), *hint)
        )
    if all(found.below or found.negligible for found in against):
        how = "worse" if all(found.below for found in against) else "no better"
        headline = f"{lead} {single.label}: every ensemble tried is {how}, and costs more."
        return Advice(single, enough, headline, (*(found.sentence for found in against), *hint))
    return Advice(
        single,
        False,
        f"Too few seeds to tell; until there are more, {single.label}, because it costs least.",
        (f"Closest to being better: {best.sentence} {why_unsettled(best.difference)}",),
    )


def _reasons_for(best: Contrast, against: list[Contrast], evidence: Evidence) -> tuple[str, ...]:
    reasons = [best.sentence]
    plain = series_of(evidence.roles.ensemble, "aggregate")
    extra = evidence.contrast(best.first, plain) if plain != best.first else None
    if extra is not None:
        verdict = (
            "That is more than the plain ensemble gives."
            if extra.above
            else "Whether it gives more than the plain ensemble, which is simpler, is not settled."
        )
        reasons.append(f"{verdict} {extra.sentence}")
    if len(against) > 1:
        reasons.append(
            f"It is the best of {plural(len(against), 'ensemble')}, and the best of several looks better than it is."
        )
    return tuple(reasons)
