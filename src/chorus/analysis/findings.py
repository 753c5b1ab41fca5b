"""Answers in plain language: every question with its verdict, its effect and its interval.

Report, demo, diagnosis and studies all show these findings; `chorus.analysis.questions` says what is asked, and
`chorus.analysis.effects` how it is judged.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chorus.analysis.advice import advise
from chorus.analysis.bootstrap import CONFIDENCE, ENOUGH_SEEDS, IntervalEstimate
from chorus.analysis.context import AnalysisContext
from chorus.analysis.effects import NEGLIGIBLE, Effect, Verdict, by_environment, holm, measure, minus, ratio
from chorus.analysis.grouping import ComparisonGroup, find_comparison_groups
from chorus.analysis.questions import Question, find_questions
from chorus.analysis.results import Series
from chorus.analysis.shipped import Beside
from chorus.analysis.warnings import find_warnings
from chorus.analysis.wording import FEW_SEEDS, p_value, percent, plural, why_unsettled
from chorus.runs.logs import printable

ALPHA = 1 - CONFIDENCE


@dataclass(frozen=True)
class Finding:
    """A question and its answer; `details` are facts about the same effect and hold no other comparison."""

    question: str
    verdict: Verdict
    answer: str
    details: tuple[str, ...] = ()
    main: bool = True
    """Whether it is one of the main questions; the others are rows of a table."""
    effect: Effect | None = None
    family: str = ""
    """The group whose main question it is; empty for all further comparisons."""
    adjusted_p: float | None = None
    """The p-value corrected for the number of questions of its family (Holm)."""

    @property
    def difference(self) -> IntervalEstimate | None:
        return self.effect.estimate if self.effect else None

    @property
    def unit(self) -> str:
        return self.effect.unit if self.effect else ""


@dataclass(frozen=True)
class Summary:
    """The content of a page in words."""

    title: str
    out: Path | None
    runs: int
    environments: tuple[str, ...]
    normalisation: str
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...] = ()
    kind: str = "report"
    conclusion: tuple[str, ...] = ()
    """A headline that follows from the findings, then its reasons."""
    beside: Beside | None = None
    """What other runs say of the same questions."""

    @property
    def asked(self) -> str:
        """How many questions were asked of the same runs, and what that means for the verdicts."""
        return how_many_asked(self.findings)


def find_findings(context: AnalysisContext) -> tuple[Finding, ...]:
    """All findings, in reading order."""
    groups = find_comparison_groups(context.results)
    found = []
    for question in find_questions(context.results, groups):
        if question.missing:
            found.append(Finding(question.text, "missing", question.missing, main=question.main))
        elif effect := measure(context, question.terms, reference=question.reference):
            found.append(judge(context, question, effect))
        elif question.main:
            found.append(Finding(question.text, "missing", "They were not evaluated in a common environment."))
    return correct(with_share_of_loss(context, groups, found))


def judge(context: AnalysisContext, question: Question, effect: Effect) -> Finding:
    """The finding of one question."""
    verdict = effect.verdict(question.sign)
    count, settled = _by_environment(context, question, effect)
    lead = {
        "yes": question.yes,
        "no": question.no,
        "negligible": f"{question.level}, within {percent(NEGLIGIBLE)}.",
        "unsettled": why_unsettled(effect.estimate),
    }[verdict]
    if settled and verdict in ("unsettled", "negligible"):
        # Environments that disagree must not be hidden behind their average.
        how = "not settled" if verdict == "unsettled" else f"level within {percent(NEGLIGIBLE)}"
        lead = f"Over {len(effect.envs)} environments together {how}, but settled {settled}."
    details = [f"{count}; settled {settled or 'in none of them'}."] if count else []
    if verdict in ("yes", "no") and effect.estimate.runs < ENOUGH_SEEDS:
        details.append(FEW_SEEDS)
    answer = f"{lead} {effect.sentence(question.label)}"
    return Finding(
        question.text, verdict, answer, tuple(details), main=question.main, effect=effect, family=question.family
    )


def _by_environment(context: AnalysisContext, question: Question, effect: Effect) -> tuple[str, str]:
    """In how many environments the effect is positive, and in which it is settled; both empty for a single one."""
    if len(effect.envs) == 1:
        return "", ""
    each = by_environment(context, effect, reference=question.reference)
    higher = sum(one.estimate.value > 0 for one in each.values())
    settled = [
        f"{words} in {', '.join(found)}"
        for words, sign in (("above zero", 1), ("below zero", -1))
        if (found := [env for env, one in each.items() if one.verdict(sign) == "yes"])
    ]
    return f"Above zero in {higher} of {len(each)} environments", "; ".join(settled)


def with_share_of_loss(
    context: AnalysisContext, groups: Sequence[ComparisonGroup], findings: Sequence[Finding]
) -> list[Finding]:
    """Adds the share of the loss that CERL gives back, where both loss and gain are settled."""
    shares = {}
    for group in groups:
        if group.single and group.ensemble and group.cerl:
            members = Series(group.ensemble, "individual")
            loss = measure(context, minus(members, group.single))
            gain = measure(context, minus(Series(group.cerl, "individual"), members))
            if loss and gain and loss.envs == gain.envs and (loss.verdict(-1), gain.verdict(1)) == ("yes", "yes"):
                share = ratio(context, gain.terms, tuple(t._replace(weight=-t.weight) for t in loss.terms))
                words = f"95 % interval {percent(share.low)} to {percent(share.high)}"
                shares[gain.terms] = f"It gives back {percent(share.value)} of what members had lost ({words})."
    return [
        replace(f, details=(shares[f.effect.terms], *f.details)) if f.effect and f.effect.terms in shares else f
        for f in findings
    ]


def correct(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Adds p-values corrected within each family of questions, and says where a verdict does not survive them.

    The main questions of a group are fixed before any run, so they are a family. Which further comparisons there are
    depends on what was run; all of them together are another family.
    """
    families: dict[str, list[float]] = {}
    for finding in findings:
        if finding.effect:
            families.setdefault(finding.family, []).append(finding.effect.p_value)
    adjusted = {family: iter(holm(p_values)) for family, p_values in families.items()}
    found = []
    for finding in findings:
        if finding.effect is not None:
            corrected = next(adjusted[finding.family])
            finding = replace(finding, adjusted_p=corrected)
            if finding.verdict in ("yes", "no") and corrected >= ALPHA:
                number = int(np.isfinite(families[finding.family]).sum())
                asked = plural(number, "main question" if finding.main else "further comparison")
                note = f"Not significant after Holm's correction for {asked} (p = {p_value(corrected)})."
                finding = replace(finding, details=(*finding.details, note))
        found.append(finding)
    return tuple(found)


