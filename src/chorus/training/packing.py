"""Trees of many small arrays, packed into one vector per type.

Dispatching a program costs host time per array. A small SAC agent has more than fifty arrays, and handing them over
takes about a fifth of its update; one vector of each type takes almost nothing (docs/performance.md). Unpacking inside
a program is one slice per array.
"""

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

Vectors = dict[str, Array]
"""One vector per type, by its name."""


@dataclass(frozen=True)
class Packing:
    """Where each leaf of a tree lies in its vector."""

    structure: Any
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[np.dtype, ...]

    @staticmethod
    def of(tree: Any) -> "Packing":
        leaves, structure = jax.tree.flatten(tree)
        return Packing(structure, tuple(leaf.shape for leaf in leaves), tuple(np.dtype(leaf.dtype) for leaf in leaves))

    @property
    def size_in_bytes(self) -> int:
        return sum(math.prod(shape) * dtype.itemsize for shape, dtype in zip(self.shapes, self.dtypes, strict=True))

    def pack(self, tree: Any) -> Vectors:
        """The leaves of a tree, one after the other; to be called inside a program."""
        parts: dict[str, list[Array]] = {}
        for leaf, dtype in zip(jax.tree.leaves(tree), self.dtypes, strict=True):
            parts.setdefault(dtype.name, []).append(jnp.asarray(leaf, dtype).reshape(-1))
        return {name: jnp.concatenate(own) for name, own in parts.items()}

    def unpack(self, vectors: Vectors) -> Any:
        """The tree; to be called inside a program, which does not copy what it does not read."""
        places, leaves = dict.fromkeys(vectors, 0), []
        for shape, dtype in zip(self.shapes, self.dtypes, strict=True):
            first = places[dtype.name]
            places[dtype.name] = stop = first + math.prod(shape)
            leaves.append(jax.lax.slice(vectors[dtype.name], (first,), (stop,)).reshape(shape))
        return jax.tree.unflatten(self.structure, leaves)
