"""Matrix products and VALID convolutions, features first and batch last, with gradients that suit a CPU's cache.

XLA's own convolution is right for accelerators. On a CPU a matrix product of gathered pixels is faster forward and
much faster backward (docs/performance.md): with the batch last, pixels are gathered and their gradients added in runs
of whole batches. It needs a stride that divides the kernel.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

# Page-multiple strides cause cache-set conflicts.
_PAGE_BYTES = 4096
# Numbers in a line of the cache.
_LINE = 16


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def product(weight: Float[Array, "O I"], x: Float[Array, "I B"], constant_inputs: int = 0) -> Float[Array, "O B"]:
    """The product; the first `constant_inputs` rows of `x` get no gradient, and no time is spent on it."""
    return weight @ x


def _product_forward(weight: Array, x: Array, constant_inputs: int) -> tuple[Array, tuple[Array, Array]]:
    return weight @ x, (weight, x)


def _product_backward(constant_inputs: int, kept: tuple[Array, Array], signal: Array) -> tuple[Array, Array]:
    weight, x = kept
    if not constant_inputs:
        return signal @ x.T, input_gradient(weight, signal)
    needed = input_gradient(weight[:, constant_inputs:], signal)
    return signal @ x.T, jnp.concatenate([jnp.zeros_like(x[:constant_inputs]), needed])


product.defvjp(_product_forward, _product_backward)


def input_gradient(weight: Float[Array, "O I"], signal: Float[Array, "O B"]) -> Float[Array, "I B"]:
    """`weight.T @ signal`. What is transposed is the smaller one, and never inside of the product (measured)."""
    outputs, batch = signal.shape
    if batch >= outputs:
        return transpose(weight) @ signal
    rows = jax.lax.optimization_barrier(signal.T)
    return jax.lax.optimization_barrier(rows @ weight).T


def transpose(weight: Float[Array, "O I"]) -> Float[Array, "I O"]:
    """The transpose; a copy where reading down the columns would miss the cache at every row (measured).

    The copy is made in two steps, whole cache lines first and then within blocks of a few kilobytes.
    """
    outputs, inputs = weight.shape
    if inputs * weight.dtype.itemsize % _PAGE_BYTES:
        return weight.T
    blocks = jnp.swapaxes(weight.reshape(outputs, inputs // _LINE, _LINE), 0, 1)
    blocks = jax.lax.optimization_barrier(blocks)
    return jax.lax.optimization_barrier(jnp.swapaxes(blocks, 1, 2).reshape(inputs, outputs))


# A product over strips no deeper than this is too thin to be fast.
_THIN = 128


def convolve(x: Float[Array, "C H W B"], kernel: Float[Array, "F k k C"], stride: int) -> Float[Array, "F h w B"]:
    divisible = kernel.shape[1] % stride == 0 and kernel.shape[2] % stride == 0
    form = by_product if jax.default_backend() == "cpu" and divisible else native
    return form(x, kernel, stride)


def native(x: Float[Array, "C H W B"], kernel: Float[Array, "F k k C"], stride: int) -> Float[Array, "F h w B"]:
    return jax.lax.conv_general_dilated(
        x, kernel, (stride, stride), "VALID", dimension_numbers=("CHWN", "OHWI", "CHWN")
    )


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def by_product(x: Float[Array, "C H W B"], kernel: Float[Array, "F k k C"], stride: int) -> Float[Array, "F h w B"]:
    """Without a gradient, a thick kernel needs only strips of patches; the gradient needs whole patches."""
    depth = stride * kernel.shape[2] * kernel.shape[3]
    return by_patches(x, kernel, stride) if depth <= _THIN else by_strips(x, kernel, stride)


def by_patches(x: Float[Array, "C H W B"], kernel: Float[Array, "F k k C"], stride: int) -> Float[Array, "F h w B"]:
    """Every output's whole patch is gathered, then one product."""
    return _convolution_forward(x, kernel, stride)[0]


def by_strips(x: Float[Array, "C H W B"], kernel: Float[Array, "F k k C"], stride: int) -> Float[Array, "F h w B"]:
    """Strips of patches, `stride` rows high, times all strips of the kernel at once; products are added up shifted."""
    features, rows, columns, channels = kernel.shape
    down, depth = rows // stride, stride * columns * channels
    high = (x.shape[1] - rows) // stride + 1
    strips = gather_patches(x, (stride, columns), stride)[:, :, :, : high + down - 1]
    stacked = jnp.swapaxes(kernel.reshape(features, down, depth), 0, 1).reshape(down * features, depth)
    products = (stacked @ strips.reshape(depth, -1)).reshape(down, features, *strips.shape[3:])
    shifted = [products[i, :, i : i + high] for i in range(down)]
    return sum(shifted[1:], start=shifted[0])


def _convolution_forward(x: Array, kernel: Array, stride: int) -> tuple[Array, tuple[Array, Array, Array]]:
    patches = gather_patches(x, kernel.shape[1:3], stride)
    *_, high, wide, batch = patches.shape
    columns = patches.reshape(-1, high * wide * batch)
    y = kernel.reshape(kernel.shape[0], -1) @ columns
    return y.reshape(-1, high, wide, batch), (x, kernel, columns)


def _convolution_backward(stride: int, kept: tuple[Array, Array, Array], signal: Array) -> tuple[Array, Array]:
    x, kernel, columns = kept
    features, high, wide, batch = signal.shape
    signal = signal.reshape(features, -1)
    kernel_gradient = (signal @ columns.T).reshape(kernel.shape)
    patches = input_gradient(kernel.reshape(features, -1), signal)
    patches = patches.reshape(*kernel.shape[1:], high, wide, batch)
    return add_patches(patches, x.shape, stride), kernel_gradient


by_product.defvjp(_convolution_forward, _convolution_backward)


def gather_patches(x: Float[Array, "C H W B"], kernel: tuple[int, ...], stride: int) -> Float[Array, "i j C h w B"]:
    rows, columns = kernel
    high, wide = ((side - k) // stride + 1 for side, k in zip(x.shape[1:3], kernel, strict=True))
    patches = [
        x[:, i : i + stride * (high - 1) + 1 : stride, j : j + stride * (wide - 1) + 1 : stride]
        for i in range(rows)
        for j in range(columns)
    ]
    return jnp.concatenate(patches, axis=0).reshape(rows, columns, x.shape[0], high, wide, x.shape[3])


def add_patches(patches: Float[Array, "i j C h w B"], shape: tuple[int, ...], stride: int) -> Float[Array, "C H W B"]:
    """The adjoint of gathering: each pixel sums what its copies got.

    Pixels are grouped by their place in a block of stride x stride, so that every patch is added in one piece.
    """
    rows, columns, channels, high, wide, batch = patches.shape
    down, right = rows // stride, columns // stride
    blocks = patches.reshape(down, stride, right, stride, channels, high, wide, batch)
    grid = (high + down - 1, wide + right - 1)
    total = jnp.zeros((stride, stride, channels, *grid, batch), patches.dtype)
    for i in range(down):
        for j in range(right):
            corner = (0, 0, 0, i, j, 0)
            beyond = (stride, stride, channels, i + high, j + wide, batch)
            grown = jax.lax.slice(total, corner, beyond) + blocks[i, :, j]
            total = jax.lax.dynamic_update_slice(total, grown, corner)
    pixels = jnp.transpose(total, (2, 3, 0, 4, 1, 5)).reshape(channels, grid[0] * stride, grid[1] * stride, batch)
    out_of_reach = [(0, whole - reached) for whole, reached in zip(shape, pixels.shape, strict=True)]
    return jnp.pad(pixels, out_of_reach)
