"""From numbers to answers: each sentence carries its number, its interval and how many seeds it rests on.

"Yes" and "no" mean that a 95 % interval excludes zero, or, for "no", everything that would matter; all else is "not
settled", which is an answer, too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from chorus.analysis.bootstrap import MeanResampler
from chorus.analysis.comparisons import FEWEST_RUNS
from chorus.analysis.counted import many
from chorus.analysis.diagnosis.advice import Advice, advise
from chorus.analysis.diagnosis.evidence import (
    NEGLIGIBLE,
    Contrast,
    Evidence,
    Unlikeness,
    gather,
    with_one_budget,
)
from chorus.analysis.diagnosis.wording import (
    FEW_SEEDS,
    compared,
    interval,
    percent,
    share_of,
    signed,
    unsettled_because,
)
from chorus.analysis.results import Results, series_of
from chorus.analysis.summary import ENOUGH_SEEDS, Finding, share_of_loss
from chorus.analysis.variants import Variant, short_number


@dataclass(frozen=True)
class Diagnosis:
    """The answers in the order a reader asks, and what follows from them."""

    env: str
    findings: tuple[Finding, ...]
    advice: Advice
    contrasts: Mapping[str, Contrast]
    """Every difference a sentence speaks of, under a short name."""
    left_out: int
    """Runs of this environment that had another scale or number of steps."""


def diagnose(results: Results, env: str, *, seed: int = 0, actions: int | None = None) -> Diagnosis:
    """A pure function of loaded runs; `seed` is that of the bootstrap."""
    kept = with_one_budget(results.dataset, env)
    left_out = sum(run.env == env for run in results.dataset.runs) - sum(run.env == env for run in kept.runs)
    results = results if kept is results.dataset else Results(kept)
    evidence = gather(results, env, MeanResampler(np.random.default_rng(seed)), actions)
    findings = (
        curse(evidence),
        off_policy(evidence),
        diversity(evidence),
        voting(evidence),
        cerl(evidence),
        buffer(evidence),
    )
    return Diagnosis(env, findings, advise(evidence), contrasts(evidence), left_out)


def curse(evidence: Evidence) -> Finding:
    question = "Is there a curse of diversity?"
    found = members_against_single(evidence)
    if found is None:
        return _missing(question, "the single agent or the ensemble")
    words = Words(
        sign=-1,
        yes="Yes: a member of the ensemble is worse than an agent on its own.",
        no="No: a member of the ensemble is better than an agent on its own.",
        level="No: a member of the ensemble is as good as an agent on its own",
    )
    return _answer(question, words, found, details=(cause(evidence),) if found.below else ())


def cause(evidence: Evidence) -> str:
    """Off-policy-ness or lack of diversity, where there is a curse: what the two questions below come to."""
    hurt, alike = off_policy(evidence).verdict, diversity(evidence).verdict
    reasons = []
    if gap := passive_against_active(evidence):
        reasons.append(f"passive minus active {signed(gap.difference.value)}, {interval(gap.difference)}")
    if unlike := evidence.unlikeness(evidence.cast.ensemble):
        share = share_of(unlike.found, unlike.most)
        reasons.append(f"{unlike.measure.name} {percent(share.value)} of the most, {interval(share, percent)}")
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
    """The tandem isolates it: both members learn from the same batches, and one of them hardly ever acts."""
    question = "Does learning from others' data hurt?"
    found = passive_against_active(evidence)
    if found is None:
        return _missing(question, "the tandem")
    words = Words(
        sign=-1,
        yes="Yes: on the same data the passive member falls behind the active one.",
        no="No: on the same data the passive member is even better.",
        level="No: on the same data the passive member is as good as the active one",
    )
    return _answer(question, words, found, details=(_ownership(evidence),))


def _ownership(evidence: Evidence) -> str:
    ensemble, share = evidence.cast.ensemble, evidence.own_share(evidence.cast.ensemble)
    if ensemble is None:
        return "No ensemble was run, so there is no share of self-generated data."
    if share is not None:
        return (
            f"A member of {ensemble.label} generated {percent(share.value)} of what it learnt from "
            f"({interval(share, percent)})."
        )
    return (
        "The share of self-generated data was not recorded in these runs; "
        f"{ensemble.traits.members} members that act in turn generate 1/{ensemble.traits.members} each."
    )


def diversity(evidence: Evidence) -> Finding:
    """Little of it would mean that there is nothing to vote about, and nothing to curse either."""
    question = "Is there too little diversity?"
    ensemble = evidence.cast.ensemble
    unlike = evidence.unlikeness(ensemble)
    if ensemble is None or unlike is None:
        return Finding(question, "missing", "Not measured: no diversity was recorded for the ensemble.")
    found, limit = unlike.found, unlike.limit
    if found.runs < FEWEST_RUNS:
        verdict, lead = "unsettled", f"Too few seeds to tell ({many(found.runs, 'seed')})."
    elif found.high < limit:
        verdict, lead = "yes", "Yes: the members act nearly alike, so there is little to gain from several of them."
    elif found.low > limit:
        verdict, lead = "no", "No: the members do disagree."
    else:
        verdict, lead = "unsettled", "Too few seeds to tell: the interval includes the limit."
    hint = (FEW_SEEDS,) if verdict != "unsettled" and found.runs < ENOUGH_SEEDS else ()
    return Finding(question, verdict, f"{lead} {_how_unlike(ensemble, unlike)}", (*_others(evidence), *hint))


def _how_unlike(variant: Variant, unlike: Unlikeness) -> str:
    measure, found, most = unlike.measure, unlike.found, unlike.most
    value, share = f"{found.value:.4f} {measure.unit}".rstrip(), 100 * found.value / most
    return (
        f"{measure.name.capitalize()} of {variant.label}: {value} ({interval(found, '{:.4f}'.format)}), {share:.1f} % "
        f"of the most there could be ({most:.2f}); below {percent(measure.little)} counts as little."
    )


def _others(evidence: Evidence) -> Iterator[str]:
    cerl_variant = evidence.cast.cerl
    other = evidence.unlikeness(cerl_variant)
    if cerl_variant is not None and other is not None:
        yield _how_unlike(cerl_variant, other)


def voting(evidence: Evidence) -> Finding:
    question = "Does acting together pay?"
    ensemble = evidence.cast.ensemble
    found = evidence.contrast(series_of(ensemble, "aggregate"), series_of(ensemble, "individual"))
    if found is None:
        return _missing(question, "an ensemble that acts together")
    against = evidence.contrast(series_of(ensemble, "aggregate"), series_of(evidence.cast.single, "individual"))
    words = Words(
        sign=1,
        yes="Yes: together the members are better than one by one.",
        no="No: together the members are worse.",
        level="No: together the members are as good as one by one",
    )
    return _answer(question, words, found, beside=against)


def cerl(evidence: Evidence) -> Finding:
    question = "Does CERL pay?"
    found = evidence.contrast(
        series_of(evidence.cast.cerl, "individual"), series_of(evidence.cast.ensemble, "individual")
    )
    if found is None:
        return _missing(question, "CERL or the plain ensemble")
    together = evidence.contrast(
        series_of(evidence.cast.cerl, "aggregate"), series_of(evidence.cast.ensemble, "aggregate")
    )
    words = Words(
        sign=1,
        yes="Yes: a member trained with CERL is better than a plain one.",
        no="No: members trained with CERL are worse.",
        level="No: members trained with CERL are as good as plain ones",
    )
    return _answer(question, words, found, details=_given_back(evidence, found), beside=together)


def _given_back(evidence: Evidence, gained: Contrast) -> tuple[str, ...]:
    """Only where loss and gain are beyond doubt."""
    lost = members_against_single(evidence)
    if lost is None or not lost.below or not gained.above:
        return ()
    return (f"That is {share_of_loss(gained.difference, lost.difference)}.",)


def buffer(evidence: Evidence) -> Finding:
    question = "Does a larger buffer pay?"
    larger, ensemble = evidence.cast.larger, evidence.cast.ensemble
    found = evidence.contrast(series_of(larger, "individual"), series_of(ensemble, "individual"))
    if larger is None or ensemble is None or found is None:
        return _no_larger(question, evidence)
    together = evidence.contrast(series_of(larger, "aggregate"), series_of(ensemble, "aggregate"))
    sizes = f"{short_number(larger.traits.buffer)} transitions instead of {short_number(ensemble.traits.buffer)}"
    words = Words(
        sign=1,
        yes=f"Yes: members are better with {sizes}.",
        no=f"No: members are worse with {sizes}.",
        level=f"No: members are as good with {sizes}",
    )
    return _answer(question, words, found, beside=together)


def _no_larger(question: str, evidence: Evidence) -> Finding:
    """Where the usual buffer holds all of a run, no larger one was tried, and that is the answer."""
    usual = evidence.cast.ensemble.traits.buffer if evidence.cast.ensemble else None
    steps = evidence.budget.steps if evidence.budget else None
    if usual is None or not steps:
        return _missing(question, "an ensemble with a larger buffer")
    buffer = f"the usual buffer, {short_number(usual)} transitions, holds"
    if usual < steps:
        return Finding(question, "missing", f"Not tried: {buffer} {percent(usual / steps)} of a run's {steps:,} steps.")
    return Finding(question, "no", f"No: {buffer} all of a run's {steps:,} steps.")


def contrasts(evidence: Evidence) -> dict[str, Contrast]:
    """The differences to draw side by side, under short names."""
    cast = evidence.cast
    pairs = {
        "indiv. − single agent": ((cast.ensemble, "individual"), (cast.single, "individual")),
        "agg. − single agent": ((cast.ensemble, "aggregate"), (cast.single, "individual")),
        "agg. − indiv.": ((cast.ensemble, "aggregate"), (cast.ensemble, "individual")),
        "passive − active": ((cast.tandem, "passive"), (cast.tandem, "active")),
        "CERL − plain, indiv.": ((cast.cerl, "individual"), (cast.ensemble, "individual")),
        "CERL − plain, agg.": ((cast.cerl, "aggregate"), (cast.ensemble, "aggregate")),
        "larger − usual buffer, indiv.": ((cast.larger, "individual"), (cast.ensemble, "individual")),
        "larger − usual buffer, agg.": ((cast.larger, "aggregate"), (cast.ensemble, "aggregate")),
    }
    found = {name: evidence.contrast(series_of(*first), series_of(*second)) for name, (first, second) in pairs.items()}
    return {name: contrast for name, contrast in found.items() if contrast is not None}


def members_against_single(evidence: Evidence) -> Contrast | None:
    return evidence.contrast(
        series_of(evidence.cast.ensemble, "individual"), series_of(evidence.cast.single, "individual")
    )


def passive_against_active(evidence: Evidence) -> Contrast | None:
    return evidence.contrast(series_of(evidence.cast.tandem, "passive"), series_of(evidence.cast.tandem, "active"))


@dataclass(frozen=True)
class Words:
    """How to answer, if a difference is settled; `sign` is the one that means yes, `level` stands for a small one."""

    sign: int
    yes: str
    no: str
    level: str


def _answer(
    question: str,
    words: Words,
    found: Contrast,
    *,
    details: tuple[str, ...] = (),
    beside: Contrast | None = None,
) -> Finding:
    """`beside` is another difference that belongs to the answer."""
    more = (*details, *((compared(beside),) if beside else ()))
    if found.settled:
        verdict, lead = ("yes", words.yes) if np.sign(found.difference.value) == words.sign else ("no", words.no)
    elif found.negligible:
        verdict, lead = "no", f"{words.level}, within {percent(NEGLIGIBLE)}."
    else:
        verdict, lead = "unsettled", unsettled_because(found.difference)
    if found.settled and found.difference.runs < ENOUGH_SEEDS:
        more += (FEW_SEEDS,)
    return Finding(question, verdict, f"{lead} {compared(found)}", more)


def _missing(question: str, who: str) -> Finding:
    return Finding(question, "missing", f"Not measured: there is no evaluation of {who}.")
