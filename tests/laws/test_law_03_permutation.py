"""Law 3: permuting members permutes targets, outputs and updates."""

import jax
import numpy as np
import pytest

from builders import (
    assert_trees_close,
    members_taken,
    state_with,
    tiny_agent,
    tiny_batch,
    tiny_learner,
    tiny_network,
    tiny_params,
)
from chorus.ensemble.value_map import Cross, Members

ORDER = [2, 0, 1]


def permuted(params, heads):
    """Members in another order; where heads stand for members, so are they."""
    own = members_taken(params, ORDER)
    if heads == 1:
        return own
    return {**own, "heads": jax.tree.map(lambda leaf: leaf[:, ORDER], own["heads"])}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Members(), Cross()], ids=["members", "cross"])
def test_permuted_members_learn_permuted_updates(kind):
    learner = tiny_learner(kind, target_period=2)
    network = tiny_network(heads=learner.tables.heads)
    agent, params = tiny_agent(learner, network), tiny_params(network)
    first, second = state_with(agent, params), state_with(agent, permuted(params, network.heads))
    for seed in range(3):
        first, second = (agent.update(state, tiny_batch(seed=seed))[0] for state in (first, second))
    assert_trees_close(second.params, permuted(jax.device_get(first.params), network.heads))
    assert_trees_close(second.target_params, permuted(jax.device_get(first.target_params), network.heads))
    np.testing.assert_allclose(second.totals["td_loss"], first.totals["td_loss"][np.array(ORDER)], rtol=1e-5)
    assert len(set(np.asarray(first.totals["td_loss"]).tolist())) == 3, "members differ, or the law says nothing"


def test_permuted_members_predict_permuted_values():
    network = tiny_network(heads=3)
    params, observation = tiny_params(network), tiny_batch().observation
    forward = jax.jit(network.apply)
    values = np.asarray(forward(params, observation))
    moved = forward(permuted(params, network.heads), observation)
    np.testing.assert_allclose(moved, values[:, ORDER][:, :, ORDER], rtol=1e-5, atol=1e-6)
