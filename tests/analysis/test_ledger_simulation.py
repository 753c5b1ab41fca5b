"""Verdicts and claims are right at the stated error rate, in simulated studies whose truth is known."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from worlds import World

from chorus.analysis.findings import find_findings
from chorus.analysis.ledger.checks import combine
from chorus.analysis.ledger.table import CHECKS, all_claims
from chorus.analysis.questions import MAIN

pytestmark = pytest.mark.long
DRAWS = 12
# Claims that these worlds have no runs for: too few games (8, 41), timings (23, 24), lost lives (27), a fault (38).
# `test_ledger_claims.py` and `test_ledger_costs.py` have cases of them.
NOT_HERE = {8, 23, 24, 27, 38, 41}
# "Does not help" and "at least" are true where nothing differs.
TRUE_WITHOUT_EFFECT = {7, 25, 29, 35, 36}
# Turning every sign around does not contradict these: where nothing differed before, or either sign counts.
NO_REVERSE = {4, 5, 35, 36, 44}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(Path(tmp_path_factory.mktemp("world")))


def statuses(world: World, kind: str, spread: float) -> dict[int, Counter[str]]:
    found: dict[int, Counter[str]] = {number: Counter() for number in CHECKS}
    for draw in range(DRAWS):
        context = world.simulate(kind, np.random.default_rng([draw, len(kind)]), spread)
        for claim in all_claims():
            if claim.number in found:
                outcomes = [one for group in claim.groups for one in claim.judge(context, group)]
                found[claim.number][combine(outcomes)] += 1
    return found


def test_every_claim_agrees_where_it_is_true(world: World) -> None:
    found = statuses(world, "paper", 0.02)
    assert {number for number, counts in found.items() if counts["missing"] == DRAWS} == NOT_HERE - {8}
    judged = {number: counts for number, counts in found.items() if number not in NOT_HERE}
    assert all(counts["agrees"] >= 0.8 * DRAWS for counts in judged.values()), judged
    assert sum(counts["disagrees"] for counts in judged.values()) <= 0.05 * DRAWS * len(judged)


def test_no_claim_agrees_where_the_opposite_is_true(world: World) -> None:
    found = statuses(world, "reverse", 0.02)
    judged = {n: counts for n, counts in found.items() if n not in NOT_HERE | NO_REVERSE}
    assert sum(counts["agrees"] for counts in judged.values()) <= 0.05 * DRAWS * len(judged), judged
    assert all(counts["disagrees"] >= 0.8 * DRAWS for counts in judged.values()), judged


def test_without_differences_claims_are_settled_only_by_chance(world: World) -> None:
    found = statuses(world, "null", 0.15)
    judged = {n: counts for n, counts in found.items() if n not in NOT_HERE | TRUE_WITHOUT_EFFECT}
    assert sum(counts["agrees"] for counts in judged.values()) <= 0.05 * DRAWS * len(judged), judged
    assert sum(counts["disagrees"] for counts in judged.values()) <= 0.05 * DRAWS * len(judged), judged


@pytest.mark.parametrize(("kind", "spread"), [("paper", 0.02), ("reverse", 0.02), ("null", 0.15)])
def test_findings_are_right_at_the_stated_rate(world: World, kind: str, spread: float) -> None:
    """With differences the main verdicts are those of the truth; without, at most 5 % of all are settled."""
    wrong = asked = 0
    for draw in range(DRAWS // 3):
        for finding in find_findings(world.simulate(kind, np.random.default_rng([draw, 7]), spread)):
            # In these worlds Ensemble SAC makes up for the curse in two of four tasks: together there is no truth.
            if finding.effect is None or finding.question == f"{MAIN[2].text} (Ensemble SAC)":
                continue
            if kind == "null":
                asked += 1
                wrong += finding.verdict in ("yes", "no")
            elif finding.main and any(finding.question.startswith(pair.text) for pair in MAIN[:6]):
                asked += 1
                wrong += finding.verdict != ("yes" if kind == "paper" else "no")
    assert asked and wrong <= 0.06 * asked, (wrong, asked)
