"""Law 7: a mask of ones is no mask; a member without any weight gets no gradient and a finite loss."""

import jax
import numpy as np
import pytest

from builders import assert_trees_close, losses_of, tiny_batch, tiny_learner, tiny_network, tiny_params
from chorus.agents.optimizers import Adam
from chorus.agents.q import QEnsemble
from chorus.ensemble.value_map import Cross, Members
from soft_builders import soft_agent, soft_batch, soft_learner, soft_state

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


def moved(before, after, member, axis=0):
    """Whether any parameter of a member differs."""
    pairs = zip(*(map(np.asarray, jax.tree.leaves(tree)) for tree in (before, after)), strict=True)
    return any(np.any(np.take(old, member, axis) != np.take(new, member, axis)) for old, new in pairs)


WITHOUT_THE_LAST = np.float32([[1.0, 1.0, 0.0]] * SIZE)


def test_a_member_without_weight_stands_still_under_weight_decay():
    """Its gradient is zero, and decay would shrink it all the same."""
    learner = tiny_learner(Members(), optimizer=Adam(learning_rate=1e-2, epsilon=1e-8, weight_decay=0.1))
    network = tiny_network(heads=1)
    ensemble = QEnsemble(learner, network, tiny_batch(1).observation[0, 0])
    params = tiny_params(network)
    batch = tiny_batch(SIZE)._replace(weight=WITHOUT_THE_LAST)
    totals = {name: np.zeros(N) for name in ("td_loss", "q_values", "count")}
    after, *_ = jax.jit(ensemble.learn)(params, ensemble.optimizer.init(params), totals, params, batch)
    assert [moved(params, after, member) for member in range(N)] == [True, True, False]


@pytest.mark.slow
@pytest.mark.parametrize("at_once", [1, N])
def test_a_soft_member_without_weight_keeps_its_networks_and_its_temperature(at_once):
    """Without data its entropy is 0, which is not its target entropy. Alone in a group or with others."""
    agent = soft_agent(soft_learner(optimizer=Adam(learning_rate=1e-2, epsilon=1e-8, weight_decay=0.1)), at_once)
    before = jax.tree.map(np.array, soft_state(agent))
    after, _ = agent.update(soft_state(agent), soft_batch(SIZE)._replace(weight=WITHOUT_THE_LAST))
    for name, axis in (("critic", 1), ("policy", 0), ("log_temperature", 0)):
        changed = [moved(before.params[name], after.params[name], member, axis) for member in range(N)]
        assert changed == [True, True, False], name
    assert not moved(before.optimizer["log_temperature"][0].mu, after.optimizer["log_temperature"][0].mu, 2)
