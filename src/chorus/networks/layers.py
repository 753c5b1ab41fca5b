"""The layers of the paper's networks, each for one member; `forked` lifts them over members.

They work with features first and the batch last, which saves a CPU the transposes of the usual order
(docs/performance.md). A torso is a sequence of such modules. Any flax module that maps [B, ...] to [B, ...], channels
last, can be among them and counts as one layer, so a user's own torso needs nothing from this module.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from chorus.components import POSITIVE, Component, option, register
from chorus.networks.products import convolve, product

Initializer = Callable[..., Array]


def uniform(bound: float) -> Initializer:
    def init(key: Array, shape: Sequence[int], dtype: jnp.dtype = jnp.float32) -> Array:
        return jax.random.uniform(key, shape, dtype, -bound, bound)

    return init


def orthonormal(x: Float[Array, "rows columns"]) -> Float[Array, "rows columns"]:
    """Gram-Schmidt with every column orthogonalised twice, which is exact to rounding.

    XLA's own decomposition calls LAPACK from its thread pool and may deadlock.
    """

    def add(column: Int[Array, ""], basis: Float[Array, "rows columns"]) -> Float[Array, "rows columns"]:
        own = x[:, column]
        for _ in range(2):
            own = own - basis @ (own @ basis)
        return basis.at[:, column].set(own / jnp.linalg.norm(own))

    return jax.lax.fori_loop(0, x.shape[1], add, jnp.zeros_like(x))


class Initialization(Component, ABC, interface="initialization"):
    """How weights and biases are drawn."""

    shared_head_bias: ClassVar[bool]
    """Whether a head has one scalar bias for all its outputs."""

    @abstractmethod
    def weight(self, fan_in: int) -> Initializer: ...

    @abstractmethod
    def bias(self, fan_in: int) -> Initializer: ...


@register
@dataclass(frozen=True, kw_only=True)
class FanInUniform(Initialization):
    """Weights and biases ~ U(-c, c), c = 1/√fan_in; one scalar bias per head, added to all its outputs (E9)."""

    shared_head_bias: ClassVar[bool] = True

    def weight(self, fan_in: int) -> Initializer:
        return uniform(1.0 / math.sqrt(fan_in))

    def bias(self, fan_in: int) -> Initializer:
        return uniform(1.0 / math.sqrt(fan_in))


@register
@dataclass(frozen=True, kw_only=True)
class VarianceScaled(Initialization):
    """Weights ~ U(-c, c), c = √(3 scale/fan_in); biases zero, one for each output: QR-DQN's (equation E13)."""

    scale: float = option(1.0 / math.sqrt(3.0), within=POSITIVE, help="variance of the weights, times fan-in")
    shared_head_bias: ClassVar[bool] = False

    def weight(self, fan_in: int) -> Initializer:
        return uniform(math.sqrt(3.0 * self.scale / fan_in))

    def bias(self, fan_in: int) -> Initializer:
        return nn.initializers.zeros


@register
@dataclass(frozen=True, kw_only=True)
class Orthogonal(Initialization):
    """Weights orthogonal with this scale, biases zero, one for each output: SAC's (equation E20)."""

    scale: float = option(math.sqrt(2.0), within=POSITIVE, help="scale of the orthogonal weights")
    shared_head_bias: ClassVar[bool] = False

    def weight(self, fan_in: int) -> Initializer:
        def init(key: Array, shape: Sequence[int]) -> Array:
            rows, columns = math.prod(shape) // fan_in, fan_in
            basis = orthonormal(jax.random.normal(key, (max(rows, columns), min(rows, columns))))
            return self.scale * (basis if rows >= columns else basis.T).reshape(shape)

        return init

    def bias(self, fan_in: int) -> Initializer:
        return nn.initializers.zeros


@dataclass(frozen=True)
class GaussianHeads:
    """Initial weights of a policy's two heads: each orthogonal by itself, the mean with scale √2, the other with 1."""

    shared_head_bias: ClassVar[bool] = False

    def weight(self, fan_in: int) -> Initializer:
        def init(key: Array, shape: Sequence[int]) -> Array:
            keys = jax.random.split(key, 2)
            scales = (math.sqrt(2.0), 1.0)
            heads = [
                Orthogonal(scale=scale).weight(fan_in)(own, shape[1:]) for own, scale in zip(keys, scales, strict=True)
            ]
            return jnp.stack(heads)

        return init

    def bias(self, fan_in: int) -> Initializer:
        return nn.initializers.zeros


DEFAULT_INITIALIZATION = FanInUniform()


class FeaturesFirst(nn.Module):
    """A layer that maps [..., B] to [..., B]; images are [C, H, W, B].

    A layer declares `copies: int = 1`. With more, its parameters and its output hold that many layers, one after the
    other on their first axis.
    """


def other_order(x: Array) -> Array:
    """From features first, batch last to batch first, channels last, and back."""
    return jnp.swapaxes(x, 0, -1)


def init_layer(layer: nn.Module, key: Array, x: Float[Array, "... B"]) -> tuple[Any, Float[Array, "... B"]]:
    """The layer's parameters, and its output for `x`."""
    reorder = (lambda x: x) if isinstance(layer, FeaturesFirst) else other_order
    y, variables = layer.init_with_output(key, reorder(x))
    return variables["params"], reorder(y)