def how_many_asked(findings: Sequence[Finding]) -> str:
    effects = [finding for finding in findings if finding.adjusted_p is not None]
    if not effects:
        return ""
    settled = [finding for finding in effects if finding.verdict in ("yes", "no")]
    kept = sum((finding.adjusted_p or 0.0) < ALPHA for finding in settled)
    apart = " within each family of questions" * (len({f.family for f in effects}) > 1)
    return (
        f"{plural(len(effects), 'question')} asked of the same runs, {len(settled)} settled one by one and {kept} of "
        f"them after Holm's correction{apart}. If nothing differed, about {ALPHA * len(effects):.1f} would be settled "
        "by chance."
    )


def summarise(context: AnalysisContext, title: str | None = None) -> Summary:
    """The summary of a report."""
    results = context.results
    advice = advise(context)
    return Summary(
        title=printable(title or _default_title(results.envs)),
        out=None,
        runs=len(results.dataset.runs),
        environments=results.envs,
        normalisation=context.normalisation.meaning,
        findings=find_findings(context),
        warnings=tuple(find_warnings(context)),
        conclusion=(advice.headline, *advice.reasons) if advice.use else (),
    )


def _default_title(envs: Sequence[str]) -> str:
    return f"Ensembles on {envs[0]}" if len(envs) == 1 else f"Ensembles on {len(envs)} environments"
