"""The ledger: every claim with its status, effect, interval, seeds, environments and scale."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from chorus.analysis.bootstrap import FEWEST_RUNS
from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.ledger.checks import STATUS_WORDS, Outcome, Status, combine
from chorus.analysis.ledger.table import Claim, all_claims
from chorus.analysis.loading import Dataset, select_runs
from chorus.analysis.normalisation import Reference
from chorus.analysis.power import seeds_needed
from chorus.analysis.variants import section
from chorus.envs.atari_games import is_atari
from chorus.runs.logs import Run

# At the smoke scale nothing is learnt, so its runs answer nothing.
SCALES: tuple[Literal["paper", "laptop"], ...] = ("paper", "laptop")
TOTAL_STEPS = "schedule.total_steps"
# Runs with a smaller share of their scale's steps, as those of the demo, come after the others.
WHOLE = 0.9


class Place(NamedTuple):
    """Where a check is judged; among several places with enough seeds for it, at the first."""

    scale: Literal["paper", "laptop"]
    shortened: bool
    comparable: bool

    @property
    def words(self) -> str:
        notes = ["shortened runs"] * self.shortened + ["other environments"] * (not self.comparable)
        return ", ".join([self.scale, *notes])

    def select(self, dataset: Dataset) -> Dataset | None:
        """The runs at this place; None if there are none."""

        def keep(run: Run) -> bool:
            kind = is_shortened(run), is_comparable(run)
            return run.config.get("scale") == self.scale and kind == (self.shortened, self.comparable)

        return select_runs(dataset, keep) if any(map(keep, dataset.runs)) else None


Settle = Callable[[Claim, Any, int | None], tuple[str, str]]


@dataclass(frozen=True)
class Entry:
    """One claim and what the runs say about it; structural claims are shown by tests."""

    claim: Claim
    status: Status
    outcomes: tuple[Outcome, ...] = ()
    command: str = ""
    """What would settle the claim; empty if it is settled."""
    cost: str = ""

    @property
    def words(self) -> str:
        return "shown by tests" if self.claim.tests else STATUS_WORDS[self.status]

    @property
    def scale(self) -> str:
        """Where its checks were judged."""
        return "; ".join(dict.fromkeys(o.scale for o in self.outcomes if o.status != "missing"))

    @property
    def settled(self) -> bool:
        return self.status not in ("unsettled", "missing")

    @property
    def deciding(self) -> Outcome | None:
        """The check that decides the status; where it is open only because checks were not run, how many were not."""
        run = [outcome for outcome in self.outcomes if outcome.status != "missing"]
        found = next((o for status in (self.status, "disagrees") for o in run if o.status == status), None)
        if found or not run:
            return found
        note = f"{len(self.outcomes) - len(run)} of {len(self.outcomes)} checks were not run"
        return Outcome("", self.status, envs=run[0].envs, note=note, scale=self.scale)


def evaluate(
    dataset: Dataset | None,
    settle: Settle | None = None,
    references: dict[str, Reference] | None = None,
) -> tuple[Entry, ...]:
    """The ledger of a dataset; of several scales each check is judged at the largest that has three seeds for it (if
    none has, at the largest that has runs), games and tasks apart, and by games of Atari and MinAtar and tasks for SAC
    rather than by other environments.

    `settle` gives the command that would settle a claim at a scale, with this many seeds, and its cost; without it the
    command is that of the claim's study.
    """
    # Other environments are judged only where they are all there is.
    comparable = dataset is None or any(
        run.config.get("scale") in SCALES and is_comparable(run) for run in dataset.runs
    )
    contexts = {
        Place(scale, shortened, comparable): make_context(own, references=references)
        for scale in SCALES
        for shortened in (False, True)
        if (own := Place(scale, shortened, comparable).select(dataset) if dataset else None)
    }
    return tuple(_entry(claim, contexts, settle or _by_study) for claim in all_claims())


def is_comparable(run: Run) -> bool:
    """Whether a run's environment is of the paper's kinds or stands for one: a game of Atari or MinAtar, or a task for
    SAC. What is found in a DeepSea or a CartPole says nothing of games."""
    return is_atari(run.env) or run.env.startswith("MinAtar/") or section(run.meta, "identity").get("group") == "sac"


def is_shortened(run: Run) -> bool:
    """Whether a run has clearly fewer steps than its scale, by what it recorded."""
    recorded = section(section(section(run.meta, "identity"), "settings"), TOTAL_STEPS)
    steps, usual = recorded.get("value"), recorded.get("default")
    return isinstance(steps, int) and isinstance(usual, int) and steps < WHOLE * usual


def _entry(claim: Claim, contexts: Mapping[Place, AnalysisContext], settle: Settle) -> Entry:
    if claim.tests:
        return Entry(claim, "agrees")
    found = [judged for group in claim.groups for judged in _judge(claim, group, contexts)]
    run = [(place, outcome) for place, outcome in found if outcome.status != "missing"]
    outcomes = tuple(outcome for _, outcome in found) if run else ()
    entry = Entry(claim, combine(outcomes), outcomes)
    if entry.settled:
        return entry
    scale = next((place.scale for place, outcome in (*_unsettled(run), *run)), "laptop")
    # Shortened runs do not say how many whole ones are needed.
    whole = [outcome for place, outcome in _unsettled(run) if place.scale == scale and not place.shortened]
    command, cost = settle(claim, claim.scale or scale, _seeds(whole))
    return replace(entry, command=command, cost=cost)


def _judge(claim: Claim, group: str, contexts: Mapping[Place, AnalysisContext]) -> list[tuple[Place, Outcome]]:
    """Each check of a group of algorithms at the first place with enough seeds for it, or else at the first with any:
    one run more at a larger scale must not hide what many seeds at a smaller one have settled."""
    everywhere = (
        [(place, replace(outcome, scale=place.words)) for outcome in claim.judge(context, group)]
        for place, context in contexts.items()
    )
    return [_with_objections(min(same, key=_shortage), same) for same in zip(*everywhere, strict=True)]


def _with_objections(chosen: tuple[Place, Outcome], same: Sequence[tuple[Place, Outcome]]) -> tuple[Place, Outcome]:
    """A check that disagrees at another place must not be hidden by the place that decides."""
    place, outcome = chosen
    against = [other for _, other in same if other.status == "disagrees" and outcome.status != "disagrees"]
    notes = [f"disagrees in {o.where} ({o.scale}): {o.effect}" for o in against]
    return place, replace(outcome, note="; ".join(filter(None, [outcome.note, *notes])))


def _shortage(judged: tuple[Place, Outcome]) -> int:
    """0 with enough seeds, 1 with too few, 2 with none."""
    found = judged[1]
    if found.status == "missing":
        return 2
    return 0 if found.estimate and found.estimate.runs >= FEWEST_RUNS else 1


def _unsettled(judged: Sequence[tuple[Place, Outcome]]) -> list[tuple[Place, Outcome]]:
    return [(place, outcome) for place, outcome in judged if outcome.status == "unsettled"]


def _by_study(claim: Claim, scale: str, seeds: int | None) -> tuple[str, str]:
    more = "" if scale == "laptop" else f" --scale {scale}"
    return f"chorus reproduce {claim.studies[0]}{more}", ""


def _seeds(outcomes: Sequence[Outcome]) -> int | None:
    """How many seeds might settle these outcomes; None if that cannot be said."""
    needed = [
        None if outcome.distance is None else seeds_needed(outcome.estimate, outcome.distance)
        for outcome in outcomes
        if outcome.estimate
    ]
    known = [count for count in needed if count]
    return max(known) if known and len(known) == len(needed) else None
