"""A network that forks into N members after L layers, and each member into H heads before the last layer.

Each fork divides the backward signal by its branching factor, which is the paper's gradient scaling: nothing
outside the network knows about it; SAC's networks do not divide. Parameters come in three groups by how many copies
there are:

    trunk    one copy            layers 0 .. L-1
    members  [N, ...]            layers L .. depth-2
    heads    [N, H, outputs, D]  the last layer, never shared

Inside, features come first and the batch last (see `layers`); what goes in and out has the batch first.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray, Shaped

from chorus.ensemble.auxiliaries import Features
from chorus.networks.layers import (
    DEFAULT_INITIALIZATION,
    GaussianHeads,
    Heads,
    Initialization,
    init_layer,
    other_order,
    run_layer,
)
from chorus.networks.lifting import Flow, Lift, best_for_backend, stack
from chorus.spaces import AnyArray

Params = dict[str, Any]


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def fork(x: Array, branches: int) -> Array:
    """The identity; its gradient divides the sum over the branches by their number (equation E2)."""
    return x


fork.defvjp(lambda x, branches: (x, None), lambda branches, _, g: (g / branches,))


def as_float(observation: AnyArray) -> Float[Array, "*axes"]:
    """Bytes become [0, 1]; everything else is cast."""
    x = jnp.asarray(observation, jnp.float32)
    return x / 255.0 if observation.dtype == jnp.uint8 else x


def _take(x: Array, index: Int[Array, ""], axis: int = 0) -> Array:
    return jax.lax.dynamic_slice_in_dim(x, index, 1, axis)


@dataclass(frozen=True)
class Forked:
    """`torso` holds the layers below the last one; `shared` of them have one copy.

    The output of the first `feature_layers` is the representation that auxiliary losses read. `divides` says whether
    forks divide the backward signal.
    """

    torso: tuple[nn.Module, ...]
    members: int
    shared: int
    heads: int
    actions: int
    estimate_size: int = 1
    channels_first: bool = False
    lift: Lift = best_for_backend
    initialization: Initialization | GaussianHeads = DEFAULT_INITIALIZATION
    feature_layers: int = 0
    divides: bool = True

    def init(self, key: PRNGKeyArray, observation: AnyArray) -> Params:
        """Independent draws for every member; `observation` is one example without a batch axis."""
        return self.init_from(jax.random.split(key, self.keys), observation)

    @property
    def keys(self) -> int:
        """Number of keys that `init_from` takes: one per layer."""
        return len(self.torso) + 1

    def init_from(self, keys: Key[Array, " K"], observation: AnyArray) -> Params:
        return jax.jit(self._init, static_argnums=(1, 2))(keys, observation.shape, observation.dtype)

    def _init(self, layer_keys: Key[Array, " K"], shape: tuple[int, ...], dtype: np.dtype) -> Params:
        x = self._features_first(jnp.zeros((1, *shape), dtype))
        params: Params = {"trunk": {}, "members": {}, "heads": {}}
        layers = (*self.torso, self._head_layer(self.heads))
        for index, (layer, layer_key) in enumerate(zip(layers, layer_keys, strict=True)):
            group = self._group(index)
            keys = jax.random.split(layer_key, self.members)
            draw = partial(init_layer, layer, x=x)
            alone = group == "trunk"
            params[group][f"layer_{index}"], y = draw(keys[0]) if alone else jax.vmap(draw)(keys)
            x = jnp.zeros(y.shape if alone else y.shape[1:])
        return params

    def _features_first(self, observation: Shaped[AnyArray, "B ..."]) -> Float[Array, "... B"]:
        """Reordered before the cast, because bytes are faster to move than floats."""
        x = jnp.asarray(observation)
        return as_float(jnp.moveaxis(x, 0, -1) if self.channels_first else other_order(x))

    def _group(self, index: int) -> str:
        if index == len(self.torso):
            return "heads"
        return "trunk" if index < self.shared else "members"

    def _head_layer(self, heads: int) -> Heads:
        outputs = self.actions * self.estimate_size
        return Heads(heads=heads, outputs=outputs, initialization=self.initialization)

    def _fork(self, x: Array, branches: int) -> Array:
        return fork(x, branches) if self.divides else x

    def features(self, params: Params, observation: AnyArray) -> Features:
        """What the heads are computed from, for observations [B, M, ...]."""
        features, representation = self._features(jax.tree.map(jnp.asarray, params), observation)
        return Features(last=jnp.swapaxes(features, 1, 2), representation=representation)

    def _features(
        self, params: Params, observation: AnyArray
    ) -> tuple[Float[Array, "N D B"], Float[Array, "R C F"] | None]:
        """The input of the last layer, after the member fork and before the head fork; and the representation."""
        batch, copies = observation.shape[:2]
        x = self._features_first(observation.reshape(batch * copies, *observation.shape[2:]))
        representation = None
        for index in range(self.shared):
            x = run_layer(self.torso[index], params["trunk"][f"layer_{index}"], x)
            if index + 1 == self.feature_layers:
                representation = x.reshape(1, -1, batch * copies)
        if self.shared:
            x = self._fork(x, self.members)
        own_batches = copies > 1
        flow: Flow = (jnp.moveaxis(x.reshape(*x.shape[:-1], batch, copies), -1, 0) if own_batches else x, own_batches)
        for index in range(self.shared, len(self.torso)):
            flow = self.lift(self.torso[index], params["members"][f"layer_{index}"], flow)
            if index + 1 == self.feature_layers:
                representation = stack(flow, self.members).reshape(self.members, -1, batch)
        representation = None if representation is None else jnp.swapaxes(representation, 1, 2)
        return stack(flow, self.members).reshape(self.members, -1, batch), representation

    def apply(
        self, params: Params, observation: AnyArray, heads: Int[np.ndarray, "N K"] | None = None
    ) -> Float[Array, "B N K A Z"]:
        """Predictions for observations [B, M, ...]; only the named `heads` of each member, or all of them."""
        return self.apply_with_features(params, observation, heads)[0]

    def apply_with_features(
        self, params: Params, observation: AnyArray, heads: Int[np.ndarray, "N K"] | None = None
    ) -> tuple[Float[Array, "B N K A Z"], Features]:
        """Predictions, and the features of the same pass; under `jit`, features that are not used cost nothing."""
        # Layers define their own gradients, which JAX does not trace for NumPy arrays.
        params = jax.tree.map(jnp.asarray, params)
        features, representation = self._features(params, observation)
        x = self._fork(features, self.heads)
        own = params["heads"][f"layer_{len(self.torso)}"]
        if heads is not None and heads.shape[1] < self.heads:
            rows = np.arange(self.members)[:, None]
            own = {name: leaf[rows, heads] for name, leaf in own.items()}
        count = own["bias"].shape[1]
        y = stack(self.lift(self._head_layer(count), own, (x, True)), self.members)
        y = y.reshape(self.members, count, self.actions, self.estimate_size, -1)
        return jnp.moveaxis(y, -1, 0), Features(jnp.swapaxes(features, 1, 2), representation)

    def view(self, params: Params, member: Int[Array, ""], head: Int[Array, ""]) -> Params:
        """The parameters of one head of one member, for `alone()`; the index may be traced."""
        own = self.member_view(params, member)
        return {**own, "heads": jax.tree.map(lambda x: _take(x, head, axis=1), own["heads"])}

    def member_view(self, params: Params, member: Int[Array, ""]) -> Params:
        """The parameters of one member with all its heads."""
        forked = {group: jax.tree.map(lambda x: _take(x, member), params[group]) for group in ("members", "heads")}
        return {"trunk": params["trunk"], **forked}

    def alone(self) -> "Forked":
        """The network of a single member's single head."""
        return replace(self, members=1, heads=1)
