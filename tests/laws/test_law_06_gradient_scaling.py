"""Law 6: a fork's trunk gradient is the mean over its branches; for every sharing and every kind of heads (E2)."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from builders import (
    CONV_TORSO,
    DENSE_TORSO,
    FLAT,
    IMAGE,
    assert_trees_close,
    gradient_of,
    tiny_batch,
    tiny_learner,
    tiny_network,
    tiny_params,
)
from chorus.ensemble.value_map import Cross, CrossOwn, Horizons, Members
from chorus.networks.forked import fork


def test_a_fork_hands_down_the_mean_over_its_branches_and_leaves_the_branches_alone():
    weights = jnp.float32([1.0, 2.0, 6.0])

    def score(x, w):
        return jnp.sum(w * fork(x, 3) ** 2)

    trunk, branches = jax.grad(score, argnums=(0, 1))(jnp.float32(0.5), weights)
    # d/dx Σ w x² = 2 x Σ w = 2 · 0.5 · 9 = 9, and the mean over three branches is 3; d/dw = x² = 0.25.
    np.testing.assert_allclose(trunk, 3.0)
    np.testing.assert_allclose(branches, [0.25, 0.25, 0.25])


def plain_values(params, observation, network):
    """Q[i, k] of every head as [N, H, B, A], without any scaling."""

    def member(own, last):
        x = jnp.swapaxes(observation, 0, -1)
        for index, layer in enumerate(network.torso):
            group = params["trunk"] if index < network.shared else own
            x = layer.apply({"params": group[f"layer_{index}"]}, x)
        return jnp.einsum("db,had->hba", x, last["kernel"]) + last["bias"][:, None]

    return jax.vmap(member)(params["members"], params["heads"][f"layer_{len(network.torso)}"])


def plain_loss(params, target_params, batch, network, value_map):
    """Σ_i Σ_k mean_b Huber(r + γ_k (1 - t) Q̄[source](s', a*[policy]) - Q[i,k](s, a))."""
    everyone, rows = np.arange(network.members), np.arange(len(batch.action))
    main_next = plain_values(params, batch.next_observation[:, 0], network)[everyone, value_map.main]
    best = jnp.argmax(main_next, axis=-1)[value_map.policy]  # [N, H, B]
    source = value_map.source[..., 0], value_map.source[..., 1]
    next_values = plain_values(target_params, batch.next_observation[:, 0], network)[source]
    reach = value_map.gamma[..., None] * (1.0 - batch.terminated[:, 0])
    bootstrap = jnp.take_along_axis(next_values, best[..., None], axis=-1)[..., 0]
    target = jax.lax.stop_gradient(batch.rewards[:, 0, 0] + reach * bootstrap)
    taken = plain_values(params, batch.observation[:, 0], network)[:, :, rows, batch.action[:, 0]]
    return jnp.sum(jnp.mean(optax.losses.huber_loss(taken, target, delta=1.0), axis=-1))


N, TEN = 3, (100, 90, 80, 70, 60, 50, 40, 30, 20, 10)

# What each of the layers 1 to 4 is divided by; the last layer never is. Layers 1 to 3 are the encoder.
TABLE = [
    pytest.param(Members(), N, 0, [1, 1, 1, 1], id="L=0"),
    pytest.param(Members(), N, 1, [N, 1, 1, 1], id="L=1", marks=pytest.mark.slow),
    pytest.param(Members(), N, 2, [N, N, 1, 1], id="L=2", marks=pytest.mark.slow),
    pytest.param(Members(), N, 3, [N, N, N, 1], id="L=3"),
    pytest.param(Members(), N, 4, [N, N, N, N], id="L=4", marks=pytest.mark.slow),
    pytest.param(Cross(), N, 0, [N, N, N, N], id="CERL L=0"),
    pytest.param(Cross(), N, 3, [N * N, N * N, N * N, N], id="CERL L=3", marks=pytest.mark.slow),
    pytest.param(CrossOwn(), N, 0, [N, N, N, N], id="CERL self-target"),
    pytest.param(Horizons(horizons=TEN), 2, 0, [10, 10, 10, 10], id="MH"),
]


def assert_scaled(kind, members, shared, divided_by, torso, shape):
    learner = tiny_learner(kind, members=members)
    network = tiny_network(members=members, shared=shared, heads=learner.tables.heads, torso=torso)
    params, target_params = tiny_params(network, shape), tiny_params(network, shape, seed=1)
    batch = tiny_batch(shape=shape)
    plain = jax.jit(jax.grad(plain_loss), static_argnums=(3, 4))
    expected = plain(params, target_params, batch, network, learner.tables)
    for index, divisor in enumerate(divided_by):
        group = "trunk" if index < shared else "members"
        layer = expected[group][f"layer_{index}"]
        assert np.abs(layer["kernel"]).max() > 1e-4
        expected[group][f"layer_{index}"] = jax.tree.map(lambda leaf, d=divisor: leaf / d, layer)
    gradient, _ = gradient_of(learner, network)(params, target_params, batch)
    assert_trees_close(gradient, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "members", "shared", "divided_by"), TABLE)
def test_each_layer_is_divided_by_the_heads_it_serves(kind, members, shared, divided_by):
    assert_scaled(kind, members, shared, divided_by, DENSE_TORSO, FLAT)


@pytest.mark.slow
def test_a_convolutional_encoder_is_divided_like_a_dense_one():
    assert_scaled(Cross(), 2, 3, [4, 4, 4, 2], CONV_TORSO, IMAGE)
