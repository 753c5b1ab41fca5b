"""At which scale and in which environments a check is judged."""

from pathlib import Path

import pytest
from ledger_entries import judged, nobody_settles
from synthetic_runs import MINATAR, SyntheticRun, write_study

from chorus.analysis.ledger import evaluate
from chorus.analysis.loading import load_runs


def test_smoke_runs_answer_nothing(tmp_path: Path) -> None:
    write_study(tmp_path, scale="smoke", iteration_steps=2_000, seeds=2)
    entries = evaluate(load_runs([tmp_path]), nobody_settles)
    assert {entry.words for entry in entries} == {"not run", "shown by tests"}


@pytest.mark.slow
def test_whole_runs_come_before_shortened_ones(tmp_path: Path) -> None:
    """5 iterations of 20,000 steps are less than the laptop scale's 500,000."""
    write_study(tmp_path / "short", iteration_steps=20_000, iterations=5)
    assert evaluate(load_runs([tmp_path / "short"]), nobody_settles)[0].scale == "laptop, shortened runs"
    write_study(tmp_path / "long")
    both = evaluate(load_runs([tmp_path]), nobody_settles)[0]
    assert both.scale == "laptop" and both.outcomes[0].estimate is not None and both.outcomes[0].estimate.runs == 5


@pytest.mark.slow
def test_a_single_longer_run_does_not_hide_what_shorter_ones_settled(tmp_path: Path) -> None:
    write_study(tmp_path / "short", iteration_steps=20_000, iterations=5)
    write_study(tmp_path / "long", seeds=1)
    found = evaluate(load_runs([tmp_path]), nobody_settles)[0]
    assert found.scale == "laptop, shortened runs" and found.status == "agrees"


def test_each_check_is_judged_where_it_has_enough_seeds(tmp_path: Path) -> None:
    """Claim 37: whole runs of MH, a first one of MICo, and many shortened ones of MICo."""
    usual = ("double-dqn", "bootstrapped-dqn")
    write_study(tmp_path / "whole", presets=(*usual, "bootstrapped-dqn-mh"), envs=MINATAR[:1])
    write_study(tmp_path / "first", presets=("bootstrapped-dqn-mico",), envs=MINATAR[:1], seeds=1)
    short = (*usual, "bootstrapped-dqn-mico", "bootstrapped-dqn-mh")
    write_study(tmp_path / "short", presets=short, envs=MINATAR[:1], iteration_steps=20_000, iterations=5)
    outcomes = {outcome.what: outcome for outcome in judged(tmp_path, 37).outcomes}
    assert outcomes["bootstrapped-dqn-mh − plain, members"].scale == "laptop"
    assert outcomes["bootstrapped-dqn-mico − plain, members"].scale == "laptop, shortened runs"
    assert outcomes["MICo − single agent"].status == "missing"


def test_a_first_seed_in_a_second_game_does_not_hide_what_many_settled_in_the_first(tmp_path: Path) -> None:
    usual = ("double-dqn", "bootstrapped-dqn")
    write_study(tmp_path / "first", presets=usual, envs=MINATAR[:1])
    write_study(tmp_path / "second", presets=usual, envs=MINATAR[1:2], seeds=1)
    found = judged(tmp_path, 1)
    assert found.status == "agrees" and {outcome.envs for outcome in found.outcomes} == {MINATAR[:1]}


def test_shortened_runs_do_not_say_how_many_whole_ones_are_needed(tmp_path: Path) -> None:
    """Three seeds leave the tandem open; how many would settle it follows from whole runs only."""

    def asked() -> set[int | None]:
        found: list[int | None] = []
        evaluate(load_runs([tmp_path]), lambda claim, scale, seeds: (found.append(seeds), ("", ""))[1])
        return set(found)

    for iterations, folder in ((5, "short"), (12, "whole")):
        for seed, passive in enumerate((8.0, 9.0, 10.2)):
            level = {"active": 10.0, "passive": passive}
            SyntheticRun("tandem", seed=seed, level=level, iterations=iterations).write(tmp_path / folder)
        assert (asked() == {None}) == (folder == "short")


@pytest.mark.slow
def test_games_and_tasks_are_judged_each_where_they_were_run(tmp_path: Path) -> None:
    """Claim 17 is about both: whole runs of the games, shortened ones of a task."""
    write_study(tmp_path / "games")
    presets = ("sac", "ensemble-sac", "ensemble-sac-cerl")
    write_study(tmp_path / "tasks", presets=presets, envs=("Hopper-v4",), iteration_steps=2_000, iterations=5)
    found = judged(tmp_path, 17)
    assert found.scale == "laptop; laptop, shortened runs"
    assert len(found.outcomes) == 6 and {outcome.envs for outcome in found.outcomes} == {MINATAR, ("Hopper-v4",)}


def test_games_decide_where_there_are_some_and_other_environments_where_there_are_none(tmp_path: Path) -> None:
    levels = {"double-dqn": 10.0, "bootstrapped-dqn": 5.0}
    for env, sign in (("MinAtar/Breakout-v1", 1), ("CartPole-v1", -1)):
        for preset, level in levels.items():
            for seed in range(5):
                levels_of = {"individual": 10 + sign * (level - 10)}
                run = SyntheticRun(preset, env, seed, levels_of, noise=0.1, planned_iterations=25)
                run.write(tmp_path / env.partition("/")[0])
    both, alone = (evaluate(load_runs([path])) for path in (tmp_path, tmp_path / "CartPole-v1"))
    assert [(e.status, e.scale) for e in (both[0], alone[0])] == [
        ("agrees", "laptop"),
        ("disagrees", "laptop, other environments"),
    ]
    assert both[0].outcomes[0].envs == ("MinAtar/Breakout-v1",)
