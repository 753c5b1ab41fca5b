"""Quantile regression and its target rule with the arithmetic shown (equation E13)."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from builders import losses_of, tiny_batch, tiny_learner, tiny_network, tiny_params
from chorus.ensemble.estimates import Online, Quantile, Target
from chorus.ensemble.losses import Huber, QuantileHuber
from chorus.networks.forked import Forked
from chorus.networks.layers import Conv, Dense, Heads, VarianceScaled


def test_two_quantiles_by_hand():
    # θ = (0, 2), y = (1, 4), κ = 1, τ = (0.25, 0.75).
    # k = 0: u = 1 and 4, huber 0.5 and 3.5, weights 0.25: mean = 0.25 (0.5 + 3.5)/2 = 0.5.
    # k = 1: u = -1 and 2, huber 0.5 and 1.5, weights |0.75 - 1| = 0.25 and 0.75: mean = (0.125 + 1.125)/2 = 0.625.
    error = QuantileHuber(kappa=1.0)(jnp.array([0.0, 2.0]), jnp.array([1.0, 4.0]))
    assert float(error) == pytest.approx(0.5 + 0.625)


@pytest.mark.parametrize("difference", [-3.0, -0.5, 0.2, 1.0, 7.0])
def test_one_quantile_is_half_of_huber(difference):
    """Law 9: with one quantile τ = ½, so both signs weigh the same."""
    prediction, target = jnp.array([1.0]), jnp.array([1.0 + difference])
    for kappa in (1.0, 2.5):
        half = 0.5 * Huber(threshold=kappa)(prediction, target)
        assert float(QuantileHuber(kappa=kappa)(prediction, target)) == pytest.approx(float(half))


def test_the_mean_of_the_quantiles_is_the_value():
    # The second action has the larger best quantile, the first the larger mean: 2 against 1.
    values = Quantile(quantiles=3).value(jnp.array([[1.0, 2.0, 3.0], [-3.0, 0.0, 6.0]]))
    np.testing.assert_allclose(values, [2.0, 1.0])


@pytest.mark.slow
def test_who_selects_decides_the_target():
    """Online and target networks disagree about the best action; only the selection rule differs."""
    network = tiny_network(members=1)
    online, target = tiny_params(network, seed=1), tiny_params(network, seed=2)
    batch = tiny_batch(size=64)._replace(terminated=np.zeros((64, 1), bool))
    learner = tiny_learner(members=1)
    losses = [
        float(jax.jit(losses_of(replace(learner, selection=kind), network))(online, target, batch)[0])
        for kind in (Online(), Target())
    ]
    # The target network's own choice never has a smaller target value than another's.
    assert losses[0] != pytest.approx(losses[1])
    same = [
        float(jax.jit(losses_of(replace(learner, selection=kind), network))(online, online, batch)[0])
        for kind in (Online(), Target())
    ]
    assert same[0] == pytest.approx(same[1]), "with equal networks it does not matter who selects"


@pytest.mark.slow
def test_the_network_of_qr_dqn():
    # SAME padding with strides 4, 2, 1: 84 -> 21 -> 11 -> 11, so 11 · 11 · 64 = 7,744 features.
    x = jnp.zeros((4, 84, 84, 1))
    style = VarianceScaled()
    for features, kernel, stride in ((32, 8, 4), (64, 4, 2), (64, 3, 1)):
        layer = Conv(features=features, kernel=kernel, stride=stride, same=True, initialization=style)
        x = jnp.zeros(
            jax.eval_shape(lambda k, v, layer=layer: layer.init_with_output(k, v)[0], jax.random.key(0), x).shape
        )
    assert x.size == 7_744
    # Weights are bounded by √(√3/fan_in), biases are zero, and every output has its own.
    params = Heads(heads=1, outputs=6, initialization=style).init(jax.random.key(0), jnp.zeros((300, 1)))["params"]
    bound = np.sqrt(np.sqrt(3.0) / 300)
    assert 0.95 * bound < np.abs(params["kernel"]).max() <= bound
    assert params["bias"].shape == (1, 6) and not np.any(params["bias"])
    assert not np.any(
        Dense(features=3, initialization=style).init(jax.random.key(0), jnp.zeros((2, 1)))["params"]["bias"]
    )


@pytest.mark.slow
def test_same_padding_is_that_of_xla():
    rng = np.random.default_rng(0)
    for side, kernel, stride in ((84, 8, 4), (21, 4, 2), (11, 3, 1), (10, 4, 2)):
        x = jnp.asarray(rng.normal(size=(3, side, side, 2)), jnp.float32)
        layer = Conv(features=5, kernel=kernel, stride=stride, same=True)
        variables = layer.init(jax.random.key(0), x)
        weight, bias = variables["params"]["kernel"], variables["params"]["bias"]
        theirs = jax.lax.conv_general_dilated(
            x, weight, (stride, stride), "SAME", dimension_numbers=("CHWN", "OHWI", "CHWN")
        )
        np.testing.assert_allclose(
            layer.apply(variables, x), np.maximum(theirs + bias[:, None, None, None], 0.0), atol=1e-5
        )


def test_quantile_targets_keep_their_distribution():
    # One state, one action, two quantiles, 1-step: y = r + γ θ̄ = 1 + 0.99 (2, 4) = (2.98, 4.96).
    learner = replace(tiny_learner(members=1), estimate=Quantile(quantiles=2), loss=QuantileHuber())
    network = Forked(torso=(), members=1, shared=0, heads=1, actions=1, estimate_size=2)

    def table(values):
        own = {"kernel": np.float32(values).reshape(1, 1, 2, 1), "bias": np.zeros((1, 1, 1), np.float32)}
        return {"trunk": {}, "members": {}, "heads": {"layer_0": own}}

    batch = tiny_batch(size=1, shape=(1,))._replace(
        observation=np.ones((1, 1, 1), np.float32),
        next_observation=np.ones((1, 1, 1), np.float32),
        action=np.zeros((1, 1), np.int32),
        rewards=np.ones((1, 1, 1), np.float32),
        terminated=np.zeros((1, 1), bool),
    )
    (loss,) = jax.jit(losses_of(learner, network))(table([2.98, 2.96]), table([2.0, 4.0]), batch)
    # k = 0, τ = ¼: u = 0 and 1.98: ¼ (0 + 1.48)/2 = 0.185. k = 1, τ = ¾: u = 0.02 and 2: ¾ (0.0002 + 1.5)/2 = 0.562575.
    assert float(loss) == pytest.approx(0.185 + 0.562575, abs=1e-5)
