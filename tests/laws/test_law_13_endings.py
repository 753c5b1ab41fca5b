"""Law 13: termination gives target = reward; truncation bootstraps. From the replay to the target."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from builders import tiny_ring
from chorus.agents.sac_losses import prepare
from chorus.ensemble.targets import td_targets
from chorus.ensemble.value_map import Members
from chorus.replay.samplers import Shared
from soft_builders import soft_agent, soft_learner, soft_networks, soft_state

VALUE, GAMMA = 10.0, 0.5


def batch_of_an_episode(n_step, terminated, truncated, action, **layout):
    """Rewards 1, 2, 4 and then an end."""
    ring = tiny_ring(**layout)
    ring.begin(np.float32([[0.0]]), np.array([0]))
    for t, reward in enumerate([1.0, 2.0, 4.0]):
        last = t == 2
        ring.add(
            action,
            np.float32([reward]),
            np.array([terminated and last]),
            np.array([truncated and last]),
            np.array([0]),
            np.float32([[t + 1.0]]),
        )
    return Shared().sample(ring, np.random.default_rng(0), 32, n_step, members=1).batch


def targets_of_an_episode(n_step, terminated, truncated):
    """What each of the three steps is taught, by the step's number."""
    batch = batch_of_an_episode(n_step, terminated, truncated, np.array([0]))
    value_map = Members().build(1, GAMMA)

    def one(rewards, length, ended):
        values = jnp.full((1, 1, 2, 1), VALUE)
        return td_targets(value_map, value_map.heads_read(), jnp.zeros(1, int), values, rewards, length, ended)

    y = np.asarray(jax.vmap(one)(batch.rewards, batch.length, batch.terminated))[:, 0, 0, 0]
    return {int(t): float(target) for t, target in zip(batch.observation[:, 0, 0], y, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_step", "expected"),
    [
        (1, {0: 1 + 0.5 * VALUE, 1: 2 + 0.5 * VALUE, 2: 4.0}),
        (2, {0: 1 + 0.5 * 2 + 0.25 * VALUE, 1: 2 + 0.5 * 4, 2: 4.0}),
        (4, {0: 1 + 0.5 * 2 + 0.25 * 4, 1: 2 + 0.5 * 4, 2: 4.0}),
    ],
)
def test_termination_gives_the_reward_alone(n_step, expected):
    assert targets_of_an_episode(n_step, terminated=True, truncated=False) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("n_step", "expected"),
    [
        (1, {0: 1 + 0.5 * VALUE, 1: 2 + 0.5 * VALUE, 2: 4 + 0.5 * VALUE}),
        (2, {0: 1 + 0.5 * 2 + 0.25 * VALUE, 1: 2 + 0.5 * 4 + 0.25 * VALUE, 2: 4 + 0.5 * VALUE}),
        (4, {0: 1 + 0.5 * 2 + 0.25 * 4 + 0.125 * VALUE, 1: 2 + 0.5 * 4 + 0.25 * VALUE, 2: 4 + 0.5 * VALUE}),
    ],
)
def test_truncation_bootstraps_with_the_discount_of_the_rewards_it_had(n_step, expected):
    assert targets_of_an_episode(n_step, terminated=False, truncated=True) == pytest.approx(expected)


@cache
def soft_preparation():
    """One agent's state and its targets, compiled once for both endings."""
    learner = soft_learner(members=1, discount=GAMMA)
    return soft_state(soft_agent(learner, observed=1)), jax.jit(partial(prepare, learner, soft_networks(learner)))


@pytest.mark.slow
@pytest.mark.parametrize("n_step", [1, 2])
@pytest.mark.parametrize("terminated", [True, False])
def test_soft_targets_end_and_bootstrap_alike(terminated, n_step):
    """Critics that say 10 whatever they see, and entropy that is worth next to nothing."""
    batch = batch_of_an_episode(
        n_step, terminated, not terminated, np.zeros((1, 2)), action_shape=(2,), action_dtype=np.dtype(np.float32)
    )
    state, prepared = soft_preparation()
    critic = jax.tree.map(np.zeros_like, state.target_params)
    critic["heads"]["layer_2"]["bias"] += VALUE
    params = {**state.params, "log_temperature": np.float32([np.log(1e-9)])}
    y = prepared(params, critic, batch, state.noise, state.updates).targets
    found = {int(t): float(target) for t, target in zip(batch.observation[:, 0, 0], y[:, 0, 0, 0], strict=True)}
    assert found == pytest.approx(targets_of_an_episode(n_step, terminated, not terminated), rel=1e-4)
