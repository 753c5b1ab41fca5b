"""The convolutions that suit CPUs are the convolution."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chorus.networks.products import by_patches, by_strips, convolve, native


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "size", "channels", "kernel", "stride"),
    [
        (convolve, (20, 20), 4, 8, 4),
        (convolve, (22, 23), 4, 8, 4),  # pixels that no kernel reaches are left over
        (convolve, (9, 10), 2, 4, 2),
        (convolve, (9, 9), 2, 3, 2),  # the stride does not divide the kernel
        (convolve, (5, 6), 256, 2, 1),  # thick enough for strips where no gradient is asked for
        *[(form, size, 3, 3, 1) for form in (by_patches, by_strips) for size in ((7, 6), (3, 5))],
        *[(form, (9, 12), 3, 4, 2) for form in (by_patches, by_strips)],
    ],
)
def test_every_form_equals_xlas_own_in_value_and_gradient(form, size, channels, kernel, stride):
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(channels, *size, 2)), jnp.float32)
    weight = jnp.asarray(rng.normal(size=(4, kernel, kernel, channels)), jnp.float32)

    def value_and_gradient(convolution):
        def score(x, weight):
            y = convolution(x, weight, stride)
            return jnp.sum(0.1 * y * y), y

        gradients, y = jax.jit(jax.grad(score, argnums=(0, 1), has_aux=True))(x, weight)
        return [jax.jit(convolution, static_argnums=2)(x, weight, stride), y, *gradients]

    for one, other in zip(value_and_gradient(form), value_and_gradient(native), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3)
