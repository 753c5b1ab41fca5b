"""Answers in plain language: is there a curse of diversity, how large and how certain is it, and what reduces it?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chorus.analysis.bootstrap import ENOUGH_SEEDS
from chorus.analysis.comparisons import Difference, centre, difference, env_differences, normalised_matrix
from chorus.analysis.context import AnalysisContext, find_warnings
from chorus.analysis.grouping import COMMON_AXES, ComparisonGroup, find_comparison_groups
from chorus.analysis.results import Series, series_of
from chorus.analysis.wording import FEW_SEEDS, p_value, percent, plural, share_of_loss

Pair = tuple[Series | None, Series | None]


@dataclass(frozen=True)
class Finding:
    """A question and its answer; `verdict` is yes, no, unsettled or missing."""

    question: str
    verdict: str
    answer: str
    details: tuple[str, ...] = ()


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


class Judge:
    """Compares two series over all environments that they share, and puts the result into sentences."""

    def __init__(self, context: AnalysisContext) -> None:
        self.results, self.normalisation = context.results, context.normalisation

    def compare(self, first: Series, second: Series) -> Difference | None:
        envs = [env for env in self.results.envs_of([first, second]) if env in self.normalisation.envs]
        if not envs:
            return None
        return difference(self.results, first, second, envs, self.normalisation)

    def level(self, series: Series, envs: Sequence[str]) -> float:
        return float(centre(envs).of(normalised_matrix(self.results, series, envs, self.normalisation)))

    def sentence(self, found: Difference) -> str:
        """`A scores 31 % below B: IQM 0.69 against 1.00, difference -0.31 (95 % interval -0.38 to -0.24)`."""
        base = self.level(found.second, found.envs)
        value = found.estimate.value
        # A share of a score means nothing where zero is the worst run.
        relative = base > 0 and self.normalisation.kind != "min-max"
        ratio = f"{percent(abs(value / base), careful=True)} " if relative else ""
        place = "level with" if abs(value) < 0.005 else f"{ratio}{'above' if value > 0 else 'below'}"
        interval = (
            f" (95 % interval {found.estimate.low:+.2f} to {found.estimate.high:+.2f})"
            if found.estimate.has_interval
            else " (one seed: no interval)"
        )
        return (
            f"{found.first.label} scores {place} {found.second.label}: "
            f"{centre(found.envs).name} {base + value:.2f} against {base:.2f}, difference {value:+.2f}{interval}."
        )

    def count(self, found: Difference) -> tuple[str, ...]:
        """The number of environments with a gain; nothing for a single environment."""
        if len(found.envs) == 1:
            return ()
        each = env_differences(self.results, found.first, found.second, found.envs, self.normalisation)
        higher = sum(e.value > 0 for e in each.values())
        sure = sum(e.has_interval and (e.low > 0 or e.high < 0) for e in each.values())
        return (
            f"By environment: higher in {higher} of {len(each)} environments; "
            f"the interval excludes zero in {sure} of {len(each)}.",
        )

    def certainty(self, found: Difference) -> str:
        runs = found.estimate.runs
        seeds = plural(runs, "seed") + (" in the environment with fewest" if len(found.envs) > 1 else "")
        if not found.estimate.has_interval:
            return f"There is no measure of confidence: {seeds}."
        note = f"Two-sided p-value of no difference (Student's t): {p_value(found.p_value)}; {seeds}."
        return f"{note} {FEW_SEEDS}" if runs < ENOUGH_SEEDS else note

    def evidence(self, found: Difference) -> tuple[str, ...]:
        return (*self.count(found), self.certainty(found))


def verdict(found: Difference, sign: int) -> str:
    """Yes if the interval excludes zero and the difference has this sign."""
    if not found.estimate.settled:
        return "unsettled"
    return "yes" if np.sign(found.estimate.value) == sign else "no"


def summarise(context: AnalysisContext, title: str | None = None) -> Summary:
    """The summary of a report."""
    results = context.results
    return Summary(
        title=title or _default_title(results.envs),
        out=None,
        runs=len(results.dataset.runs),
        environments=results.envs,
        normalisation=context.normalisation.meaning,
        findings=find_findings(context),
        warnings=tuple(find_warnings(context)),
    )


def _default_title(envs: Sequence[str]) -> str:
    return f"Ensembles on {envs[0]}" if len(envs) == 1 else f"Ensembles on {len(envs)} environments"


def find_findings(context: AnalysisContext) -> tuple[Finding, ...]:
    """The findings of every comparison group, in reading order."""
    judge = Judge(context)
    findings: list[Finding] = []
    for group in find_comparison_groups(context.results):
        asked = [
            curse(judge, group),
            voting(judge, group),
            cerl(judge, group),
            tandem(judge, group),
        ]
        findings += [finding for finding in asked if finding is not None]
    return tuple(findings)


def curse(judge: Judge, group: ComparisonGroup) -> Finding | None:
    question = "Is there a curse of diversity?"
    if group.ensemble is None:
        if group.tandem or group.cerl:
            return None
        return Finding(question, "missing", "No plain ensemble was run, so there is nothing to compare.")
    if group.single is None:
        return Finding(
            question,
            "missing",
            f"No single agent was run beside {group.ensemble.label}, so the curse cannot be measured; "
            "train the single agent of its group (`chorus list`) with the same environments and seeds.",
        )
    found = judge.compare(Series(group.ensemble, "individual"), group.single)
    if found is None:
        return Finding(question, "missing", "The single agent and the ensemble share no environment.")
    answers = {
        "yes": "Yes: a member of the ensemble is worse than an agent on its own.",
        "no": "No: a member of the ensemble is better than an agent on its own.",
        "unsettled": "Not settled: the difference could be chance, or seeds are too few to tell.",
    }
    result = verdict(found, -1)
    details = (*judge.evidence(found), *other_values(judge, group, members_and_single))
    return Finding(question, result, f"{answers[result]} {judge.sentence(found)}", details)


def members_and_single(group: ComparisonGroup) -> Pair:
    return series_of(group.ensemble, "individual"), group.single


def votes_and_members(group: ComparisonGroup) -> Pair:
    return series_of(group.ensemble, "aggregate"), series_of(group.ensemble, "individual")


def cerl_and_plain(group: ComparisonGroup) -> Pair:
    """None unless both have the same settings: the nearest CERL may have another ensemble size."""
    if group.cerl is None or group.ensemble is None:
        return None, None
    if any(group.cerl.number(path) != group.ensemble.number(path) for path in COMMON_AXES):
        return None, None
    return Series(group.cerl, "individual"), Series(group.ensemble, "individual")


def other_values(judge: Judge, group: ComparisonGroup, pair: Callable[[ComparisonGroup], Pair]) -> list[str]:
    """The same comparison for each other value of a swept setting."""
    sentences = []
    for other in group.others:
        first, second = pair(other)
        if first and second and (found := judge.compare(first, second)):
            sentences.append(judge.sentence(found))
    return sentences


def voting(judge: Judge, group: ComparisonGroup) -> Finding | None:
    if group.ensemble is None:
        return None
    policies = judge.results.dataset.policies(group.ensemble)
    if "aggregate" not in policies or "individual" not in policies:
        return None
    agg, indiv = Series(group.ensemble, "aggregate"), Series(group.ensemble, "individual")
    found = judge.compare(agg, indiv)
    if found is None:
        return None
    answers = {"yes": "Voting helps.", "no": "Voting does harm.", "unsettled": "Not settled."}
    result = verdict(found, 1)
    details = judge.evidence(found)
    against = judge.compare(agg, group.single) if group.single else None
    if against:
        details = (f"Against the single agent: {judge.sentence(against)}", *details)
    details = (*details, *other_values(judge, group, votes_and_members))
    answer = f"{answers[result]} {judge.sentence(found)}"
    return Finding("Does acting together help?", result, answer, details)


def cerl(judge: Judge, group: ComparisonGroup) -> Finding | None:
    if group.cerl is None:
        return None
    question = "Does CERL help?"
    if group.ensemble is None:
        return Finding(question, "missing", f"No plain ensemble was run beside {group.cerl.label}.")
    indiv = Series(group.ensemble, "individual")
    found = judge.compare(Series(group.cerl, "individual"), indiv)
    if found is None:
        return Finding(question, "missing", "CERL and the plain ensemble share no environment.")
    answers = {
        "yes": "It helps: a member trained with CERL is better.",
        "no": "It does harm.",
        "unsettled": "Not settled.",
    }
    result = verdict(found, 1)
    details = [*recovered(judge, group, found), *judge.evidence(found)]
    together = judge.compare(Series(group.cerl, "aggregate"), Series(group.ensemble, "aggregate"))
    if together:
        details.insert(0, f"Acting together: {judge.sentence(together)}")
    details += other_values(judge, group, cerl_and_plain)
    return Finding(question, result, f"{answers[result]} {judge.sentence(found)}", tuple(details))


def recovered(judge: Judge, group: ComparisonGroup, gained: Difference) -> list[str]:
    """The share of the loss that CERL recovers; only if both loss and gain are settled."""
    if group.single is None or group.ensemble is None or verdict(gained, 1) != "yes":
        return []
    lost = judge.compare(Series(group.ensemble, "individual"), group.single)
    if lost is None or verdict(lost, -1) != "yes" or lost.envs != gained.envs:
        return []
    return [f"It gives back {share_of_loss(gained.estimate, lost.estimate)}."]


def tandem(judge: Judge, group: ComparisonGroup) -> Finding | None:
    if group.tandem is None:
        return None
    found = judge.compare(Series(group.tandem, "passive"), Series(group.tandem, "active"))
    if found is None:
        return None
    answers = {
        "yes": "Yes: learning from another's data is what hurts.",
        "no": "No: the passive member does better.",
        "unsettled": "Not settled.",
    }
    result = verdict(found, -1)
    return Finding(
        "Does a passive member fall behind on the same data?",
        result,
        f"{answers[result]} {judge.sentence(found)}",
        judge.evidence(found),
    )
