"""The layers of the paper's networks, each for one member; `forked` lifts them over members.

A torso is a sequence of such modules. Any flax module that maps [B, ...] to [B, ...] can stand among them and
counts as one layer, so a user's own torso needs nothing from here.
"""

import math
from collections.abc import Callable, Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from chorus.networks.convolution import convolve

Initializer = Callable[..., Array]


def fan_in_uniform(fan_in: int) -> Initializer:
    """U(-c, c) with c = 1/√fan_in, for weights and biases alike (equation E9)."""
    bound = 1.0 / math.sqrt(fan_in)

    def init(key: Array, shape: Sequence[int], dtype: jnp.dtype = jnp.float32) -> Array:
        return jax.random.uniform(key, shape, dtype, -bound, bound)

    return init


class Conv(nn.Module):
    """A square VALID convolution and its ReLU, channels last."""

    features: int
    kernel: int
    stride: int = 1

    @nn.compact
    def __call__(self, x: Float[Array, "B H W C"]) -> Float[Array, "B h w F"]:
        init = fan_in_uniform(self.kernel * self.kernel * x.shape[-1])
        weight = self.param("kernel", init, (self.kernel, self.kernel, x.shape[-1], self.features))
        bias = self.param("bias", init, (self.features,))
        return nn.relu(convolve(x, weight, self.stride) + bias)


class Dense(nn.Module):
    """A fully connected layer and its ReLU; what comes in is flattened."""

    features: int

    @nn.compact
    def __call__(self, x: Float[Array, "B ..."]) -> Float[Array, "B F"]:
        x = x.reshape(x.shape[0], -1)
        init = fan_in_uniform(x.shape[-1])
        weight = self.param("kernel", init, (x.shape[-1], self.features))
        bias = self.param("bias", init, (self.features,))
        return nn.relu(x @ weight + bias)


class Heads(nn.Module):
    """The last linear layer, H heads beside each other; each adds one scalar bias to all of its outputs (E9)."""

    heads: int
    outputs: int

    @nn.compact
    def __call__(self, x: Float[Array, "B D"]) -> Float[Array, "B H O"]:
        x = x.reshape(x.shape[0], -1)
        init = fan_in_uniform(x.shape[-1])
        weight = self.param("kernel", init, (x.shape[-1], self.heads, self.outputs))
        bias = self.param("bias", init, (self.heads, 1))
        y = x @ weight.reshape(x.shape[-1], self.heads * self.outputs)
        return y.reshape(x.shape[0], self.heads, self.outputs) + bias
