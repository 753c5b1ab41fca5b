"""Law 8: identical per-member batches equal one shared batch."""

import jax
import pytest

from builders import assert_trees_close, gradient_of, losses_of, tiny_batch, tiny_learner, tiny_network, tiny_params

N = 3


@pytest.mark.slow
@pytest.mark.parametrize("shared", [0, 1])
def test_the_same_batch_for_every_member_is_one_shared_batch(shared):
    learner, network = tiny_learner(), tiny_network(shared=shared)
    params, target_params = tiny_params(network), tiny_params(network, seed=1)
    one = tiny_batch()
    columns = {name: column.repeat(N, axis=1) for name, column in one._asdict().items() if name != "weight"}
    many = one._replace(**columns)
    learn = gradient_of(learner, network)
    assert_trees_close(learn(params, target_params, many), learn(params, target_params, one))


@pytest.mark.slow
def test_a_member_reads_its_own_column():
    learner, network = tiny_learner(), tiny_network()
    params = tiny_params(network)
    losses = jax.jit(losses_of(learner, network))
    batch = tiny_batch(copies=N)
    for i in range(N):
        columns = {name: column[:, i : i + 1] for name, column in batch._asdict().items() if name != "weight"}
        alone = losses(params, params, batch._replace(**columns))
        assert_trees_close(losses(params, params, batch)[i], alone[i])
