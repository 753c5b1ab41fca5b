"""The three normalisations, how one is chosen, and the references they need."""

from pathlib import Path

import numpy as np
import pytest
from synthetic_runs import SyntheticRun, write_study

from chorus.analysis.loading import load_runs
from chorus.analysis.normalisation import (
    Reference,
    choose_normalisation,
    linear_score,
    read_references,
    references_for,
    single_agent,
)
from chorus.analysis.results import Results
from chorus.errors import ChorusError


def test_atari_is_human_normalised(tmp_path: Path) -> None:
    SyntheticRun(env="ALE/Breakout-v5").write(tmp_path)
    chosen = choose_normalisation(Results(load_runs([tmp_path])))
    assert chosen.kind == "human"
    assert chosen.apply("ALE/Breakout-v5", np.array([1.7, 30.5])) == pytest.approx([0.0, 1.0])


def test_minatar_is_normalised_by_the_single_agent(tmp_path: Path) -> None:
    write_study(tmp_path, seeds=1, noise=0.0, base=lambda env: 20.0)
    results = Results(load_runs([tmp_path]))
    chosen = choose_normalisation(results)
    assert chosen.kind == "single" and chosen.axis == "score (Double DQN = 1)" and "no return at all" in chosen.meaning
    assert chosen.apply(results.envs[0], np.array([10.0])) == pytest.approx([0.5])  # 10 / 20
    # with a random score of 4 it is (10 - 4) / (20 - 4) = 0.375
    references = {env: Reference(4.0, None) for env in results.envs}
    chosen = choose_normalisation(results, references)
    assert chosen.apply(results.envs[0], np.array([10.0])) == pytest.approx([0.375]) and "random" in chosen.meaning


def test_negative_returns_without_a_floor_are_min_max_normalised(tmp_path: Path) -> None:
    SyntheticRun(env="Pendulum-v1", level={"individual": -200.0}).write(tmp_path)
    SyntheticRun(env="Pendulum-v1", seed=1, level={"individual": -100.0}).write(tmp_path)
    results = Results(load_runs([tmp_path]))
    chosen = choose_normalisation(results)
    assert chosen.kind == "min-max"
    assert chosen.apply("Pendulum-v1", np.array([-200.0, -150.0])) == pytest.approx([0.0, 0.5])
    with pytest.raises(ChorusError, match="'single' cannot be used for Pendulum-v1"):
        choose_normalisation(results, kind="single")


def test_the_single_agent_nearest_to_the_ensembles_is_the_reference(tmp_path: Path) -> None:
    for buffer in (10_000, 100_000):
        SyntheticRun(options={"buffer_size": buffer}, name=f"d{buffer}").write(tmp_path)
    SyntheticRun(preset="double-dqn-mico").write(tmp_path)
    SyntheticRun(preset="bootstrapped-dqn", level={"individual": 1.0, "aggregate": 1.0}).write(tmp_path)
    results = Results(load_runs([tmp_path]))
    assert single_agent(results, results.envs[0]).label == "Double DQN"
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
    found = references_for(("MinAtar/Breakout-v1", "ALE/Pong-v5", "ALE/Alien-v5", "Ant-v4"), read_references(table))
    assert found["MinAtar/Breakout-v1"] == Reference(0.5, None)
    assert found["ALE/Pong-v5"] == Reference(-21.0, 15.0)
    assert found["ALE/Alien-v5"].random == 227.8
    assert "Ant-v4" not in found


def test_bad_references_are_refused_with_a_sentence(tmp_path: Path) -> None:
    table = tmp_path / "references.csv"
    table.write_text("env,random\nPong,much\n")
    with pytest.raises(ChorusError, match="needs the columns env,random"):
        read_references(table)
    with pytest.raises(ChorusError, match="could not be read"):
        read_references(tmp_path / "absent.csv")
