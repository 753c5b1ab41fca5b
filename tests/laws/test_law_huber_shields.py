"""A member whose values diverge: with the Huber auxiliary loss the others go on learning, with a squared one not.

Rewards are of MuJoCo's size, where the threshold of 10 belongs.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chorus.agents.optimizers import Adam
from chorus.agents.sac_losses import Lesson, critic_losses
from chorus.ensemble.losses import MainAndAuxiliary, Squared, TwiceHuber
from chorus.ensemble.value_map import Cross
from chorus.networks.torsos import MLPTorso
from soft_builders import OBSERVED, soft_agent, soft_batch, soft_learner, soft_networks

HUBER = MainAndAuxiliary(main=Squared(), auxiliary=TwiceHuber(threshold=10.0))
GAMMA, REWARD, UPDATES, WRONG_BY = 0.5, 30.0, 150, 1e5


def force_on_the_others(loss, wrong_by):
    """The gradient's size in the features of members 1 and 2 where member 0's targets are wrong by so much."""
    learner = soft_learner(Cross(), loss=loss)
    networks, batch = soft_networks(learner), soft_batch()
    params = jax.vmap(lambda key: networks.critic.init(key, np.zeros(OBSERVED + 2, np.float32)))(
        jax.random.split(jax.random.key(0), 2)
    )
    targets = jnp.zeros((6, 3, 3, 1)).at[:, :, 0].set(wrong_by)

    lesson = Lesson(batch, targets, next_action=jnp.zeros((6, 3, 2)), noise=jnp.zeros((6, 3, 2)))

    def total(params):
        return critic_losses(learner, networks, np.arange(3), params, params, lesson).td.sum()

    features = jax.grad(total)(params)["members"]
    return float(max(jnp.abs(leaf[:, 1:]).max() for leaf in jax.tree.leaves(features)))


@pytest.mark.slow
def test_the_force_of_a_diverging_member_is_bounded_by_huber_and_by_nothing_when_squared():
    assert force_on_the_others(HUBER, 1e6) == pytest.approx(force_on_the_others(HUBER, 1e3), rel=1e-4)
    assert force_on_the_others(Squared(), 1e6) == pytest.approx(1e3 * force_on_the_others(Squared(), 1e3), rel=0.01)


def error_of_the_others(loss, diverges):
    """How far the main heads of members 1 and 2 stay from what they should learn, in units of its variance."""
    learner = soft_learner(
        Cross(),
        loss=loss,
        torso=MLPTorso(dense=(32, 32)),
        discount=GAMMA,
        initial_temperature=1e-3,
        optimizer=Adam(learning_rate=3e-3, epsilon=1e-8),
    )
    networks, agent = soft_networks(learner), soft_agent(learner)
    batch = soft_batch(32)
    batch = batch._replace(rewards=REWARD * batch.rewards)
    state = agent.init(jax.random.key(0))
    for _ in range(UPDATES):
        if diverges:
            last = state.target_params["heads"]["layer_2"]
            last["bias"] = last["bias"].at[:, 0, 0].set(WRONG_BY)
        state, _ = agent.update(state, batch)
    values = jax.jit(partial(networks.values, state.params["critic"]))(batch.observation, batch.action)
    following = jax.jit(agent.propose)(state.params, batch.next_observation[:, 0], jax.random.key(0)).mode
    bootstrap = jax.jit(networks.values)(state.target_params, batch.next_observation, following)
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
