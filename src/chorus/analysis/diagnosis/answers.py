"""The findings of a diagnosis: those of every report, and what only one environment can tell.

That is whether the members differ at all, where a curse comes from, and whether a larger replay was possible.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chorus.analysis.advice import Advice, advise
from chorus.analysis.bootstrap import ENOUGH_SEEDS, IntervalEstimate
from chorus.analysis.context import AnalysisContext
from chorus.analysis.diagnosis.budgets import budget_of
from chorus.analysis.effects import Effect, Term, Verdict, measure
from chorus.analysis.findings import Finding, find_findings
from chorus.analysis.grouping import ComparisonGroup, find_comparison_groups
from chorus.analysis.intervals import mean_estimate
from chorus.analysis.questions import MAIN
from chorus.analysis.results import DISTANCES, VOTES, DiversityMeasure, Series
from chorus.analysis.variants import Variant
from chorus.analysis.wording import FEW_SEEDS, interval, percent, share_of, why_unsettled
from chorus.components import short_number

OWN_SHARE = "replay/own_sampled/mean"
CURSE, TANDEM, LARGER = (MAIN[0].text, MAIN[3].text, MAIN[6].text)
DIVERSITY = "Is there too little diversity?"


@dataclass(frozen=True)
class Diagnosis:
    """The answers in reading order, and the advice that follows from them."""

    env: str
    findings: tuple[Finding, ...]
    advice: Advice


def diagnose(context: AnalysisContext, env: str, *, actions: int | None = None) -> Diagnosis:
    """Answers for one environment, of runs with one budget; `actions` is the number of discrete actions, if known."""
    group = find_comparison_groups(context.results)[0]
    findings = list(find_findings(context))
    alike = diversity(context, group, env, actions)
    verdicts = {finding.question: finding.verdict for finding in findings}
    cause = (_cause(verdicts.get(TANDEM, "missing"), alike.verdict),) if verdicts.get(CURSE) == "yes" else ()
    extra = {CURSE: cause, TANDEM: _ownership(context, group, env)}
    findings = [replace(f, details=(*extra.get(f.question, ()), *f.details)) for f in findings]
    if LARGER not in verdicts:
        findings += [found for found in [_no_larger(context, group)] if found]
    main = [finding for finding in findings if finding.main]
    return Diagnosis(env, (*main, alike, *(f for f in findings if not f.main)), advise(context))


def _cause(passive: Verdict, alike: Verdict) -> str:
    """Where a curse comes from: learning from others' data, lack of diversity, or not settled."""
    causes: dict[tuple[Verdict, Verdict], str] = {
        ("yes", "no"): "It comes from learning from others' data and not from lack of diversity.",
        ("yes", "yes"): "Learning from others' data plays a part, although the members hardly differ.",
        ("no", "yes"): "It does not come from learning from others' data; the members hardly differ.",
        ("no", "no"): "It comes neither from learning from others' data nor from lack of diversity.",
    }
    return causes.get((passive, alike), "Where it comes from is not settled.")


def _ownership(context: AnalysisContext, group: ComparisonGroup, env: str) -> tuple[str, ...]:
    """The share of a member's training data that the member generated."""
    ensemble = group.ensemble
    if ensemble is None:
        return ()
    final = context.results.metric_final(ensemble, env, OWN_SHARE)
    if final is None:
        return (f"{ensemble.members} members that act in turn generate 1/{ensemble.members} of the data each.",)
    share = mean_estimate(final.values)
    return (
        f"A member of {ensemble.label} generated {percent(share.value)} of what it learnt from "
        f"({interval(share, percent)}).",
    )


def diversity(context: AnalysisContext, group: ComparisonGroup, env: str, actions: int | None) -> Finding:
    """Without diversity there is nothing to gain from acting together, and little data of others.

    It is judged like every other effect: the measured diversity minus the limit below which members are nearly alike.
    """
    ensemble = group.ensemble
    if ensemble is None:
        return Finding(DIVERSITY, "missing", "No plain ensemble was run.")
    for measure_, most in _largest(ensemble, actions):
        effect = measure(context, [Term(1.0, Series(ensemble, "individual"), measure_)], envs=(env,))
        if effect and most > 0:
            return _judge_diversity(ensemble, effect, measure_, most)
    return Finding(DIVERSITY, "missing", "No diversity was recorded for the ensemble.")


def _judge_diversity(ensemble: Variant, effect: Effect, measure_: DiversityMeasure, most: float) -> Finding:
    found, limit = effect.estimate, measure_.low_share * most
    above = replace(found, value=found.value - limit, low=found.low - limit, high=found.high - limit)
    judged = replace(effect, estimate=above, reference=None, unit=f"{effect.unit} above the limit")
    verdict = judged.verdict(-1)
    lead = {
        "yes": "Yes: the members act nearly alike, so there is little to gain from several of them.",
        "no": "No: the members do disagree.",
    }.get(verdict, why_unsettled(above).replace("zero", "the limit"))
    hint = (FEW_SEEDS,) if verdict != "unsettled" and found.runs < ENOUGH_SEEDS else ()
    return Finding(
        DIVERSITY, verdict, f"{lead} {_diversity_sentence(ensemble, found, measure_, most)}", hint, effect=judged
    )


def _diversity_sentence(variant: Variant, found: IntervalEstimate, measure_: DiversityMeasure, most: float) -> str:
    value, share = f"{found.value:.4f} {measure_.unit}".rstrip(), share_of(found, most)
    return (
        f"{measure_.name.capitalize()} of {variant.label}: {value} ({interval(found, '{:.4f}'.format)}), "
        f"{percent(share.value)} of the most there could be ({most:.2f}); below {percent(measure_.low_share)} counts "
        "as little."
    )


def _largest(variant: Variant, actions: int | None) -> Sequence[tuple[DiversityMeasure, float]]:
    """The measures of diversity with their largest possible values.

    For votes it is the entropy in nats of equally many votes for each action, or for each member if there are fewer.
    For actions in [-1, 1] half the members are at one end and half at the other; an odd member joins one of them.
    """
    members = variant.members
    distance = members / (members - 1) if members % 2 == 0 else (members + 1) / members
    return (VOTES, float(np.log(min(members, actions or members)))), (DISTANCES, distance)


def _no_larger(context: AnalysisContext, group: ComparisonGroup) -> Finding | None:
    """A usual replay that holds a whole run needs no larger one."""
    usual = group.ensemble.capacity if group.ensemble else None
    steps = budget_of(context.results.dataset.runs[0]).steps
    if usual is None or not steps:
        return None
    replay = f"the usual replay, {short_number(usual)} transitions, holds"
    if usual < steps:
        return Finding(LARGER, "missing", f"Not tried: {replay} {percent(usual / steps)} of a run's {steps:,} steps.")
    return Finding(LARGER, "no", f"No: {replay} all of a run's {steps:,} steps.")
