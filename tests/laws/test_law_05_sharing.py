"""Law 5: with all layers but the last shared, features are equal; with none shared, members learn apart."""

import jax
import numpy as np
import pytest

from builders import losses_of, tiny_batch, tiny_learner, tiny_network, tiny_params
from chorus.ensemble.value_map import Cross, CrossOwn, Members


def test_with_every_layer_below_the_heads_shared_all_features_are_equal():
    observation = tiny_batch().observation
    for shared, equal in [(2, True), (1, False), (0, False)]:
        network = tiny_network(shared=shared)
        features = np.asarray(jax.jit(network.features)(tiny_params(network), observation)[0])
        assert np.array_equal(features[0], features[1]) == equal, f"L = {shared}"


@pytest.mark.parametrize("kind", [Members(), Cross(), CrossOwn()], ids=["members", "cross", "cross_own"])
def test_without_sharing_a_members_loss_has_no_gradient_in_another_member(kind):
    learner = tiny_learner(kind)
    network = tiny_network(heads=learner.tables.heads)
    params = tiny_params(network)
    jacobian = jax.jit(jax.jacrev(losses_of(learner, network)))(params, tiny_params(network, seed=1), tiny_batch())
    for leaf in jax.tree.leaves(jacobian):
        size = np.abs(np.asarray(leaf)).reshape(*leaf.shape[:2], -1).max(axis=-1)  # [loss of i, parameters of j]
        assert np.all(size[~np.eye(3, dtype=bool)] == 0.0)
        assert np.all(np.diagonal(size) > 0.0)


def test_with_sharing_every_member_moves_the_trunk():
    learner, network = tiny_learner(), tiny_network(shared=1)
    jacobian = jax.jit(jax.jacrev(losses_of(learner, network)))(
        tiny_params(network), tiny_params(network), tiny_batch()
    )
    kernel = np.asarray(jacobian["trunk"]["layer_0"]["kernel"])
    assert np.all(np.abs(kernel).reshape(3, -1).max(axis=-1) > 0.0)
