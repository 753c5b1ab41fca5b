"""The convolutions that suit CPUs are the convolution."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chorus.networks.convolution import by_patches, by_rows, convolve, native


@pytest.mark.parametrize(
    ("form", "size", "channels", "kernel", "stride"),
    [
        (convolve, (20, 20), 4, 8, 4),
        (convolve, (22, 23), 4, 8, 4),  # pixels that no kernel reaches are left over
        (convolve, (9, 10), 2, 4, 2),
        (convolve, (9, 9), 2, 3, 2),  # the stride does not divide the kernel
        (lambda x, kernel, _: by_patches(x, kernel), (7, 6), 3, 3, 1),
        (lambda x, kernel, _: by_rows(x, kernel), (7, 6), 3, 3, 1),
        (lambda x, kernel, _: by_rows(x, kernel), (5, 4), 3, 1, 1),
    ],
)
def test_every_form_equals_xlas_own_in_value_and_gradient(form, size, channels, kernel, stride):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, *size, channels)).astype(np.float32)
    weight = rng.normal(size=(kernel, kernel, channels, 4)).astype(np.float32)

    def value_and_gradient(convolution):
        def score(x, weight):
            y = convolution(x, weight, stride)
            return jnp.sum(0.1 * y * y), y

        gradients, y = jax.jit(jax.grad(score, argnums=(0, 1), has_aux=True))(x, weight)
        return [y, *gradients]

    for one, other in zip(value_and_gradient(form), value_and_gradient(native), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3)
