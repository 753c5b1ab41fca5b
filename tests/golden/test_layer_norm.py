"""Layer normalisation and weight decay, arithmetic shown (equations E27 and E28)."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from builders import IMAGE, tiny_batch, tiny_network, tiny_params
from chorus.agents.optimizers import Adam, CentredRMSProp
from chorus.agents.sac import SacEnsemble
from chorus.config.resolution import Request, resolve
from chorus.networks.layers import Conv, Dense, WidenedDense, normalise
from chorus.networks.lifting import batched, best_for_backend, unrolled
from soft_builders import UNIT, soft_learner, soft_networks

TORSO = (Conv(features=3, kernel=3, stride=2, layer_norm=True), Dense(5, layer_norm=True))


def test_units_of_an_example_get_mean_zero_and_variance_one():
    x = jnp.float32([[1.0, 0.0], [3.0, 4.0], [2.0, 8.0]])
    # Example 0: mean 2, variance 2/3: -1/√(2/3), 1/√(2/3), 0. Example 1: mean 4, variance 32/3.
    one = 1 / np.sqrt(2 / 3)
    expected = np.array([[-one, -one], [one, 0.0], [0.0, one]])
    np.testing.assert_allclose(normalise(x, jnp.ones(3), jnp.zeros(3)), expected, atol=1e-5)
    gain, offset = jnp.float32([2.0, 1.0, 1.0]), jnp.float32([0.0, 0.5, 0.0])
    np.testing.assert_allclose(normalise(x, gain, offset)[:2, 0], [-2 * one, one + 0.5], atol=1e-5)


def test_copies_are_normalised_each_by_itself():
    x = jnp.float32([1.0, 3.0, 10.0, 30.0])[:, None]
    # (1, 3) and (10, 30) are both -1 and 1 around their means.
    np.testing.assert_allclose(normalise(x, jnp.ones(4), jnp.zeros(4), 2)[:, 0], [-1, 1, -1, 1], atol=1e-5)


def test_a_convolution_is_normalised_over_channels_and_positions():
    x = jnp.float32([[0.0, 2.0], [4.0, 6.0]]).reshape(2, 1, 2, 1)
    # Mean 3, variance (9 + 1 + 1 + 9)/4 = 5; the gain of channel 1 is 10.
    found = normalise(x, jnp.float32([1.0, 10.0]), jnp.zeros(2))
    np.testing.assert_allclose(found.ravel(), np.array([-3, -1, 10, 30]) / np.sqrt(5), rtol=1e-5)


@pytest.mark.slow
def test_the_norm_stands_before_the_relu_and_only_where_it_is_asked_for():
    x = jnp.float32([[1.0], [2.0]])
    params = {"kernel": jnp.eye(2), "bias": jnp.zeros(2), "gain": jnp.ones(2), "offset": jnp.float32([0.25, 0.0])}
    y = Dense(2, layer_norm=True).apply({"params": params}, x)
    # 1 and 2 become -1 and 1; -1 + 0.25 is cut off.
    np.testing.assert_allclose(y[:, 0], [0.0, 1.0], atol=1e-5)
    assert set(Dense(2).init(jax.random.key(0), x)["params"]) == {"kernel", "bias"}


@pytest.mark.slow
@pytest.mark.parametrize("shared", [0, 1])
def test_every_form_of_the_layers_and_every_view_agree(shared):
    observation = tiny_batch(size=3, shape=IMAGE).observation
    networks = [
        tiny_network(members=2, heads=2, shared=shared, torso=TORSO, lift=lift)
        for lift in (batched, unrolled, best_for_backend)
    ]
    params = tiny_params(networks[0], IMAGE)
    member, head = jnp.asarray(1), jnp.asarray(0)

    def score(params, network):
        return jnp.sum(jnp.sin(3.0 * network.apply(params, observation)))

    def answers(params):
        values = [network.apply(params, observation) for network in networks]
        # Gradients of two forms where every layer is forked; elsewhere values are enough.
        gradients = [jax.grad(score)(params, network) for network in networks[:2]] if not shared else []
        return values, gradients, networks[0].alone().apply(networks[0].view(params, member, head), observation)

    (first, *others), gradients, alone = jax.jit(answers)(params)
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(alone[:, 0, 0], first[:, 1, 0], rtol=1e-4, atol=1e-5)
    if gradients:
        jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-4), *gradients)
        assert all(np.abs(leaf).max() > 0 for leaf in jax.tree.leaves(gradients[0]))


def test_a_wider_layer_pays_for_its_gains_and_offsets():
    # (3 - 1)(16 · 10 + 1) = 322 parameters; a unit costs 20 + 1 + 10 of them, or 2 more: 10.4 or 9.8 units.
    assert WidenedDense(16, members=3, outputs=10).width(20) == 16 + 10
    assert WidenedDense(16, members=3, outputs=10, layer_norm=True).width(20) == 16 + 10
    # (2 - 1)(16 · 10 + 1) = 161: 161/13 = 12.4 and 161/15 = 10.7.
    assert WidenedDense(16, members=2, outputs=10).width(2) == 16 + 12
    assert WidenedDense(16, members=2, outputs=10, layer_norm=True).width(2) == 16 + 11


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "env", "options"),
    [
        ("cerl-prior", "MinAtar/Breakout-v1", {"shared_layers": 1, "layer_norm": True}),
        ("wide", "CartPole-v1", {"agent.torso.torso.layer_norm": True}),
        ("ensemble-sac-cerl", "Pendulum-v1", {"layer_norm": True}),
    ],
)
def test_every_hidden_layer_of_every_network_has_a_norm(preset, env, options):
    found = resolve(Request(preset=preset, env=env, scale="smoke", options=options))
    params = jax.eval_shape(found.config.agent.build(found.spec).init, jax.random.key(0)).params
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(params)]
    hidden = [path for path in paths if path.endswith("['kernel']") and "['heads']" not in path]
    norms = [path for path in paths if path.endswith("['gain']")]
    assert hidden and [path.replace("kernel", "gain") for path in hidden] == norms


@pytest.mark.parametrize(
    ("optimizer", "step"),
    [
        # Adam's first step has length 1 whatever the gradient: 2 - 0.1 (1 + 0.01 · 2) = 1.898.
        (Adam(learning_rate=0.1, epsilon=1e-8, weight_decay=0.01), 1.02),
        # Centred RMSProp: 0.5/√(0.05 · 0.25 - 0.0025 · 0.25) = 1/√0.0475 = 4.588.
        (CentredRMSProp(learning_rate=0.1, epsilon=1e-12, weight_decay=0.01), 4.6083),
    ],
)
def test_weights_decay_beside_the_gradient(optimizer, step):
    weight, gradient = jnp.float32([2.0]), jnp.float32([0.5])
    built = optimizer.build()
    change, _ = built.update(gradient, built.init(weight), weight)
    np.testing.assert_allclose(change, [-0.1 * step], rtol=1e-4)


def test_without_decay_the_optimizers_are_those_of_optax():
    weight, gradient = jnp.float32([2.0, -1.0]), jnp.float32([0.5, 0.1])
    for ours, theirs in (
        (Adam(), optax.adam(2.5e-4, eps=1.5e-4)),
        (CentredRMSProp(), optax.rmsprop(2.5e-4, decay=0.95, eps=0.01 / 32**2, centered=True, eps_in_sqrt=True)),
    ):
        built = ours.build()
        state, other = built.init(weight), theirs.init(weight)
        assert len(jax.tree.leaves(state)) == len(jax.tree.leaves(other))
        np.testing.assert_array_equal(
            built.update(gradient, state, weight)[0], theirs.update(gradient, other, weight)[0]
        )


def test_temperatures_do_not_decay():
    learner = soft_learner(optimizer=Adam(learning_rate=0.1, weight_decay=0.5))
    optimizers = SacEnsemble(learner, soft_networks(learner), np.zeros(4, np.float32), UNIT).optimizers
    one = jnp.ones(1)
    changes = {name: float(own.update(0 * one, own.init(one), one)[0][0]) for name, own in optimizers.items()}
    assert changes == pytest.approx({"critic": -0.05, "policy": -0.05, "log_temperature": 0.0})
