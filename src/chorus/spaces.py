"""Action spaces: storage, random sampling and conversion to native actions; and arrays of host or device."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import jax
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray


@dataclass(frozen=True)
class Discrete:
    """One of `count` actions. Agents count from 0; `first` is the environment's number of the first one."""

    count: int
    first: int = 0
    shape: ClassVar[tuple[int, ...]] = ()
    dtype: ClassVar[np.dtype] = np.dtype(np.int32)

    def sample(self, key: PRNGKeyArray, slots: int) -> Int[Array, " E"]:
        return jax.random.randint(key, (slots,), 0, self.count)

    def native(self, actions: Int[np.ndarray, " E"]) -> list[Any]:
        """The actions of E slots in the environment's own numbering."""
        return (actions + self.first).tolist()


@dataclass(frozen=True)
class Box:
    """Numbers between finite bounds, flattened. Agents act in [-1, 1]; `native` rescales to the bounds."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    native_shape: tuple[int, ...]
    native_type: str = "float32"
    dtype: ClassVar[np.dtype] = np.dtype(np.float32)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.low),)

    def sample(self, key: PRNGKeyArray, slots: int) -> Float[Array, "E A"]:
        return jax.random.uniform(key, (slots, *self.shape), minval=-1.0, maxval=1.0)

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, ...]:
        """Low and high as 64-bit floats, and as numbers of the environment's type."""
        low, high = np.array(self.low), np.array(self.high)
        return low, high, low.astype(self.native_type), high.astype(self.native_type)

    def native(self, actions: Float[np.ndarray, "E A"]) -> list[Any]:
        """The actions of E slots, rescaled to the environment's bounds and reshaped."""
        low, high, lowest, highest = self._bounds
        stretched = 0.5 * ((1.0 - actions) * low + (1.0 + actions) * high)
        # Rounded before clipping: bounds are numbers of the environment's type.
        kept = np.minimum(np.maximum(stretched.astype(self.native_type), lowest), highest)
        return list(kept.reshape(len(actions), *self.native_shape))


Actions = Discrete | Box


AnyArray = jax.Array | np.ndarray
