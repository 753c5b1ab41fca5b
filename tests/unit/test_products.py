"""Products whose first inputs are constants."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from builders import assert_trees_close
from chorus.agents.sac_networks import Networks
from chorus.networks.products import product
from soft_builders import soft_agent, soft_batch, soft_learner


def gradients(constant_inputs):
    rng = np.random.default_rng(0)
    weight, x, signal = (jnp.asarray(rng.normal(size=shape)) for shape in ((3, 5), (5, 4), (3, 4)))
    return jax.grad(lambda w, x: jnp.sum(signal * product(w, x, constant_inputs)), argnums=(0, 1))(weight, x)


@pytest.mark.slow
def test_constant_inputs_get_no_gradient_and_everything_else_gets_its_own():
    (weight, x), (all_weight, all_x) = gradients(2), gradients(0)
    np.testing.assert_allclose(weight, all_weight, rtol=1e-6)
    np.testing.assert_array_equal(x[:2], 0.0)
    np.testing.assert_allclose(x[2:], all_x[2:], rtol=1e-6)


def test_no_work_is_done_for_the_constants():
    """64 outputs, 512 inputs of which 500 are constants, 64 columns: the gradient of 12 inputs is left."""
    weight, x = jnp.ones((64, 512)), jnp.ones((512, 64))

    def flop(constant_inputs):
        by_input = jax.grad(lambda x: jnp.sum(product(weight, x, constant_inputs) ** 2))
        return jax.jit(by_input).lower(x).compile().cost_analysis()["flops"]

    assert flop(0) - flop(500) > 0.9 * 2 * 64 * 500 * 64


@pytest.mark.long
def test_policies_learn_the_same_as_with_all_gradients(monkeypatch):
    learner, batch = soft_learner(), soft_batch()

    def learnt():
        agent = soft_agent(learner)
        return agent.update(agent.init(jax.random.key(0)), batch)[0].params

    lean = learnt()
    monkeypatch.setattr(Networks, "values_to_improve", Networks.values)
    assert_trees_close(lean, learnt(), rtol=1e-5, atol=1e-6)
