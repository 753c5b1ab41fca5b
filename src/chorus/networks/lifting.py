"""One layer with N copies of its parameters: two forms of the same computation, chosen by backend.

The batched form (`vmap`) is best for dense layers, for every layer on accelerators, and where all members read the same
input (it becomes one wide layer). On a CPU all other layers are unrolled over members, and stay unrolled from layer to
layer: stacking the members in between would copy every activation twice.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from chorus.networks.layers import Dense, FeaturesFirst, Heads, run_layer

# What flows between layers: one array that all members read, one with a leading member axis, or one per member.
Common = Float[Array, "... B"]
Stacked = Float[Array, "N ... B"]
Flow = tuple[Array, bool] | list[Array]
Lift = Callable[[nn.Module, Any, Flow], Flow]


def batched(layer: nn.Module, params: Any, flow: Flow) -> Flow:
    """All members in one call."""
    x, forked = (jnp.stack(flow), True) if isinstance(flow, list) else flow
    if isinstance(layer, FeaturesFirst) and not forked:
        return one_wide_layer(layer, params, x), True
    return jax.vmap(partial(run_layer, layer), in_axes=(0, 0 if forked else None))(params, x), True


def one_wide_layer(layer: FeaturesFirst, params: Any, x: Common) -> Stacked:
    """Members that read the same input are together one layer with N times the features."""
    members = jax.tree.leaves(params)[0].shape[0]
    together = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), params)
    y = run_layer(layer.clone(copies=members), together, x)
    return y.reshape(members, -1, *y.shape[1:])


def unrolled(layer: nn.Module, params: Any, flow: Flow) -> Flow:
    """One call per member."""
    copies = split_members(params)
    if isinstance(flow, list):
        inputs = flow
    else:
        x, forked = flow
        inputs = split_members(x) if forked else [x] * len(copies)
    return [run_layer(layer, own, x) for own, x in zip(copies, inputs, strict=True)]


def best_for_backend(layer: nn.Module, params: Any, flow: Flow) -> Flow:
    shared_input = isinstance(flow, tuple) and not flow[1]
    wide = isinstance(layer, Dense | Heads) or shared_input
    form = batched if wide or jax.default_backend() != "cpu" else unrolled
    return form(layer, params, flow)


def stack(flow: Flow, members: int) -> Stacked:
    """The flow as one array with a member axis."""
    if isinstance(flow, list):
        return jnp.stack(flow)
    x, forked = flow
    return x if forked else jnp.broadcast_to(x, (members, *x.shape))


def split_members(tree: Any) -> list[Any]:
    """One tree per member, by `split`, whose gradient is one concatenation instead of N padded sums."""
    leaves, structure = jax.tree.flatten(tree)
    members = leaves[0].shape[0]
    columns = [jax.lax.split(leaf, (1,) * members, axis=0) for leaf in leaves]
    return [jax.tree.unflatten(structure, [column[i][0] for column in columns]) for i in range(members)]
