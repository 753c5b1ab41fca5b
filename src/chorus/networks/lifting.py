"""One layer, N copies of its parameters: two forms of the same computation, chosen by what the backend does well.

Batched (`vmap`) is right for dense layers everywhere, for every layer on accelerators, and where all members read
the same input (it becomes one wide layer). On a CPU a convolution of N inputs with N kernels becomes a grouped
convolution that is ten times slower than N plain ones, so there members are unrolled.
"""

from collections.abc import Callable
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from chorus.networks.layers import Dense, Heads

Lift = Callable[[nn.Module, Any, Array, bool], Array]


def batched(layer: nn.Module, params: Any, x: Array, forked_input: bool) -> Float[Array, "N B ..."]:
    """All members in one call."""
    apply: Any = layer.apply
    return jax.vmap(apply, in_axes=(0, 0 if forked_input else None))({"params": params}, x)


def unrolled(layer: nn.Module, params: Any, x: Array, forked_input: bool) -> Float[Array, "N B ..."]:
    """One call a member. `split` is used because its gradient is one concatenation, not N padded sums."""
    members = jax.tree.leaves(params)[0].shape[0]
    pieces = split_members((params, x), members) if forked_input else None
    outputs = []
    for i, own in enumerate(split_members(params, members)):
        own_x = pieces[i][1] if pieces is not None else x
        outputs.append(run_layer(layer, own, own_x))
    return jnp.stack(outputs)


def run_layer(layer: nn.Module, params: Any, x: Array) -> Array:
    output: Any = layer.apply({"params": params}, x)
    return output


def split_members(tree: Any, members: int) -> list[Any]:
    leaves, structure = jax.tree.flatten(tree)
    columns = [jax.lax.split(leaf, (1,) * members, axis=0) for leaf in leaves]
    return [jax.tree.unflatten(structure, [column[i][0] for column in columns]) for i in range(members)]


def best_for_backend(layer: nn.Module, params: Any, x: Array, forked_input: bool) -> Float[Array, "N B ..."]:
    wide = isinstance(layer, Dense | Heads) or not forked_input
    form = batched if wide or jax.default_backend() != "cpu" else unrolled
    return form(layer, params, x, forked_input)
