"""The ledger: every claim with its status, effect, interval, seeds, environments and scale, as data and as Markdown."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

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
# Runs with a smaller share of their scale's steps, as those of the demo, are judged only where there are no others.
WHOLE = 0.9


class Place(NamedTuple):
    """Where a claim is judged; among several places with runs for it, at the first."""

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
    scale: str = ""
    command: str = ""
    """What would settle the claim; empty if it is settled."""
    cost: str = ""

    @property
    def words(self) -> str:
        return "shown by tests" if self.claim.tests else STATUS_WORDS[self.status]

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
        return Outcome("", self.status, envs=run[0].envs, note=note)


def evaluate(
    dataset: Dataset | None,
    settle: Settle | None = None,
    references: dict[str, Reference] | None = None,
) -> tuple[Entry, ...]:
    """The ledger of a dataset; of several scales each claim is judged at the largest that has runs for it, and
    by games of Atari and MinAtar and tasks for SAC rather than by other environments.

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
    found = [(where, tuple(claim.judge(context))) for where, context in contexts.items()]
    nowhere = Place("laptop", shortened=False, comparable=True)
    place, outcomes = next(((w, o) for w, o in found if combine(o) != "missing"), (nowhere, ()))
    status = combine(outcomes)
    entry = Entry(claim, status, outcomes, "" if status == "missing" else place.words)
    if entry.settled:
        return entry
    command, cost = settle(claim, claim.scale or place.scale, _seeds(outcomes))
    return replace(entry, command=command, cost=cost)


def _by_study(claim: Claim, scale: str, seeds: int | None) -> tuple[str, str]:
    return f"chorus reproduce {claim.studies[0]}", ""


def _seeds(outcomes: Sequence[Outcome]) -> int | None:
    """How many seeds might settle what is not settled; None if that cannot be said."""
    open_ones = [o for o in outcomes if o.status == "unsettled" and o.estimate]
    needed = [seeds_needed(o.estimate, o.distance) for o in open_ones if o.estimate and o.distance is not None]
    known = [count for count in needed if count]
    return max(known) if known and len(known) == len(open_ones) else None


def count_words(entries: Iterable[Entry]) -> str:
    """`agrees: 7, disagrees: 2, ...`."""
    counts: dict[str, int] = {}
    for entry in entries:
        counts[entry.words] = counts.get(entry.words, 0) + 1
    return ", ".join(f"{words}: {count}" for words, count in counts.items())


def effect_text(outcome: Outcome | None) -> str:
    """The number of a check, `-0.31 (-0.38 to -0.24)`, or why there is none; ratios have no sign."""
    found = outcome.estimate if outcome else None
    if outcome is None or found is None:
        return outcome.note if outcome else ""
    form = "{:.3g}" if outcome.unit.startswith("ratio") else "{:+.3g}"
    value, low, high = (form.format(number) for number in (found.value, found.low, found.high))
    return f"{value} ({low} to {high})" if found.has_interval else value


def open_commands(entries: Sequence[Entry]) -> dict[tuple[str, str], list[int]]:
    """The commands that would settle open claims, with their costs, and the numbers of the claims."""
    found: dict[tuple[str, str], list[int]] = {}
    for entry in entries:
        if entry.command:
            found.setdefault((entry.command, entry.cost), []).append(entry.claim.number)
    return found


def to_json(entries: Sequence[Entry]) -> str:
    """Strict JSON, one object per claim with all its checks."""
    return json.dumps([_plain(entry) for entry in entries], indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _plain(entry: Entry) -> dict[str, Any]:
    return {
        "number": entry.claim.number,
        "claim": entry.claim.text,
        "source": entry.claim.source,
        "status": entry.words,
        "scale": entry.scale or None,
        "note": entry.claim.note or None,
        "tests": list(entry.claim.tests),
        "studies": list(entry.claim.studies),
        "command": entry.command or None,
        "cost": entry.cost or None,
        "checks": [
            {
                "what": outcome.what,
                "status": STATUS_WORDS[outcome.status],
                "effect": _finite(outcome.estimate.value) if outcome.estimate else None,
                "interval": [_finite(outcome.estimate.low), _finite(outcome.estimate.high)]
                if outcome.estimate
                else None,
                "seeds": outcome.estimate.runs if outcome.estimate else None,
                "unit": outcome.unit or None,
                "environments": list(outcome.envs),
                "note": outcome.note or None,
            }
            for outcome in entry.outcomes
        ],
    }


def _finite(value: float) -> float | None:
    return float(f"{value:.6g}") if abs(value) < float("inf") else None


def to_markdown(entries: Sequence[Entry], made_by: str) -> str:
    """A table of all claims, then every check of those that have several."""
    lines = [
        "# The paper's claims",
        "",
        f"{count_words(entries)}. Made by `{made_by}`.",
        "",
        "| | claim | source | status | effect (95 % interval) | seeds | environments | scale | what would settle it |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for entry in entries:
        cells = [str(entry.claim.number), entry.claim.text, entry.claim.source, f"**{entry.words}**"]
        outcome = entry.deciding
        seeds = str(outcome.estimate.runs) if outcome and outcome.estimate else ""
        effect = f"{effect_text(outcome)} {outcome.unit}".strip() if outcome else ""
        proof = "; ".join(f"`{test}`" for test in entry.claim.tests)
        cost = f" ({entry.cost})" if entry.cost else ""
        settle = f"`{entry.command}`{cost}" if entry.command else proof
        envs = str(len(outcome.envs)) if outcome and outcome.envs else ""
        cells += [effect, seeds, envs, entry.scale, settle]
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    lines += ["", "## Every check", ""]
    for entry in entries:
        for outcome in entry.outcomes:
            note = f"; {outcome.note}" if outcome.note else ""
            number = f": {effect_text(outcome)}" if outcome.estimate else ""
            lines.append(f"- {entry.claim.number}. {outcome.what}: {STATUS_WORDS[outcome.status]}{number}{note}")
    return "\n".join(lines) + "\n"
