"""Checks: how one statement of a claim is judged by runs.

Every check measures an effect (`chorus.analysis.effects`) and gives a status. A claim of several checks agrees only if
all of them do, and disagrees if one of them does.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from chorus.analysis.bootstrap import CONFIDENCE, FEWEST_RUNS, IntervalEstimate
from chorus.analysis.context import AnalysisContext
from chorus.analysis.effects import Effect, Verdict, by_environment, measure
from chorus.analysis.ledger.evidence import Terms
from chorus.analysis.wording import plural

Status = Literal["agrees", "disagrees", "negligible", "unsettled", "missing"]
STATUS_WORDS: dict[Status, str] = {
    "agrees": "agrees",
    "disagrees": "disagrees",
    "negligible": "too small to matter",
    "unsettled": "not settled",
    "missing": "not run",
}


@dataclass(frozen=True)
class Outcome:
    """The status of a check, and the number behind it where there is one."""

    what: str
    status: Status
    estimate: IntervalEstimate | None = None
    unit: str = ""
    envs: tuple[str, ...] = ()
    note: str = ""
    p_value: float = 0.0
    """The p-value of no effect, where a disagreement rests on the sign of the effect."""
    distance: float | None = None
    """How far the estimate lies from the value that its interval must exclude; None if there is no such value."""
    scale: str = ""
    """The scale of its runs, as the ledger says it."""

    @property
    def effect(self) -> str:
        """The number, `-0.31 (-0.38 to -0.24)`; ratios have no sign. Empty where there is none."""
        found = self.estimate
        if found is None:
            return ""
        form = "{:.3g}" if self.unit.startswith("ratio") else "{:+.3g}"
        value, low, high = (form.format(number) for number in (found.value, found.low, found.high))
        return f"{value} ({low} to {high})" if found.has_interval else value

    @property
    def where(self) -> str:
        """The environment, or how many there are."""
        return self.envs[0] if len(self.envs) == 1 else plural(len(self.envs), "environment") if self.envs else ""


@dataclass(frozen=True, kw_only=True)
class Check(ABC):
    """One statement; `what` names its number."""

    what: str

    @abstractmethod
    def judge(self, context: AnalysisContext) -> Outcome: ...

    def missing(self, note: str = "") -> Outcome:
        return Outcome(self.what, "missing", note=note)


@dataclass(frozen=True, kw_only=True)
class Contrast(Check):
    """An effect with an expected sign."""

    terms: Terms | None
    sign: int = 1
    reference: int = 1
    objection: str = ""
    """Why the effect would not mean what the claim says; then nothing is settled."""

    def judge(self, context: AnalysisContext) -> Outcome:
        effect = measure(context, self.terms or (), reference=self.reference)
        if effect is None:
            return self.missing()
        if self.objection:
            return _outcome(self.what, effect, "unsettled", self.objection)
        return self.outcome(context, effect)

    def outcome(self, context: AnalysisContext, effect: Effect) -> Outcome:
        found = _outcome(self.what, effect, self.status(effect), self.note(context, effect))
        return replace(found, p_value=self.p_value(effect), distance=self.distance(effect))

    def status(self, effect: Effect) -> Status:
        return _STATUS[effect.verdict(self.sign)]

    def p_value(self, effect: Effect) -> float:
        return effect.p_value

    def distance(self, effect: Effect) -> float:
        return abs(effect.estimate.value)

    def note(self, context: AnalysisContext, effect: Effect) -> str:
        """In how many environments the effect has the expected sign."""
        if len(effect.envs) == 1:
            return ""
        each = by_environment(context, effect, reference=self.reference).values()
        fitting = sum(np.sign(one.estimate.value) == self.sign for one in each)
        return f"expected sign in {fitting} of {len(each)} environments"


_STATUS: dict[Verdict, Status] = {
    "yes": "agrees",
    "no": "disagrees",
    "negligible": "negligible",
    "unsettled": "unsettled",
    "missing": "missing",
}


@dataclass(frozen=True, kw_only=True)
class NoGain(Contrast):
    """Something is said not to help: agrees if a gain above the margin is excluded."""

    def status(self, effect: Effect) -> Status:
        found, margin = effect.estimate, effect.margin or 0.0
        if not found.has_interval or found.runs < FEWEST_RUNS:
            return "unsettled"
        return "agrees" if found.high <= margin else "disagrees" if found.low > 0 else "unsettled"

    def distance(self, effect: Effect) -> float:
        return max(abs(effect.estimate.value), (effect.margin or 0.0) - effect.estimate.value)


@dataclass(frozen=True, kw_only=True)
class NoEffect(Contrast):
    """Something is said to change nothing: agrees if an effect beyond the margin is excluded on either side."""

    def status(self, effect: Effect) -> Status:
        found, margin = effect.estimate, effect.margin or 0.0
        if not found.has_interval or found.runs < FEWEST_RUNS:
            return "unsettled"
        if -margin <= found.low and found.high <= margin:
            return "agrees"
        return "disagrees" if found.low > margin or found.high < -margin else "unsettled"

    def distance(self, effect: Effect) -> float:
        return abs(abs(effect.estimate.value) - (effect.margin or 0.0))


@dataclass(frozen=True, kw_only=True)
class AtLeast(Contrast):
    """An effect is said to be no worse than zero: agrees if it is settled to be above minus the margin."""

    def status(self, effect: Effect) -> Status:
        found, margin = effect.estimate, effect.margin or 0.0
        if not found.has_interval or found.runs < FEWEST_RUNS:
            return "unsettled"
        return "agrees" if found.low > -margin else "disagrees" if found.high < -margin else "unsettled"

    def distance(self, effect: Effect) -> float:
        return abs(effect.estimate.value + (effect.margin or 0.0))


@dataclass(frozen=True, kw_only=True)
class Differs(Contrast):
    """Something is said to matter, in either direction."""

    def status(self, effect: Effect) -> Status:
        answers: dict[Verdict, Status] = {"yes": "agrees", "no": "agrees", "negligible": "disagrees"}
        return answers.get(effect.verdict(self.sign), "unsettled")

    def p_value(self, effect: Effect) -> float:
        """It disagrees where the effect is close to zero, which no p-value of zero effect can show."""
        return 0.0


@dataclass(frozen=True, kw_only=True)
class InMost(Contrast):
    """An effect is said to have a sign in at least this share of the environments."""

    share: float

    def outcome(self, context: AnalysisContext, effect: Effect) -> Outcome:
        each = by_environment(context, effect, reference=self.reference)
        verdicts = [one.verdict(self.sign) for one in each.values()]
        needed = int(np.ceil(self.share * len(verdicts)))
        yes, possible = verdicts.count("yes"), verdicts.count("yes") + verdicts.count("unsettled")
        status: Status = "agrees" if yes >= needed else "disagrees" if possible < needed else "unsettled"
        note = f"settled in {yes} of {plural(len(verdicts), 'environment')}, {needed} needed"
        return _outcome(self.what, effect, status, note)


@dataclass(frozen=True, kw_only=True)
class SomeNotAll(Contrast):
    """An effect is said to be at least zero in some environments and below it in others."""

    def outcome(self, context: AnalysisContext, effect: Effect) -> Outcome:
        if len(effect.envs) < 2:
            return _outcome(self.what, effect, "unsettled", "it takes at least two environments")
        verdicts = [one.verdict(1) for one in by_environment(context, effect).values()]
        reached, lower = verdicts.count("yes") + verdicts.count("negligible"), verdicts.count("no")
        unsettled = "unsettled" in verdicts
        status: Status = "agrees" if reached and lower else "unsettled" if unsettled else "disagrees"
        return _outcome(self.what, effect, status, f"reached in {reached}, missed in {lower} of {len(verdicts)}")


@dataclass(frozen=True, kw_only=True)
class OnlyWith(Contrast):
    """In most environments in which `given` is positive, the effect is said to have its sign."""

    given: Terms | None
    fewest: int = 2

    def outcome(self, context: AnalysisContext, effect: Effect) -> Outcome:
        condition = measure(context, self.given or ())
        if condition is None:
            return self.missing()
        gains = by_environment(context, condition)
        where = tuple(env for env in effect.envs if env in gains and gains[env].verdict(1) == "yes")
        there = measure(context, effect.terms, reference=self.reference, envs=where) if where else None
        if there is None:
            return _outcome(self.what, effect, "unsettled", "it applies in no environment")
        verdicts = [one.verdict(self.sign) for one in by_environment(context, there).values()]
        yes, no = verdicts.count("yes"), verdicts.count("no") + verdicts.count("negligible")
        half = len(verdicts) / 2
        status: Status = "agrees" if yes > half else "disagrees" if no >= half else "unsettled"
        note = f"in {yes} of {plural(len(verdicts), 'environment')} where it applies"
        if len(verdicts) < self.fewest:
            return _outcome(self.what, there, "unsettled", f"{note}; it takes at least {self.fewest}")
        return _outcome(self.what, there, status, note)


def combine(outcomes: Sequence[Outcome]) -> Status:
    """The status of a claim: agrees if all checks do, disagrees if one does.

    The more checks, the more chances that one disagrees by chance: its p-value must hold for the number of checks.
    """
    found = {outcome.status for outcome in outcomes}
    if found == {"missing"} or not found:
        return "missing"
    against = [outcome for outcome in outcomes if outcome.status == "disagrees"]
    if any(outcome.p_value * len(outcomes) < 1 - CONFIDENCE for outcome in against):
        return "disagrees"
    if against or found & {"missing", "unsettled"}:
        return "unsettled"
    return "negligible" if "negligible" in found else "agrees"


def _outcome(what: str, effect: Effect, status: Status, note: str = "") -> Outcome:
    return Outcome(what, status, effect.estimate, effect.unit, effect.envs, note)
