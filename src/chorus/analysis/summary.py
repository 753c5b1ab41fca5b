"""The plain-language answer: is there a curse here, how large, how sure, and what gives it back?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from chorus.analysis.basis import Basis
from chorus.analysis.bootstrap import Estimate, MeanResampler, Rng
from chorus.analysis.cautions import cautions
from chorus.analysis.comparisons import Difference, centre, difference, env_differences, normalised_matrix
from chorus.analysis.counted import many
from chorus.analysis.families import Family, find_families
from chorus.analysis.normalisation import Normalisation
from chorus.analysis.results import Results, Series, series_of
from chorus.analysis.swept import FIELDS

Asked = tuple[Series | None, Series | None]
# With fewer runs the percentile interval is clearly too narrow (docs/report.md).
ENOUGH_SEEDS = 5


@dataclass(frozen=True)
class Finding:
    """One question with its answer; `verdict` is yes, no, unsettled or missing."""

    question: str
    verdict: str
    answer: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summary:
    """What a report found, for people and for programs."""

    title: str
    out: Path | None
    runs: int
    environments: tuple[str, ...]
    scale: str
    findings: tuple[Finding, ...]
    cautions: tuple[str, ...] = field(default=())
    kind: str = "report"
    conclusion: tuple[str, ...] = ()
    """What follows from the findings: a headline, then the reasons."""


class Judge:
    """Answers the questions of the paper about one family of variants."""

    def __init__(self, results: Results, scale: Normalisation, rng: Rng) -> None:
        self.results, self.scale, self.rng = results, scale, rng
        self.resampler = MeanResampler(rng)

    def compare(self, first: Series, second: Series) -> Difference | None:
        envs = [env for env in self.results.envs_of([first, second]) if env in self.scale.envs]
        if not envs:
            return None
        return difference(self.results, first, second, envs, self.scale, self.rng)

    def level(self, series: Series, envs: Sequence[str]) -> float:
        return float(centre(envs).of(normalised_matrix(self.results, series, envs, self.scale)))

    def sentence(self, found: Difference) -> str:
        """`A scores 31 % below B: IQM 0.69 against 1.00, difference -0.31 (95 % interval -0.38 to -0.24)`."""
        base = self.level(found.second, found.envs)
        value = found.estimate.value
        # Where zero is the worst run, a share of a score says nothing.
        ratio = f"{_percent(abs(value / base))} " if base > 0 and self.scale.kind != "min-max" else ""
        place = "level with" if abs(value) < 0.005 else f"{ratio}{'above' if value > 0 else 'below'}"
        interval = (
            f" (95 % interval {found.estimate.low:+.2f} to {found.estimate.high:+.2f})"
            if found.estimate.certain
            else " (one seed: no interval)"
        )
        return (
            f"{found.first.label} scores {place} {found.second.label}: "
            f"{centre(found.envs).name} {base + value:.2f} against {base:.2f}, difference {value:+.2f}{interval}."
        )

    def count(self, found: Difference) -> tuple[str, ...]:
        """In how many environments; of one, everything has been said."""
        if len(found.envs) == 1:
            return ()
        each = env_differences(self.results, found.first, found.second, found.envs, self.scale, self.resampler)
        higher = sum(e.value > 0 for e in each.values())
        sure = sum(e.certain and (e.low > 0 or e.high < 0) for e in each.values())
        return (
            f"By environment: higher in {higher} of {len(each)} environments; "
            f"the interval excludes zero in {sure} of {len(each)}.",
        )

    def sure(self, found: Difference) -> str:
        """How sure, in words."""
        runs = found.estimate.runs
        seeds = many(runs, "seed") + (" in the environment with fewest" if len(found.envs) > 1 else "")
        if not found.estimate.certain:
            return f"There is no measure of confidence: {seeds}."
        note = f"{_percent(found.certainty)} of bootstrap resamples fall on this side of zero; {seeds}."
        if runs < ENOUGH_SEEDS:
            note += f" With fewer than {ENOUGH_SEEDS} seeds intervals are too narrow: take this as a hint."
        return note

    def evidence(self, found: Difference) -> tuple[str, ...]:
        return (*self.count(found), self.sure(found))


def verdict(found: Difference, sign: int) -> str:
    """yes when the difference has the asked-for sign and its interval excludes zero."""
    if not found.settled:
        return "unsettled"
    return "yes" if np.sign(found.estimate.value) == sign else "no"


def summarise(basis: Basis, title: str | None = None) -> Summary:
    """All that can be said in a few sentences about some runs."""
    results = basis.results
    return Summary(
        title=title or default_title(results.envs),
        out=None,
        runs=len(results.dataset.runs),
        environments=results.envs,
        scale=basis.scale.meaning,
        findings=find_findings(results, basis.scale, basis.rng),
        cautions=tuple(cautions(results, basis.scale)),
    )


def default_title(envs: Sequence[str]) -> str:
    return f"Ensembles on {envs[0]}" if len(envs) == 1 else f"Ensembles on {len(envs)} environments"


def find_findings(results: Results, scale: Normalisation, rng: Rng) -> tuple[Finding, ...]:
    """The answers, in the order a reader asks."""
    judge = Judge(results, scale, rng)
    findings: list[Finding] = []
    for family in find_families(results):
        asked = [
            curse(judge, family),
            voting(judge, family),
            cerl(judge, family),
            tandem(judge, family),
        ]
        findings += [finding for finding in asked if finding is not None]
    return tuple(findings)


def curse(judge: Judge, family: Family) -> Finding | None:
    question = "Is there a curse of diversity?"
    if family.ensemble is None:
        if family.tandem or family.cerl:
            return None
        return Finding(question, "missing", "No plain ensemble was run, so there is nothing to compare.")
    if family.single is None:
        return Finding(
            question,
            "missing",
            f"No single agent was run beside {family.ensemble.label}, so the curse cannot be measured; "
            "`chorus train double-dqn` (or `sac`) with the same environments and seeds would show it.",
        )
    found = judge.compare(Series(family.ensemble, "individual"), family.single)
    if found is None:
        return Finding(question, "missing", "The single agent and the ensemble share no environment.")
    answers = {
        "yes": "Yes: a member of the ensemble is worse than an agent on its own.",
        "no": "No: a member of the ensemble is better than an agent on its own.",
        "unsettled": "Not settled: the difference could be chance, or seeds are too few to tell.",
    }
    result = verdict(found, -1)
    details = (*judge.evidence(found), *elsewhere(judge, family, members_and_single))
    return Finding(question, result, f"{answers[result]} {judge.sentence(found)}", details)


def members_and_single(family: Family) -> Asked:
    return series_of(family.ensemble, "individual"), family.single


def votes_and_members(family: Family) -> Asked:
    return series_of(family.ensemble, "aggregate"), series_of(family.ensemble, "individual")


def cerl_and_plain(family: Family) -> Asked:
    """Only with the same settings: the nearest CERL may have another size."""
    if family.cerl is None or family.ensemble is None:
        return None, None
    mine, plain = family.cerl.traits, family.ensemble.traits
    alike = all(getattr(mine, name) == getattr(plain, name) for name in FIELDS)
    return (Series(family.cerl, "individual"), Series(family.ensemble, "individual")) if alike else (None, None)


def elsewhere(judge: Judge, family: Family, pair: Callable[[Family], Asked]) -> list[str]:
    """The same comparison for each other value of what was swept."""
    said = []
    for other in family.others:
        first, second = pair(other)
        if first and second and (found := judge.compare(first, second)):
            said.append(judge.sentence(found))
    return said


def voting(judge: Judge, family: Family) -> Finding | None:
    if family.ensemble is None:
        return None
    policies = judge.results.dataset.policies(family.ensemble)
    if "aggregate" not in policies or "individual" not in policies:
        return None
    agg, indiv = Series(family.ensemble, "aggregate"), Series(family.ensemble, "individual")
    found = judge.compare(agg, indiv)
    if found is None:
        return None
    answers = {"yes": "Voting helps.", "no": "Voting does harm.", "unsettled": "Not settled."}
    result = verdict(found, 1)
    details = judge.evidence(found)
    against = judge.compare(agg, family.single) if family.single else None
    if against:
        details = (f"Against the single agent: {judge.sentence(against)}", *details)
    details = (*details, *elsewhere(judge, family, votes_and_members))
    answer = f"{answers[result]} {judge.sentence(found)}"
    return Finding("Does acting together help?", result, answer, details)


def cerl(judge: Judge, family: Family) -> Finding | None:
    if family.cerl is None:
        return None
    question = "Does CERL help?"
    if family.ensemble is None:
        return Finding(question, "missing", f"No plain ensemble was run beside {family.cerl.label}.")
    indiv = Series(family.ensemble, "individual")
    found = judge.compare(Series(family.cerl, "individual"), indiv)
    if found is None:
        return Finding(question, "missing", "CERL and the plain ensemble share no environment.")
    answers = {
        "yes": "It helps: a member trained with CERL is better.",
        "no": "It does harm.",
        "unsettled": "Not settled.",
    }
    result = verdict(found, 1)
    details = [*recovered(judge, family, found), *judge.evidence(found)]
    together = judge.compare(Series(family.cerl, "aggregate"), Series(family.ensemble, "aggregate"))
    if together:
        details.insert(0, f"Acting together: {judge.sentence(together)}")
    details += elsewhere(judge, family, cerl_and_plain)
    return Finding(question, result, f"{answers[result]} {judge.sentence(found)}", tuple(details))


def recovered(judge: Judge, family: Family, gained: Difference) -> list[str]:
    """Which share of the lost score comes back; only where loss and gain are beyond doubt."""
    if family.single is None or family.ensemble is None or verdict(gained, 1) != "yes":
        return []
    lost = judge.compare(Series(family.ensemble, "individual"), family.single)
    if lost is None or verdict(lost, -1) != "yes" or lost.envs != gained.envs:
        return []
    return [f"It gives back {share_of_loss(gained.estimate, lost.estimate)}."]


def share_of_loss(gained: Estimate, lost: Estimate) -> str:
    """With the gain's interval; the loss is taken as estimated."""
    share, low, high = (100 * value / -lost.value for value in (gained.value, gained.low, gained.high))
    return (
        f"{share:.0f} % of what members had lost to the single agent "
        f"(95 % interval {low:.0f} to {high:.0f} %, the loss taken as estimated)"
    )


def tandem(judge: Judge, family: Family) -> Finding | None:
    if family.tandem is None:
        return None
    found = judge.compare(Series(family.tandem, "passive"), Series(family.tandem, "active"))
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


def _percent(share: float) -> str:
    """Whole percents, with a digit more where rounding would claim certainty."""
    return f"{100 * share:.1f} %" if 0.99 < share < 1 else f"{100 * share:.0f} %"
