"""`train bootstrapped-dqn --env ALE/Breakout-v5 --scale paper` is the paper's configuration, number by number."""

from dataclasses import replace

import pytest

from chorus.agents.optimizers import Adam, CentredRMSProp
from chorus.config.identity import run_name
from chorus.config.resolution import Request, resolve
from chorus.envs.atari import AtariSettings
from chorus.networks.layers import VarianceScaled
from chorus.networks.torsos import nature
from chorus.runs.assembly import Assembly
from chorus.runs.resources import ring_layout
from chorus.training.settings import Amount


@pytest.fixture(scope="module")
def resolved():
    return resolve(Request(preset="bootstrapped-dqn", env="ALE/Breakout-v5", scale="paper"))


def test_the_game(resolved):
    env, spec = resolved.config.env, resolved.spec
    assert (env.num_envs, env.atari) == (1, AtariSettings())
    assert env.atari.sticky_actions == env.atari.noop_max == 0 and not env.atari.terminal_on_life_loss
    # 108,000 frames, four an agent step.
    assert (spec.action_repeat, spec.max_episode_steps) == (4, 108_000 // 4)
    assert (spec.actions.count, spec.observation_shape) == (4, (4, 84, 84))


def test_the_learner(resolved):
    agent, replay = resolved.config.agent, resolved.config.replay
    assert (agent.members, agent.shared_layers, agent.torso) == (10, 0, nature())
    assert (agent.discount, agent.reward_clip, agent.loss.threshold) == (0.99, 1.0, 1.0)
    assert agent.optimizer == CentredRMSProp(learning_rate=2.5e-4, decay=0.95, epsilon=0.01 / 32**2)
    assert (replay.capacity, replay.batch_size, replay.n_step) == (1_000_000, 32, 1)


def test_the_schedules(resolved):
    config, schedule = resolved.config, resolved.config.schedule
    assert (schedule.total_steps, schedule.iteration_steps, schedule.iterations) == (50_000_000, 250_000, 200)
    assert (schedule.learning_starts, schedule.update_period_steps) == (50_000, 4)
    # The target network is copied each 30,000 agent steps.
    assert config.agent.target_period_updates * schedule.update_period_steps == 30_000
    values = [float(config.exploration(step)) for step in (50_000, 300_000, 550_000, 1_050_000)]
    assert values == pytest.approx([1.0, 0.7525, 0.505, 0.01])
    evaluation = config.evaluation
    assert (evaluation.epsilon, evaluation.slots) == (0.01, 1)
    assert evaluation.amount == Amount(episodes=1, steps=125_000)
    assert list(evaluation.policies) == ["individual", "aggregate"]


def test_one_game_ends_iterations_with_an_episode_and_several_do_not(resolved):
    alone = Assembly.of(resolved.config)
    assert alone.loop().whole_episodes
    # The ring keeps two iterations and their longest episodes.
    assert ring_layout(alone.config, alone.spec).iteration_steps == 250_000 + 27_000
    request = Request(preset="bootstrapped-dqn", env="ALE/Breakout-v5", scale="paper", options={"num_envs": 8})
    eight = Assembly.of(resolve(request).config)
    assert not eight.loop().whole_episodes and ring_layout(eight.config, eight.spec).iteration_steps == 250_000
    assert eight.config.schedule.update_period_steps == 4, "the paper's replay ratio"


def test_the_other_name_of_a_game_is_the_same_run(resolved):
    other = resolve(Request(preset="bootstrapped-dqn", env="BreakoutNoFrameskip-v4", scale="paper"))
    assert other.config == resolved.config
    assert run_name(other) == run_name(resolved)


@pytest.mark.parametrize("preset", ["qr-dqn", "bootstrapped-qr-dqn"])
def test_quantile_agents_have_dopamines_settings(preset):
    config = resolve(Request(preset=preset, env="ALE/Breakout-v5", scale="paper")).config
    assert config.env.atari == AtariSettings(sticky_actions=0.25)
    assert config.evaluation.epsilon == 0.001
    assert config.agent.optimizer == Adam(learning_rate=5e-5, epsilon=3.125e-4)
    assert (config.agent.estimate.quantiles, config.agent.loss.kappa, config.replay.n_step) == (200, 1.0, 3)
    assert config.agent.target_period_updates * config.schedule.update_period_steps == 8_000
    assert (config.schedule.learning_starts, config.exploration.decay_steps) == (20_000, 250_000)
    assert (config.agent.torso, config.agent.initialization) == (replace(nature(), padding="same"), VarianceScaled())
    without = resolve(Request(preset=preset, env="ALE/Breakout-v5", scale="paper", options={"sticky_actions": 0.0}))
    assert without.config.env.atari == AtariSettings()


@pytest.mark.parametrize("env", ["MinAtar/Breakout-v1", "CartPole-v1"])
def test_quantile_agents_elsewhere_leave_the_environment_as_it_is(env):
    for scale in ("smoke", "laptop", "paper"):
        assert resolve(Request(preset="qr-dqn", env=env, scale=scale)).config.env.atari is None


def test_the_papers_table_differs_in_two_numbers(resolved):
    table = resolve(
        Request(preset="bootstrapped-dqn", env="ALE/Breakout-v5", scale="paper", hyperparameters="table")
    ).config
    assert table.agent.optimizer.epsilon == 1 / 32**2
    assert table.exploration.decay_steps == 16_000_000
