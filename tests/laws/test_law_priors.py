"""Randomized priors (equation E15): fixed, each member's own, and added to whoever's value is predicted."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from builders import FLAT, tiny_agent, tiny_batch, tiny_learner, tiny_network
from chorus.ensemble.value_map import Cross
from chorus.networks.prior import FIXED, WithPrior


def ensemble(kind=None, scale=3.0):
    learner = tiny_learner(kind)
    network = tiny_network(heads=learner.tables.heads)
    return learner, WithPrior(network, learner.tables.policy, scale)


@pytest.mark.slow
def test_no_update_changes_a_prior():
    learner, network = ensemble(Cross())
    agent = tiny_agent(learner, network)
    state = agent.init(jax.random.key(0))
    before = jax.tree.map(np.array, state.params)
    for seed in range(12):
        state, _ = agent.update(state, tiny_batch(seed=seed))
    jax.tree.map(np.testing.assert_array_equal, state.params[FIXED], before[FIXED])
    assert FIXED not in state.target_params
    assert any(
        np.any(a != b) for a, b in zip(*map(jax.tree.leaves, (state.params["heads"], before["heads"])), strict=True)
    )


@pytest.mark.slow
def test_head_k_of_every_member_adds_the_prior_of_member_k():
    learner, network = ensemble(Cross(), scale=2.0)
    params = network.init(jax.random.key(1), np.zeros(FLAT, np.float32))
    observation = tiny_batch().observation
    added = network.apply(params, observation) - network.network.apply(params, observation)
    alone = WithPrior(tiny_network(), np.arange(3)[:, None], 1.0)._prior.apply(params[FIXED], observation)
    for member in range(3):
        for head in range(3):
            np.testing.assert_allclose(added[:, member, head], 2.0 * alone[:, head, 0], rtol=1e-4, atol=1e-5)
    main = learner.tables.main[:, None]
    np.testing.assert_allclose(
        network.apply(params, observation, main)[:, :, 0],
        jnp.stack([network.apply(params, observation)[:, i, i] for i in range(3)], axis=1),
        rtol=1e-5,
    )


@pytest.mark.slow
def test_acting_and_proposing_agree_with_priors():
    learner, network = ensemble(Cross())
    agent = tiny_agent(learner, network)
    params = agent.init(jax.random.key(2)).params
    observation = jnp.asarray(np.random.default_rng(0).normal(size=(6, *FLAT)), jnp.float32)
    proposed = agent.propose(params, observation, jax.random.key(1)).action
    for member in range(3):
        acted = agent.act(params, observation, jnp.full(6, member), jax.random.key(0), jnp.float32(-1.0))
        np.testing.assert_array_equal(acted, proposed[:, member])


@pytest.mark.slow
def test_priors_keep_members_apart_where_all_layers_are_shared():
    learner = tiny_learner()
    network = WithPrior(tiny_network(shared=2), learner.tables.policy, 3.0)
    params = network.init(jax.random.key(3), np.zeros(FLAT, np.float32))
    same_heads = jax.tree.map(lambda x: jnp.broadcast_to(x[:1], x.shape), params["heads"])
    values = network.apply({**params, "heads": same_heads}, tiny_batch().observation)
    assert np.std(np.asarray(values), axis=1).min() > 0
