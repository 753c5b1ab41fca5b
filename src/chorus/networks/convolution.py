"""VALID convolutions, channels last, as the backend at hand does them best.

XLA's own convolution is right for accelerators. On a CPU, gathering the kernel's columns, one matrix product
against all its rows at once, and adding the shifted rows is faster forward and much faster backward
(docs/performance.md); it needs a stride that divides the kernel, which `space_to_depth` then makes 1.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def convolve(x: Float[Array, "B H W C"], kernel: Float[Array, "k k C F"], stride: int) -> Float[Array, "B h w F"]:
    divisible = kernel.shape[0] % stride == 0 and kernel.shape[1] % stride == 0
    if jax.default_backend() == "cpu" and divisible:
        return by_columns(x, kernel, stride)
    return native(x, kernel, stride)


def native(x: Float[Array, "B H W C"], kernel: Float[Array, "k k C F"], stride: int) -> Float[Array, "B h w F"]:
    return jax.lax.conv_general_dilated(
        x, kernel, (stride, stride), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def by_columns(x: Float[Array, "B H W C"], kernel: Float[Array, "k k C F"], stride: int) -> Float[Array, "B h w F"]:
    if stride > 1:
        x, kernel = space_to_depth(x, kernel, stride)
    rows, columns, channels, features = kernel.shape
    batch, height, width, _ = x.shape
    out_height, out_width = height - rows + 1, width - columns + 1
    gathered = jnp.concatenate([x[:, :, j : j + out_width] for j in range(columns)], axis=-1)
    wide = jnp.moveaxis(kernel, 0, 2).reshape(columns * channels, rows * features)
    products = (gathered.reshape(-1, columns * channels) @ wide).reshape(batch, height, out_width, rows, features)
    shifted = [products[:, i : i + out_height, :, i] for i in range(rows)]
    return sum(shifted[1:], start=shifted[0])


def space_to_depth(
    x: Float[Array, "B H W C"], kernel: Float[Array, "k k C F"], stride: int
) -> tuple[Float[Array, "B h w D"], Float[Array, "m m D F"]]:
    """Blocks of stride x stride pixels become channels: the same convolution, with stride 1."""
    batch, height, width, channels = x.shape
    rows, columns, _, features = kernel.shape
    high, wide = (height - rows) // stride + rows // stride, (width - columns) // stride + columns // stride
    blocks = x[:, : high * stride, : wide * stride].reshape(batch, high, stride, wide, stride, channels)
    folded = kernel.reshape(rows // stride, stride, columns // stride, stride, channels, features)
    depth = stride * stride * channels
    return (
        jnp.swapaxes(blocks, 2, 3).reshape(batch, high, wide, depth),
        jnp.swapaxes(folded, 1, 2).reshape(rows // stride, columns // stride, depth, features),
    )
