"""The ledger written down: as JSON, as tables of Markdown, and in sentences."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from chorus.analysis import markdown
from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.ledger.checks import STATUS_WORDS, Outcome, Status
from chorus.analysis.ledger.entries import Entry
from chorus.analysis.wording import seed_count, seeds_of

# Headings of the claims by their statuses, in this order.
_HEADINGS: dict[Status, str] = {
    "agrees": "Agrees with the paper",
    "disagrees": "Does not agree with the paper",
    "negligible": "Too small to matter",
    "unsettled": "Not settled, and what is excluded",
    "missing": "Not run",
}


def count_words(entries: Iterable[Entry]) -> str:
    """`agrees: 7, disagrees: 2, ...`."""
    counts: dict[str, int] = {}
    for entry in entries:
        counts[entry.words] = counts.get(entry.words, 0) + 1
    return ", ".join(f"{words}: {count}" for words, count in counts.items())


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
                "most_seeds": (outcome.estimate.most_runs or outcome.estimate.runs) if outcome.estimate else None,
                "unit": outcome.unit or None,
                "environments": list(outcome.envs),
                "scale": None if outcome.status == "missing" else outcome.scale,
                "note": outcome.note or None,
            }
            for outcome in entry.outcomes
        ],
    }


def _finite(value: float) -> float | None:
    return float(f"{value:.6g}") if abs(value) < float("inf") else None


def to_markdown(entries: Sequence[Entry], made_by: str) -> str:
    """A page: a table of all claims, then every check."""
    return f"# The paper's claims\n\n{count_words(entries)}. Made by `{made_by}`.\n\n{all_claims_text(entries)}\n"


def all_claims_text(entries: Sequence[Entry]) -> str:
    """The table of all claims, then every check of those that were run."""
    head = ("", "claim", "source", "status", "effect (95 % interval)", "seeds", "environments", "scale")
    checks = [line for entry in entries for line in _check_lines(entry)]
    rows = [_claim_cells(entry) for entry in entries]
    return "\n".join([markdown.table((*head, "what would settle it"), rows), "", "## Every check", "", *checks])


def _claim_cells(entry: Entry) -> list[str]:
    outcome = entry.deciding
    effect = _effect_and_note(outcome) if outcome else ""
    seeds = seed_count(outcome.estimate) if outcome and outcome.estimate else ""
    envs = outcome.where if outcome else ""
    cost = f" ({entry.cost})" if entry.cost else ""
    settle = f"`{entry.command}`{cost}" if entry.command else "; ".join(f"`{test}`" for test in entry.claim.tests)
    what = [str(entry.claim.number), entry.claim.text, entry.claim.source, f"**{entry.words}**"]
    scale = outcome.scale if outcome else ""
    return [*what, effect, seeds, envs, scale, settle]


def _check_lines(entry: Entry) -> list[str]:
    return [
        f"- {entry.claim.number}. {outcome.what}: {STATUS_WORDS[outcome.status]}"
        + (
            f": {outcome.effect} ({', '.join(filter(None, [outcome.where, outcome.scale]))})"
            if outcome.estimate
            else ""
        )
        + (f"; {outcome.note}" if outcome.note else "")
        for outcome in entry.outcomes
    ]


def in_short(entries: Sequence[Entry]) -> str:
    """The claims that runs can judge, by outcome, a line each."""
    lines = []
    for status, heading in _HEADINGS.items():
        own = [entry for entry in entries if entry.status == status and not entry.claim.tests]
        if own:
            lines += [f"### {heading}", "", *(f"- {_sentence(entry)}" for entry in own), ""]
    return "\n".join(lines)


def _sentence(entry: Entry) -> str:
    """The claim with the number that decides it; what is not settled has the effects that its interval excludes."""
    outcome = entry.deciding
    head = f"**{entry.claim.number}.** {entry.claim.text}"
    if outcome is None:
        return f"{head}: `{entry.command}`" if entry.command else head
    seeds = seeds_of(outcome.estimate) if outcome.estimate else ""
    basis = ", ".join(filter(None, [seeds, outcome.where, outcome.scale]))
    what = f". *{outcome.what}*: " if outcome.what and outcome.estimate else ": "
    said = f"{head}{what}{_effect_and_note(outcome)}{f' ({basis})' if basis else ''}"
    if entry.status == "unsettled" and outcome.estimate and not outcome.estimate.settled:
        said += f"; excluded: {excluded(outcome.estimate, outcome.unit)}"
    return f"{said}. Note: {entry.claim.note}" if entry.claim.note else said


def _effect_and_note(outcome: Outcome) -> str:
    """The number with its unit, and what else decides."""
    return "; ".join(
        filter(None, [f"{outcome.effect} {outcome.unit}".strip() if outcome.estimate else "", outcome.note])
    )


def excluded(found: IntervalEstimate, unit: str = "") -> str:
    """The effects that an interval leaves no room for; ratios have no sign."""
    if not found.has_interval:
        return "one seed excludes nothing"
    sign = "" if unit.startswith("ratio") else "+"
    low, high = (float(f"{end:.2g}") for end in (found.low, found.high))
    return f"below {low:{sign}g} and above {high:{sign}g}"
