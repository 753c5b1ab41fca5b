"""The replay ring: E lanes of rows, each observation stored once.

A row holds an observation and the action, reward and flags of the step after it. An episode of T transitions is T + 1
rows, the last of which holds only the final observation; the next observation of a transition is in the row after it.
A position counts all rows ever written to a lane; position p is stored in row p mod rows. Samplers draw from the
*window*, the newest `capacity` transitions. Older rows are kept until no checkpoint needs them.

Where an observation is a stack of frames, a row holds only its newest frame; the others are read from the rows before
it, never across an episode's start. A terminal within an episode (a lost life) is a flag and not another row, because
stacks continue across it.
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from jaxtyping import Bool, Float, Int, Integer, Shaped

from chorus.errors import ChorusError
from chorus.replay.columns import Columns, ring_slices
from chorus.replay.layout import SHORTEST_EPISODES_OF_HUGE_RINGS, Block, Cursor, RingLayout
from chorus.replay.ownership import Episodes, Ownership
from chorus.replay.packing import pack, unpack

TRANSITION, TERMINATED, TRUNCATED = 1, 2, 4
# The owner of a transition whose action all members chose together; no member has this number.
ENSEMBLE = 65_535
ENDED = TERMINATED | TRUNCATED

Index = TypeVar("Index", Ownership, Episodes)


class Windows(NamedTuple):
    """n-step windows read from the ring; like `Batch`, without the member axis."""

    observation: Shaped[np.ndarray, "B ..."]
    action: Shaped[np.ndarray, "B ..."]
    rewards: Float[np.ndarray, "B n"]
    length: Int[np.ndarray, " B"]
    terminated: Bool[np.ndarray, " B"]
    next_observation: Shaped[np.ndarray, "B ..."]


class Ring:
    """The ring, in memory or mapped to files in `directory`: new ones, or the `existing` ones of an earlier process."""

    def __init__(self, layout: RingLayout, directory: Path | None = None, *, existing: bool = False) -> None:
        self.layout = layout
        self.columns = Columns(layout.types(), layout.lanes, layout.rows, directory, existing=existing)
        self._flat = {name: array.reshape(-1, *array.shape[2:]) for name, array in self.columns.arrays.items()}
        zeros = np.zeros(layout.lanes, np.int64)
        self.cursor = Cursor(zeros.copy(), zeros.copy(), zeros.copy())
        self._lanes = np.arange(layout.lanes)
        self._lane_start = self._lanes * layout.rows
        # Each lane's first position whose row may not be overwritten.
        self._full_at = np.full(layout.lanes, np.iinfo(np.int64).max)
        self._indexes: list[Ownership | Episodes] = []
        self.sampler_memory: dict[str, Any] = {}
        """What a sampler remembers of errors (`Sampler.feedback`); emptied at the start of each iteration, so that
        a resumed run, which starts with one, draws the same."""

    def __len__(self) -> int:
        return int(self.cursor.transitions.sum())

    def protect(self, cursor: Cursor) -> None:
        """Forbid overwriting rows from this cursor's window on, which a kept checkpoint needs."""
        self._full_at = self.first_needed(cursor) + self.layout.rows

    def first_needed(self, cursor: Cursor) -> Int[np.ndarray, " E"]:
        """The start of the block that holds the oldest row of this cursor's window; its first stack begins earlier."""
        first = np.maximum(cursor.oldest - (self.layout.frame_stack - 1), 0)
        return first - first % self.layout.block_rows

    def blocks(self, cursor: Cursor) -> Iterator[Block]:
        """The blocks that hold this cursor's window; the last one of each lane may still be growing.

        A block starts at a multiple of its size. A row never changes once the next one is written, so the rows of a
        whole block stay what they are until they are overwritten.
        """
        size = self.layout.block_rows
        for lane, (first, end) in enumerate(zip(self.first_needed(cursor).tolist(), cursor.end.tolist(), strict=True)):
            for start in range(first, end, size):
                yield Block(lane, start, min(start + size, end))

    def physical(self, lane: Int[np.ndarray, "*#b"], position: Int[np.ndarray, "*#b"]) -> Int[np.ndarray, "..."]:
        return self._lane_start[lane] + position % self.layout.rows

    def begin(self, observation: Shaped[np.ndarray, "E ..."], lanes: Int[np.ndarray, " S"]) -> None:
        """Start an episode in each of these lanes."""
        self._append(lanes, observation[lanes])

    def add(
        self,
        action: Shaped[np.ndarray, "E ..."],
        reward: Float[np.ndarray, " E"],
        terminated: Bool[np.ndarray, " E"],
        truncated: Bool[np.ndarray, " E"],
        owner: Int[np.ndarray, " E"],
        next_observation: Shaped[np.ndarray, "E ..."],
        mask: Bool[np.ndarray, "E N"] | None = None,
    ) -> None:
        """One transition in every lane; where it ends an episode, `next_observation` is the final one."""
        position = self.cursor.end - 1
        row = self._lane_start + position % self.layout.rows
        self._flat["action"][row] = action
        self._flat["reward"][row] = reward
        self._flat["owner"][row] = owner
        self._flat["flags"][row] = TRANSITION + TERMINATED * terminated + TRUNCATED * truncated
        if mask is not None:
            self._flat["mask"][row] = np.packbits(mask, axis=1)
        self.cursor.transitions[:] += 1
        self._append(self._lanes, next_observation)
        self._shrink_window()
        for index in self._indexes:
            index.append(owner, position, self.cursor.oldest)

    def _append(self, lanes: Int[np.ndarray, " S"], observation: Shaped[np.ndarray, "S ..."]) -> None:
        position = self.cursor.end[lanes]
        self.check_room(lanes, position)
        row = self.physical(lanes, position)
        frame = observation if self.layout.frame_stack == 1 else observation[:, -1]
        self._flat["observation"][row] = pack(frame, self.layout.frame_shape)
        self._flat["flags"][row] = 0
        self.cursor.end[lanes] += 1

    def check_room(self, lanes: Int[np.ndarray, " S"], position: Int[np.ndarray, " S"]) -> None:
        """Refuse to write at these positions if a kept checkpoint still needs what is there."""
        if (position >= self._full_at[lanes]).any():
            raise ChorusError(
                f"episodes of fewer than {SHORTEST_EPISODES_OF_HUGE_RINGS} steps on average overrun the replay's "
                f"{self.layout.rows} rows per lane with their final observations; a smaller --buffer-size "
                "(a replay of at most 2 GB in all) has room for any episodes"
            )

    def _shrink_window(self) -> None:
        cursor, layout = self.cursor, self.layout
        while True:
            too_long = (cursor.transitions > layout.lane_capacity) | (cursor.end - cursor.oldest > layout.window_rows)
            if not too_long.any():
                return
            cursor.oldest[too_long] += 1
            cursor.transitions[too_long] -= 1
            # After a dropped transition comes the next one, or the final observation of its episode.
            final = self._flat["flags"][self.physical(self._lanes, cursor.oldest)] == 0
            cursor.oldest[final & too_long] += 1

    def locate(self, number: Int[np.ndarray, " B"]) -> tuple[np.ndarray, np.ndarray]:
        """Lane and position of the `number`-th row, counted through the windows of all lanes."""
        ends = np.cumsum(self.cursor.end - self.cursor.oldest)
        lane = np.searchsorted(ends, number, side="right")
        return lane, number + (self.cursor.end - ends)[lane]

    @property
    def rows_in_windows(self) -> int:
        return int(np.sum(self.cursor.end - self.cursor.oldest))

    def ends_within(
        self, lane: Int[np.ndarray, " B"], position: Int[np.ndarray, " B"], steps: int
    ) -> tuple[Bool[np.ndarray, " B"], Int[np.ndarray, " B"]]:
        """Which rows start a complete n-step window, and its realised length.

        A window is complete if its episode ends inside it or if the observation after its n-th step is stored, which
        it always is for n = 1.
        """
        if steps == 1:
            flags = self._flat["flags"][self.physical(lane, position)]
            return (flags & TRANSITION) > 0, np.ones(len(position), np.int64)
        last = self.cursor.end[lane] - 1
        reach = np.minimum(position[:, None] + np.arange(steps), last[:, None])
        flags = self._flat["flags"][self.physical(lane[:, None], reach)]
        ended = (flags & ENDED) > 0
        length = np.where(ended.any(axis=1), ended.argmax(axis=1) + 1, steps)
        complete = ended.any(axis=1) | (position + steps <= last)
        return ((flags[:, 0] & TRANSITION) > 0) & complete, length

    def read(
        self,
        lane: Int[np.ndarray, " B"],
        position: Int[np.ndarray, " B"],
        length: Int[np.ndarray, " B"],
        steps: int,
    ) -> Windows:
        """The windows that start at the given rows, rewards beyond `length` set to zero."""
        first = self.physical(lane, position)
        if steps == 1:
            rewards, last = self._flat["reward"][first][:, None], first
        else:
            inside = np.arange(steps) < length[:, None]
            found = self._flat["reward"][self.physical(lane[:, None], position[:, None] + np.arange(steps))]
            rewards = np.where(inside, found, np.float32(0.0))
            last = self.physical(lane, position + length - 1)
        observation, next_observation = self._observations(lane, position, length, steps)
        return Windows(
            observation=observation,
            action=self._flat["action"][first],
            rewards=rewards,
            length=length.astype(np.int32),
            terminated=(self._flat["flags"][last] & TERMINATED) > 0,
            next_observation=next_observation,
        )

    def _observations(
        self, lane: Int[np.ndarray, " B"], position: Int[np.ndarray, " B"], length: Int[np.ndarray, " B"], steps: int
    ) -> tuple[Shaped[np.ndarray, "B ..."], Shaped[np.ndarray, "B ..."]]:
        """The observations before and after each window; with stacks, only the new frames after it."""
        stored, stack = self._flat["observation"], self.layout.frame_stack
        self.columns.prefetch("observation", lane, np.maximum(position - (stack - 1), 0), stack + steps)
        if stack == 1:
            return self._unpack(stored[self.physical(lane, position)]), self._unpack(
                stored[self.physical(lane, position + length)]
            )
        lane = lane[:, None]
        before = position[:, None] + np.arange(1 - stack, 1)
        after = position[:, None] + np.minimum(np.arange(1, steps + 1), length[:, None])
        observation = self._unpack(np.take(stored, self.physical(lane, before), axis=0))
        # A row without a transition ends its episode: frames up to the newest such row belong to earlier episodes.
        goes_on = (self._flat["flags"][self.physical(lane, before[:, :-1])] > 0) & (before[:, :-1] >= 0)
        same_episode = np.logical_and.accumulate(goes_on[:, ::-1], axis=1)[:, ::-1]
        observation[:, :-1][~same_episode] = 0
        return observation, self._unpack(np.take(stored, self.physical(lane, after), axis=0))

    def _unpack(self, stored: Shaped[np.ndarray, "..."]) -> Shaped[np.ndarray, "..."]:
        return np.asarray(unpack(stored, self.layout.frame_shape, self.layout.observation_dtype))

    def owners(self, lane: Int[np.ndarray, " B"], position: Int[np.ndarray, " B"]) -> Integer[np.ndarray, " B"]:
        """The member that generated each of the given transitions, or `ENSEMBLE`."""
        return self._flat["owner"][self.physical(lane, position)]

    def masks(self, lane: Int[np.ndarray, " B"], position: Int[np.ndarray, " B"]) -> Bool[np.ndarray, "B N"]:
        """Which members learn from each of the given transitions."""
        packed = self._flat["mask"][self.physical(lane, position)]
        return np.unpackbits(packed, axis=1, count=self.layout.masked_members).astype(bool)

    def window(self, name: str, lane: int) -> Shaped[np.ndarray, "R ..."]:
        """A column's rows in one lane's window, oldest first."""
        rows = self.columns.arrays[name][lane]
        pieces = ring_slices(int(self.cursor.oldest[lane]), int(self.cursor.end[lane]), self.layout.rows)
        return np.concatenate([rows[:0], *(rows[piece] for piece in pieces)])

    @cached_property
    def ownership(self) -> Ownership:
        """Built from the columns at the first access and updated from then on."""
        return self._maintain(Ownership(self.layout.lanes))

    @cached_property
    def episodes(self) -> Episodes:
        """Built from the columns at the first access and updated from then on."""
        return self._maintain(Episodes(self.layout.lanes, self.layout.rows))

    def _maintain(self, index: Index) -> Index:
        self._indexes.append(index)
        return self.fill(index)

    def fill(self, index: Index) -> Index:
        """Add all transitions of the window to an index."""
        for lane in range(self.layout.lanes):
            index.fill(lane, *self.transitions_of(lane))
        return index

    def transitions_of(self, lane: int) -> tuple[Integer[np.ndarray, " P"], Int[np.ndarray, " P"]]:
        """Owners and positions of the transitions in one lane's window, oldest first."""
        found = np.flatnonzero(self.window("flags", lane) & TRANSITION)
        return self.window("owner", lane)[found], self.cursor.oldest[lane] + found

    def incomplete_from(self, steps: int) -> Int[np.ndarray, " E"]:
        """Each lane's first position without a complete n-step window; none after it has one."""
        lane = np.arange(self.layout.lanes)[:, None]
        before = self.cursor.end[:, None] - np.arange(2, steps + 1)
        flags = self._flat["flags"][self.physical(lane, before)]
        goes_on = ((flags & (TRANSITION | ENDED)) == TRANSITION) & (before >= 0)
        return self.cursor.end - 1 - np.logical_and.accumulate(goes_on, axis=1).sum(axis=1)
