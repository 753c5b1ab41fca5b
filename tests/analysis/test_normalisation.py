"""The scale is chosen by what is known, and says what it is."""

from pathlib import Path

import numpy as np
import pytest
from synthetic_runs import SyntheticRun, write_study

from chorus.analysis.loading import load_runs
from chorus.analysis.normalisation import choose_normalisation, single_agent
from chorus.analysis.results import Results
from chorus.analysis.scores import Reference
from chorus.errors import ChorusError


def test_atari_is_human_normalised(tmp_path: Path) -> None:
    SyntheticRun(env="ALE/Breakout-v5").write(tmp_path)
    scale = choose_normalisation(Results(load_runs([tmp_path])))
    assert scale.kind == "human"
    assert scale.apply("ALE/Breakout-v5", np.array([1.7, 30.5])) == pytest.approx([0.0, 1.0])


def test_minatar_is_normalised_by_the_single_agent(tmp_path: Path) -> None:
    write_study(tmp_path, seeds=1, noise=0.0, base=lambda env: 20.0)
    results = Results(load_runs([tmp_path]))
    scale = choose_normalisation(results)
    assert scale.kind == "single" and scale.axis == "score (Double DQN = 1)" and "no return at all" in scale.meaning
    assert scale.apply(results.envs[0], np.array([10.0])) == pytest.approx([0.5])  # 10 / 20
    # with a random score of 4 it is (10 - 4) / (20 - 4) = 0.375
    references = {env: Reference(4.0, None) for env in results.envs}
    scale = choose_normalisation(results, references)
    assert scale.apply(results.envs[0], np.array([10.0])) == pytest.approx([0.375]) and "random" in scale.meaning


def test_negative_returns_without_a_floor_are_min_max_normalised(tmp_path: Path) -> None:
    SyntheticRun(env="Pendulum-v1", level={"individual": -200.0}).write(tmp_path)
    SyntheticRun(env="Pendulum-v1", seed=1, level={"individual": -100.0}).write(tmp_path)
    results = Results(load_runs([tmp_path]))
    scale = choose_normalisation(results)
    assert scale.kind == "min-max"
    assert scale.apply("Pendulum-v1", np.array([-200.0, -150.0])) == pytest.approx([0.0, 0.5])
    with pytest.raises(ChorusError, match="'single' cannot be used for Pendulum-v1"):
        choose_normalisation(results, kind="single")


def test_the_single_agent_nearest_to_the_ensembles_is_the_reference(tmp_path: Path) -> None:
    for buffer in (1_000, 100_000):
        SyntheticRun(overrides={"replay.capacity": buffer}, name=f"d{buffer}").write(tmp_path)
    SyntheticRun(preset="double-dqn-mico").write(tmp_path)
    SyntheticRun(preset="bootstrapped-dqn", level={"individual": 1.0, "aggregate": 1.0}).write(tmp_path)
    results = Results(load_runs([tmp_path]))
    assert single_agent(results, results.envs[0]).label == "Double DQN, 100k buffer"
    assert single_agent(results, "absent") is None
