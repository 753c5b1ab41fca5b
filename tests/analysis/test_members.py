"""What moves inside the members: the sign and size of each change, and what is not compared."""

from pathlib import Path

import pytest
from synthetic_runs import SyntheticRun

from chorus.analysis.context import make_context
from chorus.analysis.grouping import find_comparison_groups
from chorus.analysis.loading import load_runs
from chorus.analysis.members import DISAGREEMENT, OFF_POLICY, RANK, movements

ENV = "MinAtar/Breakout-v1"
LEVELS = {
    "double-dqn": (
        {"individual": 10.0},
        {RANK.metric: 100.0, OFF_POLICY.metric: 0.2, "diversity/vote_entropy/individual": 0.0},
    ),
    "bootstrapped-dqn": (
        {"individual": 7.0, "aggregate": 12.0},
        {RANK.metric: 80.0, OFF_POLICY.metric: 0.6, DISAGREEMENT.metric: 0.5},
    ),
    "cerl": (
        {"individual": 9.0, "aggregate": 13.0},
        {RANK.metric: 95.0, OFF_POLICY.metric: 0.6, DISAGREEMENT.metric: 0.4},
    ),
    "tandem": (
        {"active": 10.0, "passive": 5.0},
        {"members/effective_rank/member_0": 90.0, "members/effective_rank/member_1": 60.0},
    ),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], tuple[str, float]]:
    folder: Path = tmp_path_factory.mktemp("members")
    for preset, (level, metrics) in LEVELS.items():
        for seed in range(5):
            # Seeds differ a little, so that there are intervals.
            own = {name: value * (1 + 0.002 * seed) for name, value in metrics.items()}
            SyntheticRun(preset, ENV, seed, level, noise=0.1, metrics=own).write(folder)
    context = make_context(load_runs([folder]))
    (group,) = find_comparison_groups(context.results)
    return {(m.measure.name, m.what): (m.words, m.effect.estimate.value) for m in movements(context, group)}


def test_each_measure_rises_or_falls_as_the_runs_say(found) -> None:
    assert found["effective rank", "members − single agent"] == ("falls", pytest.approx(-20 * 1.004))
    assert found["effective rank", "CERL − plain, members"] == ("rises", pytest.approx(15 * 1.004))
    assert found["off-policy share", "members − single agent"] == ("rises", pytest.approx(0.4 * 1.004))
    assert found["off-policy share", "CERL − plain, members"] == ("hardly moves", pytest.approx(0.0))
    assert found["disagreement", "CERL − plain, members"] == ("falls", pytest.approx(-0.1 * 1.004))


def test_the_passive_member_is_compared_with_the_active_one_of_the_same_runs(found) -> None:
    assert found["effective rank", "passive − active"] == ("falls", pytest.approx(-30 * 1.004))


def test_a_single_agent_has_no_disagreement_to_be_compared_with(found) -> None:
    assert not {("disagreement", "members − single agent"), ("vote entropy", "members − single agent")} & set(found)
