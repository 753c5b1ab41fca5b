"""VALID convolutions, channels last, as the backend at hand does them best.

XLA's own convolution is right for accelerators. On a CPU a matrix product of gathered pixels is faster forward and
much faster backward (docs/performance.md). It needs a stride that divides the kernel, which `space_to_depth` then
makes 1.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

# Up to this many numbers in a kernel's row, a product over single rows is too thin to be fast.
_THIN_ROW = 128


def convolve(x: Float[Array, "B H W C"], kernel: Float[Array, "k k C F"], stride: int) -> Float[Array, "B h w F"]:
    divisible = kernel.shape[0] % stride == 0 and kernel.shape[1] % stride == 0
    if jax.default_backend() != "cpu" or not divisible:
        return native(x, kernel, stride)
    if stride > 1:
        x, kernel = space_to_depth(x, kernel, stride)
    thin = kernel.shape[1] * kernel.shape[2] <= _THIN_ROW
    return by_patches(x, kernel) if thin else by_rows(x, kernel)


def native(x: Float[Array, "B H W C"], kernel: Float[Array, "k k C F"], stride: int) -> Float[Array, "B h w F"]:
    return jax.lax.conv_general_dilated(
        x, kernel, (stride, stride), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def by_patches(x: Float[Array, "B H W C"], kernel: Float[Array, "k k C F"]) -> Float[Array, "B h w F"]:
    """Stride 1: every output's whole patch is gathered, then one product."""
    rows, columns, channels, features = kernel.shape
    _, height, width, _ = x.shape
    high, wide = height - rows + 1, width - columns + 1
    patches = [x[:, i : i + high, j : j + wide] for i in range(rows) for j in range(columns)]
    return jnp.concatenate(patches, axis=-1) @ kernel.reshape(rows * columns * channels, features)


def by_rows(x: Float[Array, "B H W C"], kernel: Float[Array, "k k C F"]) -> Float[Array, "B h w F"]:
    """Stride 1: rows of patches are gathered, multiplied with all rows of the kernel at once, and added up shifted."""
    rows, columns, channels, features = kernel.shape
    batch, height, width, _ = x.shape
    high, wide = height - rows + 1, width - columns + 1
    gathered = jnp.concatenate([x[:, :, j : j + wide] for j in range(columns)], axis=-1)
    side_by_side = jnp.moveaxis(kernel, 0, 2).reshape(columns * channels, rows * features)
    products = (gathered @ side_by_side).reshape(batch, height, wide, rows, features)
    shifted = [products[:, i : i + high, :, i] for i in range(rows)]
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
