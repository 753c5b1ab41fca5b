"""Law 7: a mask of ones is no mask; a member without any weight gets no gradient and a finite loss."""

import jax
import numpy as np
import pytest

from builders import assert_trees_close, losses_of, tiny_batch, tiny_learner, tiny_network, tiny_params
from chorus.ensemble.value_map import Cross, Members

N, SIZE = 3, 6


@pytest.fixture(scope="module", params=[Members(), Cross()], ids=["members", "cross"])
def learn(request):
    """(weights) -> each member's loss, and its gradient in every parameter [N, ...]."""
    learner = tiny_learner(request.param)
    network = tiny_network(heads=learner.tables.heads)
    params, target_params = tiny_params(network), tiny_params(network, seed=1)
    losses = losses_of(learner, network)
    both = jax.jit(
        lambda batch: (losses(params, target_params, batch), jax.jacrev(losses)(params, target_params, batch))
    )
    return lambda weight, batch=None: both((batch or tiny_batch(SIZE))._replace(weight=weight))


@pytest.mark.slow
def test_a_mask_of_ones_is_no_mask(learn):
    assert_trees_close(learn(np.ones((SIZE, N), np.float32)), learn(np.ones((SIZE, 1), np.float32)))


@pytest.mark.slow
def test_a_mask_keeps_only_its_own_samples(learn):
    kept = np.array([True, False, True, True, False, False])
    weight = np.tile(kept[:, None].astype(np.float32), (1, N))
    only = jax.tree.map(lambda column: column[kept], tiny_batch(SIZE))
    assert_trees_close(learn(weight), learn(np.ones((3, 1), np.float32), only))


def test_a_member_without_weight_gets_exactly_no_gradient_and_a_finite_loss(learn):
    weight = np.ones((SIZE, N), np.float32)
    whole, _ = learn(weight)
    weight[:, 1] = 0.0
    losses, jacobian = learn(weight)
    assert losses[1] == 0.0
    np.testing.assert_allclose(losses[np.array([0, 2])], whole[np.array([0, 2])], rtol=1e-6)
    for leaf in jax.tree.leaves(jacobian):
        assert np.all(np.asarray(leaf)[1] == 0.0)
        assert np.all(np.isfinite(leaf)) and np.any(np.asarray(leaf)[0] != 0.0)
