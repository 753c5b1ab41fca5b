"""An environment without a time limit: evaluation cuts its episodes, and says so before it starts."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from chorus.cli.outcome import announce
from chorus.config.resolution import Request, resolve
from chorus.randomness import init_key
from chorus.runs.assembly import Assembly
from chorus.runs.progress import Silent
from chorus.runs.training import evaluation_keys
from chorus.training.settings import Amount

CAP = 7


class Endless(gymnasium.Env):
    """A reward a step, for ever."""

    observation_space = spaces.Box(0, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(2, np.float32), {}

    def step(self, action):
        return np.ones(2, np.float32), 1.0, False, False, {}


class Listening(Silent):
    def __init__(self):
        self.said = []

    def say(self, message):
        self.said.append(message)


@pytest.fixture
def resolved():
    gymnasium.register("chorus_tests/Endless-v0", entry_point=Endless, disable_env_checker=True)
    found = resolve(Request(preset="double-dqn", env="chorus_tests/Endless-v0", options={"num_envs": 2}))
    evaluation = replace(found.config.evaluation, max_episode_steps=CAP)
    yield replace(found, config=replace(found.config, evaluation=evaluation))
    del gymnasium.registry["chorus_tests/Endless-v0"]


@pytest.mark.slow
def test_evaluation_cuts_endless_episodes_and_knows_they_were_cut(resolved):
    assembly = Assembly.of(resolved.config)
    params = assembly.agent.init(init_key(0)).params
    evaluator = assembly.evaluator(slots=2)
    results = evaluator.evaluate(params, "individual", evaluation_keys(0, 1, "individual"), Amount(episodes=2))
    assert [(result.length, result.episodic_return) for result in results] == [(CAP, float(CAP))] * 4
    assert all(result.bias is None for result in results), "the return of a cut episode is not its value"


def test_training_has_no_limit_it_was_not_given(resolved):
    assert resolved.spec.max_episode_steps is None and resolved.config.env.max_episode_steps is None


def test_the_cut_is_announced(resolved, tmp_path):
    progress = Listening()
    announce(resolved, tmp_path, progress)
    assert any(f"no time limit: evaluation cuts episodes after {CAP} agent steps" in line for line in progress.said)
