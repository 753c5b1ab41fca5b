"""The fault of the study `diverging-member` makes the values of member 0 diverge, and of no other member."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chorus.agents.optimizers import Adam
from chorus.config.resolution import Request, resolve
from chorus.ensemble.losses import DivergingMember, MainAndAuxiliary
from chorus.ensemble.value_map import Cross
from chorus.errors import ChorusError
from chorus.networks.torsos import MLPTorso
from soft_builders import soft_agent, soft_batch, soft_learner, soft_networks

UPDATES = 200


def test_only_the_targets_of_head_0_are_inflated():
    """Predictions 0 and targets 1, two members: head 0 has the target 1.5, every other 1; nothing beyond 10 here."""
    predictions, targets = jnp.zeros((2, 2, 1)), jnp.ones((2, 2, 1))
    found = DivergingMember(factor=1.5).of_heads(np.arange(2), predictions, targets)
    np.testing.assert_allclose(found, [[2.25, 1.0], [2.25, 1.0]])


def test_a_factor_of_1_is_no_fault():
    rng = np.random.default_rng(0)
    predictions, targets = (jnp.asarray(30 * rng.normal(size=(3, 3, 1)), jnp.float32) for _ in range(2))
    plain = MainAndAuxiliary().of_heads(np.arange(3), predictions, targets)
    np.testing.assert_array_equal(DivergingMember(factor=1.0).of_heads(np.arange(3), predictions, targets), plain)


def test_the_fault_needs_cerl():
    fault = {"agent.loss": {"kind": "diverging_member"}}
    with pytest.raises(ChorusError, match=r"diverging_member is a fault of CERL.* agent\.value_map is members"):
        resolve(Request(preset="ensemble-sac", env="Pendulum-v1", scale="smoke", options=fault))


def largest_values(factor: float) -> np.ndarray:
    """The largest value of each member's main head after some updates on one batch without terminals."""
    learner = soft_learner(
        Cross(),
        loss=DivergingMember(factor=factor),
        torso=MLPTorso(dense=(32, 32)),
        discount=0.9,
        initial_temperature=1e-3,
        optimizer=Adam(learning_rate=3e-3, epsilon=1e-8),
    )
    networks, agent, batch = soft_networks(learner), soft_agent(learner), soft_batch(32)
    batch = batch._replace(terminated=np.zeros_like(batch.terminated), rewards=np.abs(batch.rewards))
    state = agent.init(jax.random.key(0))
    for _ in range(UPDATES):
        state, _ = agent.update(state, batch)
    values = jax.jit(partial(networks.values, state.params["critic"]))(batch.observation, batch.action)
    return np.abs(np.asarray(values)[:, :, np.arange(3), np.arange(3)]).max(axis=(0, 1))


@pytest.mark.slow
def test_member_0_diverges_and_no_other_one():
    sound, faulty = largest_values(1.0), largest_values(1.5)
    assert faulty[0] > 10 * sound[0]
    assert (faulty[1:] < 3 * sound[1:]).all()
