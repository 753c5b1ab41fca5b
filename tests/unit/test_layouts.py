"""Networks compute features first and the batch last; whoever brings a layer or asks for a gradient need not know."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn

from chorus.networks.forked import Forked
from chorus.networks.products import product

BATCH, HEIGHT, WIDTH, CHANNELS = 3, 4, 5, 2


class OnePixel(nn.Module):
    """Both channels of the pixel in row 1 and column 3, as flax's own layers would read an image."""

    @nn.compact
    def __call__(self, x):
        assert x.shape[1:] == (HEIGHT, WIDTH, CHANNELS)
        return x[:, 1, 3, :] * self.param("scale", nn.initializers.ones, ())


@pytest.mark.slow
@pytest.mark.parametrize("channels_first", [False, True])
@pytest.mark.parametrize("shared", [0, 1])
def test_a_layer_of_the_users_own_reads_batch_first_and_channels_last(channels_first, shared):
    network = Forked(torso=(OnePixel(),), members=2, shared=shared, heads=1, actions=3, channels_first=channels_first)
    images = np.random.default_rng(0).normal(size=(BATCH, HEIGHT, WIDTH, CHANNELS)).astype(np.float32)
    given = images.transpose(0, 3, 1, 2) if channels_first else images
    params = network.init(jax.random.key(0), given[0])
    features = network.features(params, given[:, None]).last
    np.testing.assert_array_equal(features, np.stack([images[:, 1, 3, :]] * 2))


@pytest.mark.parametrize("inputs", [1_000, 1_024, 2_048])
def test_the_gradient_of_a_product_is_that_of_the_product(inputs):
    """Rows of 1,024 numbers, 4,096 bytes, are turned by a copy."""
    rng = np.random.default_rng(0)
    weight, x, wanted = (rng.normal(size=shape).astype(np.float32) for shape in ((7, inputs), (inputs, 5), (7, 5)))

    def gradient(multiply):
        return jax.jit(jax.grad(lambda w, x: jnp.sum(multiply(w, x) * wanted), argnums=(0, 1)))(weight, x)

    for ours, autodiff in zip(gradient(product), gradient(jnp.matmul), strict=True):
        np.testing.assert_allclose(ours, autodiff, rtol=1e-5, atol=1e-5)
