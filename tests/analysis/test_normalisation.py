"""The three normalisations, how one is chosen, and the references they need."""

import csv
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from benchmarks.random_scores import GYMNASIUM
from synthetic_runs import MINATAR, SyntheticRun, write_study

from chorus.analysis.context import make_context
from chorus.analysis.contrasts import gains
from chorus.analysis.grouping import find_comparison_groups, pairs_of_interest
from chorus.analysis.loading import load_runs
from chorus.analysis.normalisation import (
    Reference,
    choose_normalisation,
    linear_score,
    random_scores,
    read_references,
    references_for,
    single_agent,
)
from chorus.analysis.report.sections import make_sections
from chorus.analysis.results import Results
from chorus.analysis.warnings import find_warnings
from chorus.envs.minatar import GAMES
from chorus.errors import ChorusError


@pytest.mark.parametrize(
    ("runs", "kinds"),
    [
        ([("double-dqn", "DeepSea-5-v0"), ("double-dqn", "MinAtar/Asterix-v1")], "DeepSea-5-v0; MinAtar/Asterix-v1."),
        ([("double-dqn", "Acrobot-v1"), ("double-dqn", "DeepSea-5-v0")], "Acrobot-v1; DeepSea-5-v0."),
        ([("double-dqn", "MinAtar/Breakout-v1"), ("double-dqn", "MinAtar/Asterix-v1")], ""),
        ([("double-dqn", "MinAtar/Breakout-v1"), ("sac", "Hopper-v4")], ""),
    ],
)
def test_environments_of_different_kinds_are_averaged_with_a_warning(tmp_path: Path, runs: list, kinds: str) -> None:
    for preset, env in runs:
        SyntheticRun(preset, env).write(tmp_path)
    found = [text for text in find_warnings(make_context(load_runs([tmp_path]))) if "different kinds" in text]
    assert [kinds in text for text in found] == [True] * bool(kinds)


def test_atari_is_human_normalised(tmp_path: Path) -> None:
    SyntheticRun(env="ALE/Breakout-v5").write(tmp_path)
    chosen = choose_normalisation(Results(load_runs([tmp_path])))
    assert chosen.kind == "human"
    assert chosen.apply("ALE/Breakout-v5", np.array([1.7, 30.5])) == pytest.approx([0.0, 1.0])


def test_minatar_is_normalised_by_the_single_agent(tmp_path: Path) -> None:
    write_study(tmp_path, seeds=1, noise=0.0, base=lambda env: 20.0)
    results = Results(load_runs([tmp_path]))
    chosen = choose_normalisation(results)
    assert chosen.kind == "single" and chosen.axis == "score (Double DQN = 1)"
    assert chosen.meaning == "0 is a random policy, 1 the mean final score of Double DQN"
    # Asterix has a measured random score of 0.485: (10 - 0.485) / (20 - 0.485)
    assert chosen.apply("MinAtar/Asterix-v1", np.array([10.0])) == pytest.approx([9.515 / 19.515])
    # with a random score of 4 it is (10 - 4) / (20 - 4) = 0.375
    references = {env: Reference(4.0, None) for env in results.envs}
    chosen = choose_normalisation(results, references)
    assert chosen.apply(results.envs[0], np.array([10.0])) == pytest.approx([0.375]) and "random" in chosen.meaning


OWN = "Own/Task-v0"


def test_negative_returns_without_a_random_score_are_min_max_normalised_and_it_says_why(tmp_path: Path) -> None:
    SyntheticRun(env=OWN, level={"individual": -200.0}).write(tmp_path)
    SyntheticRun(env=OWN, seed=1, level={"individual": -100.0}).write(tmp_path)
    results = Results(load_runs([tmp_path]))
    chosen = choose_normalisation(results)
    assert chosen.kind == "min-max"
    assert f"{OWN}: Double DQN scores -150, not above zero, and the random score is unknown" in chosen.meaning
    assert chosen.apply(OWN, np.array([-200.0, -150.0])) == pytest.approx([0.0, 0.5])
    with pytest.raises(ChorusError, match=f"'single' cannot be used for {OWN}"):
        choose_normalisation(results, kind="single")
    # With a random score of -350 the single agent's -150 is 1: (-250 + 350) / (-150 + 350) = 1/2
    given = choose_normalisation(results, {OWN: Reference(-350.0, None)})
    assert given.kind == "single" and given.apply(OWN, np.array([-250.0])) == pytest.approx([0.5])


@pytest.mark.parametrize("env", ["HalfCheetah-v4", "Pendulum-v1", "Acrobot-v1"])
def test_a_measured_random_score_makes_negative_returns_comparable(tmp_path: Path, env: str) -> None:
    floor = random_scores()[env]
    levels = {"individual": floor + 200.0}
    SyntheticRun(preset="sac", env=env, level=levels, identity={"role": "single"}).write(tmp_path)
    chosen = choose_normalisation(Results(load_runs([tmp_path])))
    assert chosen.kind == "single" and "0 is a random policy" in chosen.meaning
    assert chosen.apply(env, np.array([floor, floor + 100.0])) == pytest.approx([0.0, 0.5])


def test_measured_random_scores_say_how_they_were_measured() -> None:
    rows = list(csv.DictReader(files("chorus.data").joinpath("random_scores.csv").read_text().splitlines()))
    assert {row["env"] for row in rows} == {*GAMES, *GYMNASIUM}
    assert all(int(row["episodes"]) == 1_000 and float(row["standard_error"]) >= 0 for row in rows)
    breakout = "MinAtar/Breakout-v1"
    assert references_for((breakout,))[breakout] == Reference(random_scores()[breakout], None)


