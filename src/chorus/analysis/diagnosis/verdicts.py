"""From numbers to answers: each sentence holds a number, its interval and the number of seeds.

"Yes" and "no" mean that the 95 % interval excludes zero, or, for "no", every difference that would matter. Everything
else is "not settled".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from chorus.analysis.bootstrap import ENOUGH_SEEDS, FEWEST_RUNS
from chorus.analysis.diagnosis.advice import Advice, advise
from chorus.analysis.diagnosis.evidence import (
    NEGLIGIBLE,
    Contrast,
    DiversityLevel,
    Evidence,
    gather_evidence,
    with_one_budget,
)
from chorus.analysis.findings import Finding
from chorus.analysis.results import Results, series_of
from chorus.analysis.variants import Variant
from chorus.analysis.wording import (
    FEW_SEEDS,
    interval,
    percent,
    plural,
    share_of,
    share_of_loss,
    signed,
    why_unsettled,
)
from chorus.components import short_number


@dataclass(frozen=True)
class Diagnosis:
    """The answers in reading order, and the advice that follows from them."""

    env: str
    findings: tuple[Finding, ...]
    advice: Advice
    contrasts: Mapping[str, Contrast]
    """The differences behind the answers, by short name."""
    left_out: int
    """The number of runs of this environment with another scale or number of steps."""


def diagnose(results: Results, env: str, *, actions: int | None = None) -> Diagnosis:
    """Answers for one environment."""
    kept = with_one_budget(results.dataset, env)
    left_out = sum(run.env == env for run in results.dataset.runs) - sum(run.env == env for run in kept.runs)
    results = results if kept is results.dataset else Results(kept)
    evidence = gather_evidence(results, env, actions)
    findings = (
        curse(evidence),
        off_policy(evidence),
        diversity(evidence),
        voting(evidence),
        cerl(evidence),
        buffer(evidence),
    )
    return Diagnosis(env, findings, advise(evidence), evidence.contrasts(), left_out)


def curse(evidence: Evidence) -> Finding:
    question = "Is there a curse of diversity?"
    found = evidence.members_against_single()
    if found is None:
        return _missing(question, "the single agent or the ensemble")
    texts = AnswerTexts(
        sign=-1,
        yes="Yes: a member of the ensemble is worse than an agent on its own.",
        no="No: a member of the ensemble is better than an agent on its own.",
        level="No: a member of the ensemble is as good as an agent on its own",
    )
    return _answer(question, texts, found, details=(cause(evidence),) if found.below else ())


def cause(evidence: Evidence) -> str:
    """Where a curse comes from: off-policy-ness, lack of diversity, or not settled."""
    hurt, alike = off_policy(evidence).verdict, diversity(evidence).verdict
    reasons = []
    if gap := evidence.passive_against_active():
        reasons.append(f"passive minus active {signed(gap.difference.value)}, {interval(gap.difference)}")
    if level := evidence.diversity(evidence.roles.ensemble):
        share = share_of(level.found, level.most)
        reasons.append(f"{level.measure.name} {percent(share.value)} of the most, {interval(share, percent)}")
    causes = {
        ("yes", "no"): "It is off-policy-ness and not lack of diversity",
        ("yes", "yes"): "Off-policy-ness plays a part, although the members hardly differ",
        ("no", "yes"): "It is not off-policy-ness; the members hardly differ",
        ("no", "no"): "It is neither off-policy-ness nor lack of diversity",
    }
    lead = causes.get((hurt, alike)) or (
        "Off-policy-ness plays a part; diversity is not settled"
        if hurt == "yes"
        else "What it comes from is not settled"
    )
    return f"{lead} ({'; '.join(reasons) or 'neither the tandem nor diversity was measured'})."


def off_policy(evidence: Evidence) -> Finding:
    """Both members of a tandem learn from the same batches, and one of them hardly ever acts."""
    question = "Does learning from others' data hurt?"
    found = evidence.passive_against_active()
    if found is None:
        return _missing(question, "the tandem")
    texts = AnswerTexts(
        sign=-1,
        yes="Yes: on the same data the passive member falls behind the active one.",
        no="No: on the same data the passive member is even better.",
        level="No: on the same data the passive member is as good as the active one",
    )
    return _answer(question, texts, found, details=(_ownership(evidence),))


def _ownership(evidence: Evidence) -> str:
    ensemble, share = evidence.roles.ensemble, evidence.own_share(evidence.roles.ensemble)
    if ensemble is None:
        return "No ensemble was run, so there is no share of self-generated data."
    if share is not None:
        return (
            f"A member of {ensemble.label} generated {percent(share.value)} of what it learnt from "
            f"({interval(share, percent)})."
        )
    return (
        "The share of self-generated data was not recorded in these runs; "
        f"{ensemble.members} members that act in turn generate 1/{ensemble.members} each."
    )


def diversity(evidence: Evidence) -> Finding:
    """With little diversity there is nothing to gain from voting, and little off-policy data."""
    question = "Is there too little diversity?"
    ensemble = evidence.roles.ensemble
    level = evidence.diversity(ensemble)
    if ensemble is None or level is None:
        return Finding(question, "missing", "Not measured: no diversity was recorded for the ensemble.")
    found, limit = level.found, level.limit
    if found.runs < FEWEST_RUNS:
        verdict, lead = "unsettled", f"Too few seeds to tell ({plural(found.runs, 'seed')})."
    elif found.high < limit:
        verdict, lead = "yes", "Yes: the members act nearly alike, so there is little to gain from several of them."
    elif found.low > limit:
        verdict, lead = "no", "No: the members do disagree."
    else:
        verdict, lead = "unsettled", "Too few seeds to tell: the interval includes the limit."
    hint = (FEW_SEEDS,) if verdict != "unsettled" and found.runs < ENOUGH_SEEDS else ()
    return Finding(
        question, verdict, f"{lead} {_diversity_sentence(ensemble, level)}", (*_cerl_diversity(evidence), *hint)
    )


def _diversity_sentence(variant: Variant, level: DiversityLevel) -> str:
    measure, found, most = level.measure, level.found, level.most
    value, share = f"{found.value:.4f} {measure.unit}".rstrip(), 100 * found.value / most
    return (
        f"{measure.name.capitalize()} of {variant.label}: {value} ({interval(found, '{:.4f}'.format)}), {share:.1f} % "
        f"of the most there could be ({most:.2f}); below {percent(measure.low_share)} counts as little."
    )


def _cerl_diversity(evidence: Evidence) -> Iterator[str]:
    cerl_variant = evidence.roles.cerl
    other = evidence.diversity(cerl_variant)
    if cerl_variant is not None and other is not None:
        yield _diversity_sentence(cerl_variant, other)


def voting(evidence: Evidence) -> Finding:
    question = "Does acting together pay?"
    ensemble = evidence.roles.ensemble
    found = evidence.contrast(series_of(ensemble, "aggregate"), series_of(ensemble, "individual"))
    if found is None:
        return _missing(question, "an ensemble that acts together")
    against = evidence.contrast(series_of(ensemble, "aggregate"), series_of(evidence.roles.single, "individual"))
    texts = AnswerTexts(
        sign=1,
        yes="Yes: together the members are better than one by one.",
        no="No: together the members are worse.",
        level="No: together the members are as good as one by one",
    )
    return _answer(question, texts, found, beside=against)


def cerl(evidence: Evidence) -> Finding:
    question = "Does CERL pay?"
    found = evidence.contrast(
        series_of(evidence.roles.cerl, "individual"), series_of(evidence.roles.ensemble, "individual")
    )
    if found is None:
        return _missing(question, "CERL or the plain ensemble")
    together = evidence.contrast(
        series_of(evidence.roles.cerl, "aggregate"), series_of(evidence.roles.ensemble, "aggregate")
    )
    texts = AnswerTexts(
        sign=1,
        yes="Yes: a member trained with CERL is better than a plain one.",
        no="No: members trained with CERL are worse.",
        level="No: members trained with CERL are as good as plain ones",
    )
    return _answer(question, texts, found, details=_recovered(evidence, found), beside=together)


def _recovered(evidence: Evidence, gained: Contrast) -> tuple[str, ...]:
    """Only if both loss and gain are settled."""
    lost = evidence.members_against_single()
    if lost is None or not lost.below or not gained.above:
        return ()
    return (f"That is {share_of_loss(gained.difference, lost.difference)}.",)


def buffer(evidence: Evidence) -> Finding:
    question = "Does a larger buffer pay?"
    larger, ensemble = evidence.roles.larger, evidence.roles.ensemble
    found = evidence.contrast(series_of(larger, "individual"), series_of(ensemble, "individual"))
    if larger is None or ensemble is None or found is None:
        return _no_larger(question, evidence)
    together = evidence.contrast(series_of(larger, "aggregate"), series_of(ensemble, "aggregate"))
    sizes = f"{short_number(larger.capacity)} transitions instead of {short_number(ensemble.capacity)}"
    texts = AnswerTexts(
        sign=1,
        yes=f"Yes: members are better with {sizes}.",
        no=f"No: members are worse with {sizes}.",
        level=f"No: members are as good with {sizes}",
    )
    return _answer(question, texts, found, beside=together)


def _no_larger(question: str, evidence: Evidence) -> Finding:
    """A usual buffer that holds a whole run needs no larger one."""
    usual = evidence.roles.ensemble.capacity if evidence.roles.ensemble else None
    steps = evidence.budget.steps if evidence.budget else None
    if usual is None or not steps:
        return _missing(question, "an ensemble with a larger buffer")
    buffer = f"the usual buffer, {short_number(usual)} transitions, holds"
    if usual < steps:
        return Finding(question, "missing", f"Not tried: {buffer} {percent(usual / steps)} of a run's {steps:,} steps.")
    return Finding(question, "no", f"No: {buffer} all of a run's {steps:,} steps.")


@dataclass(frozen=True)
class AnswerTexts:
    """The beginnings of an answer; `sign` is the sign that means yes, `level` is for a negligible difference."""

    sign: int
    yes: str
    no: str
    level: str


def _answer(
    question: str,
    texts: AnswerTexts,
    found: Contrast,
    *,
    details: tuple[str, ...] = (),
    beside: Contrast | None = None,
) -> Finding:
    """`beside` is a second difference that belongs to the answer."""
    more = (*details, *((beside.sentence,) if beside else ()))
    if found.settled:
        verdict, lead = ("yes", texts.yes) if np.sign(found.difference.value) == texts.sign else ("no", texts.no)
    elif found.negligible:
        verdict, lead = "no", f"{texts.level}, within {percent(NEGLIGIBLE)}."
    else:
        verdict, lead = "unsettled", why_unsettled(found.difference)
    if found.settled and found.difference.runs < ENOUGH_SEEDS:
        more += (FEW_SEEDS,)
    return Finding(question, verdict, f"{lead} {found.sentence}", more)


def _missing(question: str, who: str) -> Finding:
    return Finding(question, "missing", f"Not measured: there is no evaluation of {who}.")