def run_layer(layer: nn.Module, params: Any, x: Float[Array, "... B"]) -> Float[Array, "... B"]:
    apply: Any = layer.apply
    if isinstance(layer, FeaturesFirst):
        return apply({"params": params}, x)
    return other_order(apply({"params": params}, other_order(x)))


# Added to the variance before its root is taken.
_NORM_EPSILON = 1e-6


def normalise(
    x: Float[Array, "F ..."], gain: Float[Array, " F"], offset: Float[Array, " F"], copies: int = 1
) -> Float[Array, "F ..."]:
    """Layer normalisation: mean 0 and variance 1 over all units of a layer, then a gain and an offset per feature.

    Units are the features at all positions; every example of the batch, which is the last axis, and every one of the
    `copies` on the first axis is normalised by itself (equation E27).
    """
    parts = x.reshape(copies, -1, x.shape[-1])
    centred = parts - jnp.mean(parts, axis=1, keepdims=True)
    variance = jnp.mean(jnp.square(centred), axis=1, keepdims=True)
    normal = (centred / jnp.sqrt(variance + _NORM_EPSILON)).reshape(x.shape)
    each = (slice(None), *(None,) * (x.ndim - 1))
    return normal * gain[each] + offset[each]


def activate(layer: "Conv | Dense", x: Float[Array, "F ..."]) -> Float[Array, "F ..."]:
    """The ReLU of a layer, after its normalisation if it has one."""
    if layer.layer_norm:
        gain = layer.param("gain", nn.initializers.ones, x.shape[:1])
        offset = layer.param("offset", nn.initializers.zeros, x.shape[:1])
        x = normalise(x, gain, offset, layer.copies)
    return nn.relu(x)


class Conv(FeaturesFirst):
    """A square convolution and its ReLU; `same` pads with zeros so that stride 1 keeps the size."""

    features: int
    kernel: int
    stride: int = 1
    same: bool = False
    initialization: Initialization = DEFAULT_INITIALIZATION
    copies: int = 1
    layer_norm: bool = False

    @nn.compact
    def __call__(self, x: Float[Array, "C H W B"]) -> Float[Array, "F h w B"]:
        fan_in = self.kernel * self.kernel * x.shape[0]
        features = self.copies * self.features
        shape = (features, self.kernel, self.kernel, x.shape[0])
        weight = self.param("kernel", self.initialization.weight(fan_in), shape)
        bias = self.param("bias", self.initialization.bias(fan_in), (features,))
        if self.same:
            sides = [self._padding(side) for side in x.shape[1:3]]
            x = jnp.pad(x, [(0, 0), *sides, (0, 0)])
        return activate(self, convolve(x, weight, self.stride) + bias[:, None, None, None])

    def _padding(self, side: int) -> tuple[int, int]:
        """What XLA's SAME adds before and after a side."""
        total = max((-(-side // self.stride) - 1) * self.stride + self.kernel - side, 0)
        return total // 2, total - total // 2


class Dense(FeaturesFirst):
    """A fully connected layer and its ReLU; inputs are flattened, and the first `constant_inputs` get no gradient.

    Inputs are multiplied by `input_scale`, one factor each, if there is one.
    """

    features: int
    initialization: Initialization = DEFAULT_INITIALIZATION
    copies: int = 1
    constant_inputs: int = 0
    input_scale: tuple[float, ...] = ()
    layer_norm: bool = False

    def width(self, inputs: int) -> int:
        return self.features

    @nn.compact
    def __call__(self, x: Float[Array, "... B"]) -> Float[Array, "F B"]:
        x = x.reshape(-1, x.shape[-1])
        if self.input_scale:
            x = x * jnp.asarray(self.input_scale, x.dtype)[:, None]
        fan_in = x.shape[0]
        width = self.copies * self.width(fan_in)
        weight = self.param("kernel", self.initialization.weight(fan_in), (width, fan_in))
        bias = self.param("bias", self.initialization.bias(fan_in), (width,))
        return activate(self, product(weight, x, self.constant_inputs) + bias[:, None])


class WidenedDense(Dense):
    """A last hidden layer, wider by the parameters of one head of `outputs` numbers per other member (E18)."""

    members: int = 1
    outputs: int = 1

    def width(self, inputs: int) -> int:
        biases = 1 if self.initialization.shared_head_bias else self.outputs
        spent_by_cross_heads = (self.members - 1) * (self.features * self.outputs + biases)
        # A unit has a weight for each input, a bias, a weight for each output, and maybe a gain and an offset.
        unit = inputs + 1 + self.outputs + 2 * self.layer_norm
        return self.features + round(spent_by_cross_heads / unit)


class Heads(FeaturesFirst):
    """The last, linear layer: H heads."""

    heads: int
    outputs: int
    initialization: Initialization | GaussianHeads = DEFAULT_INITIALIZATION
    copies: int = 1

    @nn.compact
    def __call__(self, x: Float[Array, "... B"]) -> Float[Array, "H O B"]:
        x = x.reshape(-1, x.shape[-1])
        fan_in = x.shape[0]
        heads = self.copies * self.heads
        biases = 1 if self.initialization.shared_head_bias else self.outputs
        weight = self.param("kernel", self.initialization.weight(fan_in), (heads, self.outputs, fan_in))
        bias = self.param("bias", self.initialization.bias(fan_in), (heads, biases))
        y = product(weight.reshape(heads * self.outputs, fan_in), x)
        return y.reshape(heads, self.outputs, -1) + bias[..., None]
