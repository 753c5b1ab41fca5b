"""A member whose values diverge: with the Huber auxiliary loss the others go on learning, with a squared one not.

Rewards are of MuJoCo's size, where the threshold of 10 belongs.
"""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chorus.agents.optimizers import Adam
from chorus.agents.sac_losses import Lesson, critic_losses
from chorus.ensemble.losses import MainAndAuxiliary, Squared, TwiceHuber
from chorus.ensemble.value_map import Cross
from chorus.networks.torsos import MLPTorso
from soft_builders import soft_agent, soft_batch, soft_learner, soft_networks, soft_state

HUBER = MainAndAuxiliary(main=Squared(), auxiliary=TwiceHuber(threshold=10.0))
GAMMA, REWARD, UPDATES, WRONG_BY = 0.5, 30.0, 150, 1e5


def force_on_the_others(loss):
    """The gradient's size in the features of members 1 and 2 where member 0's targets are wrong by 1e3, and 1e6."""
    learner = soft_learner(Cross(), loss=loss)
    networks, batch = soft_networks(learner), soft_batch()
    params = soft_state(soft_agent(learner)).params["critic"]

    def total(params, wrong_by):
        targets = jnp.zeros((6, 3, 3, 1)).at[:, :, 0].set(wrong_by)
        lesson = Lesson(batch, targets, next_action=jnp.zeros((6, 3, 2)), noise=jnp.zeros((6, 3, 2)))
        return critic_losses(learner, networks, np.arange(3), params, params, lesson).td.sum()

    gradient = jax.jit(jax.grad(total))
    features = [jax.tree.leaves(gradient(params, wrong_by)["members"]) for wrong_by in (1e3, 1e6)]
    return [float(max(np.abs(np.asarray(leaf)[:, 1:]).max() for leaf in leaves)) for leaves in features]


@pytest.mark.slow
def test_the_force_of_a_diverging_member_is_bounded_by_huber_and_by_nothing_when_squared():
    small, large = force_on_the_others(HUBER)
    assert large == pytest.approx(small, rel=1e-4)
    small, large = force_on_the_others(Squared())
    assert large == pytest.approx(1e3 * small, rel=0.01)


@cache
def built(loss):
    """An ensemble with this loss, compiled once."""
    learner = soft_learner(
        Cross(),
        loss=loss,
        torso=MLPTorso(dense=(32, 32)),
        discount=GAMMA,
        initial_temperature=1e-3,
        optimizer=Adam(learning_rate=3e-3, epsilon=1e-8),
    )
    networks = soft_networks(learner)
    return soft_agent(learner), jax.jit(networks.values)


def error_of_the_others(loss, diverges):
    """How far the main heads of members 1 and 2 stay from what they should learn, in units of its variance."""
    agent, values_of = built(loss)
    batch = soft_batch(32)
    batch = batch._replace(rewards=REWARD * batch.rewards)
    # The loss plays no part in the initial parameters.
    state = built(HUBER)[0].init(jax.random.key(0))
    for _ in range(UPDATES):
        if diverges:
            last = state.target_params["heads"]["layer_2"]
            last["bias"] = last["bias"].at[:, 0, 0].set(WRONG_BY)
        state, _ = agent.update(state, batch)
    values = values_of(state.params["critic"], batch.observation, batch.action)
    following = jax.jit(agent.propose)(state.params, batch.next_observation[:, 0], jax.random.key(0)).mode
    bootstrap = values_of(state.target_params, batch.next_observation, following)
    errors = []
    for member in (1, 2):
        goes_on = 1 - batch.terminated[:, 0]
        y = batch.rewards[:, 0, 0] + GAMMA * goes_on * np.asarray(bootstrap)[:, :, member, member].min(axis=0)
        errors.append(np.mean((np.asarray(values)[:, :, member, member] - y) ** 2) / np.var(y))
    return max(errors)


@pytest.mark.slow
def test_the_others_go_on_learning_with_huber_and_not_when_squared():
    undisturbed, shielded, drowned = (
        error_of_the_others(HUBER, False),
        error_of_the_others(HUBER, True),
        error_of_the_others(Squared(), True),
    )
    assert undisturbed < 0.25
    assert shielded < 0.4
    assert drowned > 0.7