def test_one_negative_run_of_another_algorithm_changes_no_normalisation(tmp_path: Path) -> None:
    write_study(tmp_path, presets=("double-dqn", "bootstrapped-dqn"), envs=(OWN, *MINATAR), seeds=2)
    before = choose_normalisation(Results(load_runs([tmp_path])))
    levels = {"individual": -500.0, "aggregate": -500.0}
    SyntheticRun(preset="bootstrapped-dqn", env=OWN, seed=9, level=levels).write(tmp_path)
    after = choose_normalisation(Results(load_runs([tmp_path])))
    assert (after.kind, after.envs, after.meaning) == (before.kind, before.envs, before.meaning)
    assert after.kind == "single" and after.envs == tuple(sorted((OWN, *MINATAR)))
    assert after.apply(OWN, np.array([3.0])) == before.apply(OWN, np.array([3.0]))
    assert f"(a return of zero in {OWN})" in after.meaning


@pytest.mark.slow
def test_an_environment_that_cannot_be_normalised_is_left_out_with_the_reason_in_every_caption(tmp_path: Path) -> None:
    bad = MINATAR[0]
    write_study(tmp_path, base=lambda env: 0.1 if env == bad else 10.0, noise=0.01, seeds=3)
    context = make_context(load_runs([tmp_path]))
    assert context.normalisation.kind == "single" and bad not in context.envs and len(context.envs) == 2
    drawn = {panel.name: panel.drawing for section in make_sections(context) for panel in section.panels}
    shown = [name for name in drawn if name.startswith(("gains", "gaps"))]
    for name in ("aggregate-curves", "final-scores", "profiles", "probabilities", *shown):
        caption = drawn[name].caption
        assert f"Left out: {bad} (Double DQN scores 0.1" in caption, name
        assert "not above a random policy's 0.485)" in caption, name
    assert any(f"{bad}: Double DQN scores" in warning for warning in find_warnings(context))


def test_captions_name_environments_without_runs_and_runs_that_did_not_end(tmp_path: Path) -> None:
    write_study(tmp_path, presets=("double-dqn", "bootstrapped-dqn"), envs=MINATAR[:2], seeds=3)
    SyntheticRun(env=MINATAR[2]).write(tmp_path)
    SyntheticRun(env=MINATAR[0], seed=8, state="failed", iterations=4, planned_iterations=12).write(tmp_path)
    context = make_context(load_runs([tmp_path]))
    pair = pairs_of_interest(find_comparison_groups(context.results)[0])[0]
    caption = gains(context, [pair]).caption
    assert f"Left out: {MINATAR[2]} (no evaluation of Bootstrapped DQN (indiv.))." in caption
    assert "Final scores leave out 1 run that did not end." in caption


def test_the_single_agent_with_default_settings_is_the_reference_and_is_named(tmp_path: Path) -> None:
    # The smaller buffer has more runs, comes first in the alphabet, and is the ensemble's buffer.
    for seed in range(3):
        options = {"buffer_size": 10_000}
        SyntheticRun(seed=seed, options=options, level={"individual": 5.0}, name=f"a{seed}").write(tmp_path)
        levels = {"individual": 1.0, "aggregate": 1.0}
        SyntheticRun(preset="bootstrapped-dqn", seed=seed, options=options, level=levels).write(tmp_path)
    SyntheticRun(level={"individual": 10.0}, name="z").write(tmp_path)
    mico = {"role": "single"}
    SyntheticRun(preset="double-dqn-mico", level={"individual": 20.0}, identity=mico).write(tmp_path)
    results = Results(load_runs([tmp_path]))
    chosen = choose_normalisation(results)
    assert single_agent(results, results.envs[0]).label == "Double DQN"
    assert chosen.meaning.endswith("1 the mean final score of Double DQN") and "(Double DQN = 1)" in chosen.axis
    assert chosen.apply(results.envs[0], np.array([10.0])) == pytest.approx([1.0])
    assert single_agent(results, "absent") is None


def test_scores_lie_on_the_line_through_both_references() -> None:
    # (12 - 2) / (22 - 2) = 1/2
    assert linear_score([2.0, 12.0, 42.0], 2.0, 22.0) == pytest.approx([0.0, 0.5, 2.0])
    with pytest.raises(ValueError, match=r"reference 1.0 must lie above the floor 2.0"):
        linear_score([1.0], 2.0, 1.0)


def test_equal_returns_are_zero_between_worst_and_best(tmp_path: Path) -> None:
    SyntheticRun(env="Pendulum-v1", level={"individual": -3.0}).write(tmp_path)
    chosen = choose_normalisation(Results(load_runs([tmp_path])), kind="min-max")
    assert chosen.apply("Pendulum-v1", np.array([-3.0])) == pytest.approx([0.0])


def test_references_can_be_given(tmp_path: Path) -> None:
    table = tmp_path / "references.csv"
    table.write_text("env,random,human\nMinAtar/Breakout-v1,0.5,\nALE/Pong-v5,-21,15\n")
    found = references_for(("MinAtar/Breakout-v1", "ALE/Pong-v5", "ALE/Alien-v5", OWN), read_references(table))
    assert found["MinAtar/Breakout-v1"] == Reference(0.5, None)
    assert found["ALE/Pong-v5"] == Reference(-21.0, 15.0)
    assert found["ALE/Alien-v5"].random == 227.8
    assert OWN not in found


def test_bad_references_are_refused_with_a_sentence(tmp_path: Path) -> None:
    table = tmp_path / "references.csv"
    table.write_text("env,random\nPong,much\n")
    with pytest.raises(ChorusError, match="needs the columns env,random"):
        read_references(table)
    with pytest.raises(ChorusError, match="could not be read"):
        read_references(tmp_path / "absent.csv")
