"""Sizes of a replay ring, and where in it rows are."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from chorus.replay.columns import ColumnTypes, row_bytes
from chorus.replay.packing import packed_type

# Final observations need rows, too. A ring of moderate size has one per transition, which is enough for episodes of
# one step; a huge ring has enough for episodes of eight steps and more on average.
_MODERATE_BYTES = 2 * 1024**3
SHORTEST_EPISODES_OF_HUGE_RINGS = 8

# Rows are hashed in blocks. A block of Atari frames is 7 MB: a million rows have a thousand hashes. A small ring has
# smaller blocks, because it keeps up to one block of rows that it no longer needs.
_BLOCK_ROWS = 1_024
_BLOCKS_OF_SMALL_RINGS = 16


@dataclass(frozen=True)
class RingLayout:
    """Sizes of a ring; `iteration_steps` is the largest number of agent steps between two checkpoints.

    With a `frame_stack` above 1 the first axis of an observation holds its frames, oldest first. With `masked_members`
    every transition has one mask bit per member.
    """

    lanes: int
    capacity: int
    iteration_steps: int
    observation_shape: tuple[int, ...]
    observation_dtype: np.dtype
    frame_stack: int = 1
    masked_members: int = 0
    action_shape: tuple[int, ...] = ()
    action_dtype: np.dtype = np.dtype(np.int32)  # noqa: RUF009 (immutable)

    def types(self) -> ColumnTypes:
        mask: ColumnTypes = {"mask": ((-(-self.masked_members // 8),), np.dtype(np.uint8))}
        return {
            "observation": packed_type(self.frame_shape, self.observation_dtype),
            "action": (self.action_shape, self.action_dtype),
            "reward": ((), np.dtype(np.float32)),
            "flags": ((), np.dtype(np.uint8)),
            "owner": ((), np.dtype(np.uint16)),
            **(mask if self.masked_members else {}),
        }

    @property
    def frame_shape(self) -> tuple[int, ...]:
        """What one row holds of an observation."""
        return self.observation_shape if self.frame_stack == 1 else self.observation_shape[1:]

    @property
    def lane_capacity(self) -> int:
        return self.capacity // self.lanes

    def _with_final_rows(self, transitions: int) -> int:
        everything = 2 * (self.capacity + 2 * self.iteration_steps) * row_bytes(self.types())
        shortest = 1 if everything <= _MODERATE_BYTES else SHORTEST_EPISODES_OF_HUGE_RINGS
        return transitions + -(-transitions // shortest) + 1

    @cached_property
    def window_rows(self) -> int:
        return self._with_final_rows(self.lane_capacity)

    @cached_property
    def rows(self) -> int:
        """Rows per lane: the window, the frames before it that its first stack needs, the rest of the block in which
        they start, and two iterations, because two checkpoints are kept."""
        iteration = self._with_final_rows(-(-self.iteration_steps // self.lanes))
        return self.window_rows + self.frame_stack - 1 + self.block_rows - 1 + 2 * iteration

    @property
    def block_rows(self) -> int:
        """Rows under one hash."""
        return max(1, min(_BLOCK_ROWS, self.lane_capacity // _BLOCKS_OF_SMALL_RINGS))

    @property
    def total_bytes(self) -> int:
        return self.rows * self.lanes * row_bytes(self.types())


class Block(NamedTuple):
    """The rows of one lane from position `start` to `stop`."""

    lane: int
    start: int
    stop: int


class Cursor(NamedTuple):
    """Per lane: rows ever written, position of the window's oldest transition, transitions in the window."""

    end: Int[np.ndarray, " E"]
    oldest: Int[np.ndarray, " E"]
    transitions: Int[np.ndarray, " E"]
