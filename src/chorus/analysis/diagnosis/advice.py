"""What to use: the best of what was tried if its lead over the single agent is beyond doubt, else the cheapest."""

from dataclasses import dataclass

from chorus.analysis.counted import many
from chorus.analysis.diagnosis.evidence import Contrast, Evidence
from chorus.analysis.diagnosis.wording import FEW_SEEDS, compared, unsettled_because
from chorus.analysis.results import Series
from chorus.analysis.summary import ENOUGH_SEEDS


@dataclass(frozen=True)
class Advice:
    """`use` is the series to use; `settled` says whether that is more than the cheapest guess."""

    use: Series | None
    settled: bool
    headline: str
    reasons: tuple[str, ...]


def advise(evidence: Evidence) -> Advice:
    """Ensembles are candidates as they would be used, acting together."""
    cast = evidence.cast
    single = Series(cast.single, "individual") if cast.single else None
    ensembles = [Series(v, "aggregate") for v in (cast.ensemble, cast.larger, cast.cerl) if v]
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
    lead, caution = ("Use", ()) if enough else ("A hint, no more: use", (FEW_SEEDS,))
    if better:
        return Advice(
            best.first, enough, f"{lead} {best.first.label}.", (*_reasons_for(best, against, evidence), *caution)
        )
    if all(found.below or found.negligible for found in against):
        found_so = "worse" if all(found.below for found in against) else "no better"
        headline = f"{lead} {single.label}: every ensemble tried is {found_so}, and costs more."
        return Advice(single, enough, headline, (*map(compared, against), *caution))
    return Advice(
        single,
        False,
        f"Too few seeds to tell; until there are more, {single.label}, because it costs least.",
        (f"Closest to being better: {compared(best)} {unsettled_because(best.difference)}",),
    )


def _reasons_for(best: Contrast, against: list[Contrast], evidence: Evidence) -> tuple[str, ...]:
    reasons = [compared(best)]
    plain = Series(evidence.cast.ensemble, "aggregate") if evidence.cast.ensemble else None
    extra = evidence.contrast(best.first, plain) if plain != best.first else None
    if extra is not None:
        verdict = (
            "That is more than the plain ensemble gives."
            if extra.above
            else "Whether it gives more than the plain ensemble, which is simpler, is not settled."
        )
        reasons.append(f"{verdict} {compared(extra)}")
    if len(against) > 1:
        reasons.append(
            f"It is the best of {many(len(against), 'ensemble')}, and the best of several looks better than it is."
        )
    return tuple(reasons)
