"""MICo's distance and loss with the arithmetic shown (equation E14)."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from builders import tiny_batch, tiny_learner, tiny_network, tiny_params
from chorus.agents.q import member_losses
from chorus.ensemble.auxiliaries import Mico, mico_distances


def mico_distance(x, y, beta):
    return mico_distances(x[None], y[None], beta)[0, 0]


@pytest.mark.slow
def test_the_distance_of_orthogonal_vectors():
    # U((1,0), (0,2)) = ½(1 + 4) + 0.1 · π/2 = 2.65708.
    distance = mico_distance(jnp.array([1.0, 0.0]), jnp.array([0.0, 2.0]), 0.1)
    assert float(distance) == pytest.approx(2.5 + 0.1 * np.pi / 2, abs=1e-5)


def test_a_vector_is_no_angle_away_from_itself():
    # cos = 25/(25 + 1e-9), so the angle is 0 up to float32, and U = 25.
    assert float(mico_distance(jnp.array([3.0, 4.0]), jnp.array([3.0, 4.0]), 0.1)) == pytest.approx(25.0, abs=1e-3)


@pytest.mark.slow
def test_gradients_are_finite_where_the_angle_has_none():
    for x in (jnp.zeros(3), jnp.array([1.0, 1.0, 1.0])):
        gradient = jax.grad(lambda v: mico_distance(v, jnp.array([1.0, 1.0, 1.0]), 0.1))(x)
        assert np.all(np.isfinite(gradient))


@pytest.mark.slow
def test_every_pair_has_its_own_distance():
    # ‖x‖² = 1, 4 and ‖y‖² = 1, 1, 9; x₀ ⊥ y₁, x₀ ∥ y₀, y₂ is opposite to x₁.
    x, y = jnp.array([[1.0, 0.0], [0.0, 2.0]]), jnp.array([[1.0, 0.0], [0.0, 1.0], [0.0, -3.0]])
    right = np.pi / 2
    by_hand = [[1.0, 1.0 + right, 5.0 + right], [2.5 + right, 2.5, 6.5 + 2 * right]]
    np.testing.assert_allclose(mico_distances(x, y, 1.0), by_hand, atol=1e-3)


@pytest.mark.slow
def test_the_loss_of_two_states_by_hand():
    # φ(s) = (1), (2); φ̄(s) = (1), (2); φ̄(s') = (1), (1); r = (0, 1), γ = 0.5; all angles are 0.
    # d: U = ½(a² + b²): d_11 = 1, d_12 = d_21 = 2.5, d_22 = 4.
    # D = |r_p - r_q| + 0.5 · 1: D_11 = D_22 = 0.5, D_12 = D_21 = 1.5.
    # huber₁(0.5) = 0.125, huber₁(1) = 0.5 twice, huber₁(3.5) = 3; the mean is 4.125/4.
    phi, next_phi = jnp.array([[1.0], [2.0]]), jnp.array([[1.0], [1.0]])
    loss = Mico().loss(phi, phi, next_phi, jnp.array([0.0, 1.0]), 0.5)
    assert float(loss) == pytest.approx(4.125 / 4, abs=1e-4)


@pytest.mark.slow
def test_a_shared_representation_is_shaped_once_and_an_own_one_by_each_member():
    for shared, count in ((0, 3), (1, 1), (2, 1)):
        network = replace(tiny_network(shared=shared), feature_layers=1)
        params = tiny_params(network)
        learner = replace(tiny_learner(), auxiliary=Mico())
        losses = jax.eval_shape(lambda p: member_losses(learner, network, p, p, tiny_batch()), params)  # noqa: B023
        assert losses.auxiliary.shape == (count,)


@pytest.mark.slow
def test_the_representation_is_not_divided_at_the_forks():
    """The same trunk under one member and under three: MICo's gradient there is the same."""

    def gradient(members):
        network = replace(tiny_network(members=members, shared=1), feature_layers=1)
        params = tiny_params(network, seed=3)
        trunk = tiny_params(replace(tiny_network(members=1, shared=1), feature_layers=1), seed=5)["trunk"]
        params = {**params, "trunk": trunk}
        learner = replace(tiny_learner(members=members), auxiliary=Mico())

        def auxiliary(p):
            return jnp.sum(member_losses(learner, network, p, params, tiny_batch()).auxiliary)

        return jax.jit(jax.grad(auxiliary))(params)["trunk"]

    one, three = gradient(1), gradient(3)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), one, three)
    assert any(np.any(leaf) for leaf in jax.tree.leaves(one))


@pytest.mark.slow
@pytest.mark.parametrize("shared", [0, 2])
def test_batches_of_ones_own_are_paired_with_their_own_rewards(shared):
    """Member i's loss is that of its own batch alone; a shared representation is shaped by all batches at once."""
    learner = replace(tiny_learner(), auxiliary=Mico())
    network = replace(tiny_network(shared=shared), feature_layers=1)
    params, target_params = tiny_params(network), tiny_params(network, seed=1)
    batch = tiny_batch(copies=3)

    @jax.jit
    def auxiliary(columns):
        return member_losses(learner, network, params, target_params, batch._replace(**columns)).auxiliary

    given = {name: column for name, column in batch._asdict().items() if name != "weight"}
    found = auxiliary(given)
    if shared:
        as_one = {name: column.reshape(-1, 1, *column.shape[2:]) for name, column in given.items()}
        expected = auxiliary({**as_one, "weight": np.ones((18, 1), np.float32)})
    else:
        alone = [auxiliary({name: column[:, i : i + 1] for name, column in given.items()})[i] for i in range(3)]
        expected = np.stack(alone)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5)
