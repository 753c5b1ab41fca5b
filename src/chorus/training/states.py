"""State indices: which observations count as the same state, where the states that were visited are counted."""

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Shaped

from chorus.components import AT_LEAST_1, Component, option, register
from chorus.errors import ChorusError

# A bit per state, action and member: this many states take 52 MB for ten members with 18 actions.
_MOST_STATES = 2**21


class StateIndex(Component, ABC, interface="state index"):
    """Numbers the states of an environment by its observations, from 0 to below `size`."""

    @abstractmethod
    def size(self, shape: tuple[int, ...]) -> int:
        """The number of states that it distinguishes, for observations of this shape."""

    @abstractmethod
    def __call__(self, observation: Shaped[np.ndarray, "E ..."]) -> Int[np.ndarray, " E"]:
        """The number of each state."""

    def map_shape(self, shape: tuple[int, ...]) -> tuple[int, int] | None:
        """Rows and columns of a map whose cells are the states in their order; None if they have no place on one."""
        return None

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if (size := self.size(spec.observation_shape)) > _MOST_STATES:
            yield f"the state index {self.kind} has {size:,} states; a run counts at most {_MOST_STATES:,}"


@register
@dataclass(frozen=True, kw_only=True)
class MarkedCell(StateIndex):
    """The place of the one value of an observation that is not zero, as in DeepSea: exact."""

    def size(self, shape: tuple[int, ...]) -> int:
        return math.prod(shape)

    def __call__(self, observation: Shaped[np.ndarray, "E ..."]) -> Int[np.ndarray, " E"]:
        marked = (observation != 0).reshape(len(observation), -1)
        if (most := int(marked.sum(axis=1).max())) > 1:
            raise ChorusError(
                f"the state index {self.kind} needs observations with one value that is not zero, and one of these has "
                f"{most}; use --count-states hashed, or a grid"
            )
        return marked.argmax(axis=1)

    def map_shape(self, shape: tuple[int, ...]) -> tuple[int, int] | None:
        return (shape[0], shape[1]) if len(shape) == 2 else None

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if not spec.one_hot:
            yield (
                f"the state index {self.kind} needs observations with one value that is not zero, and those of "
                f"{spec.id} are not known to be so; use --count-states hashed, or a grid"
            )
        yield from super().problems(config, spec)


@register
@dataclass(frozen=True, kw_only=True)
class Grid(StateIndex):
    """Equal bins between bounds, in each number of a flat observation; what lies outside is in the bin at the edge."""

    low: tuple[float, ...] = option(unit="NUMBERS", help="lower bound of each number of an observation")
    high: tuple[float, ...] = option(unit="NUMBERS", help="upper bound of each number of an observation")
    bins: int = option(10, unit="K", within=AT_LEAST_1, help="bins per number of an observation")

    def size(self, shape: tuple[int, ...]) -> int:
        return self.bins ** len(self.low)

    def __call__(self, observation: Shaped[np.ndarray, "E ..."]) -> Int[np.ndarray, " E"]:
        low, high = np.array(self.low), np.array(self.high)
        places = np.floor((observation - low) / (high - low) * self.bins)
        within = np.clip(np.nan_to_num(places), 0, self.bins - 1).astype(np.int64)
        return within @ self.bins ** np.arange(len(self.low))[::-1]

    def map_shape(self, shape: tuple[int, ...]) -> tuple[int, int] | None:
        return (self.bins, self.bins) if len(self.low) == 2 else None

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if not len(self.low) == len(self.high) == math.prod(spec.observation_shape) or len(spec.observation_shape) != 1:
            yield (
                f"states.low and states.high have {len(self.low)} and {len(self.high)} numbers; observations of "
                f"{spec.id} have the shape {spec.observation_shape}: give one lower and one upper bound per number"
            )
        elif any(low >= high for low, high in zip(self.low, self.high, strict=True)):
            yield (
                f"states.low is {list(self.low)} and states.high {list(self.high)}; each lower bound must be less than "
                "its upper bound"
            )
        else:
            yield from super().problems(config, spec)


@register
@dataclass(frozen=True, kw_only=True)
class Hashed(StateIndex):
    """A hash of the observation's bytes (BLAKE2b) modulo `cells`: different states may share a cell.

    For images and other observations that return exactly. Numbers with many digits hardly ever do.

    The number of n states is too low by about n²/(2 cells) where n is far below `cells`, and never above `cells`.
    """

    cells: int = option(2**18, unit="CELLS", within=AT_LEAST_1, help="different hashes; a bit each in memory")

    def size(self, shape: tuple[int, ...]) -> int:
        return self.cells

    def __call__(self, observation: Shaped[np.ndarray, "E ..."]) -> Int[np.ndarray, " E"]:
        digests = [hashlib.blake2b(one.tobytes(), digest_size=8).digest() for one in observation]
        return np.array([int.from_bytes(digest, "little") % self.cells for digest in digests], np.int64)


@register
@dataclass(frozen=True, kw_only=True)
class SimHash(StateIndex):
    """The signs of fixed random projections of an observation (Charikar, 2002; Tang et al., 2017).

    Observations that differ little mostly share a state, which a hash of their bytes tells apart.
    """

    bits: int = option(16, unit="K", within=AT_LEAST_1, help="random projections; there are 2^K states")

    def size(self, shape: tuple[int, ...]) -> int:
        return 1 << self.bits

    def __call__(self, observation: Shaped[np.ndarray, "E ..."]) -> Int[np.ndarray, " E"]:
        seen = observation.reshape(len(observation), -1).astype(np.float32)
        positive = seen @ _projections(seen.shape[1], self.bits) > 0
        return positive @ (1 << np.arange(self.bits, dtype=np.int64))


@cache
def _projections(numbers: int, bits: int) -> Float[np.ndarray, "D K"]:
    """The same in every run, so that their counts can be compared."""
    return np.random.default_rng(0).normal(size=(numbers, bits)).astype(np.float32)
