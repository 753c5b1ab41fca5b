"""Indexes of the ring by owner and by episode, so that drawing a member's own transitions needs no search.

They can be rebuilt from the ring's columns, so no checkpoint holds them.
"""

from collections import defaultdict

import numpy as np
from jaxtyping import Bool, Int, Integer

_SMALLEST = 16


class Positions:
    """A queue of rising positions; the oldest are dropped when space is needed."""

    def __init__(self, positions: Int[np.ndarray, " P"] | None = None) -> None:
        self._array = np.empty(_SMALLEST, np.int64) if positions is None else positions.astype(np.int64)
        self._end = 0 if positions is None else len(positions)

    def append(self, position: int, oldest: int) -> None:
        """Add a position; those before `oldest` may be dropped."""
        if self._end == len(self._array):
            self._reallocate(oldest)
        self._array[self._end] = position
        self._end += 1

    def _reallocate(self, oldest: int) -> None:
        """At least half of the new array is free, so each position is moved once on average."""
        kept = self._array[np.searchsorted(self._array, oldest) :]
        array = np.empty(max(_SMALLEST, 2 * len(kept)), np.int64)
        array[: len(kept)] = kept
        self._array, self._end = array, len(kept)

    def between(self, first: int, stop: int) -> Int[np.ndarray, " P"]:
        """The positions from `first` to before `stop`, as a view."""
        low, high = np.searchsorted(self._array[: self._end], (first, stop))
        return self._array[low:high]


class Ownership:
    """A queue of positions per lane and owner."""

    def __init__(self, lanes: int) -> None:
        self._queues: list[dict[int, Positions]] = [defaultdict(Positions) for _ in range(lanes)]

    def fill(self, lane: int, owner: Integer[np.ndarray, " P"], position: Int[np.ndarray, " P"]) -> None:
        """Add all transitions of a lane, oldest first."""
        for one in np.unique(owner).tolist():
            self._queues[lane][one] = Positions(position[owner == one])

    def append(
        self, owner: Int[np.ndarray, " E"], position: Int[np.ndarray, " E"], oldest: Int[np.ndarray, " E"]
    ) -> None:
        """One new transition in every lane; `oldest` is where each lane's window begins."""
        for lane, (one, place, first) in enumerate(
            zip(owner.tolist(), position.tolist(), oldest.tolist(), strict=True)
        ):
            self._queues[lane][one].append(place, first)

    def draw(
        self,
        owner: int,
        rng: np.random.Generator,
        count: int,
        first: Int[np.ndarray, " E"],
        stop: Int[np.ndarray, " E"],
    ) -> tuple[Int[np.ndarray, " B"], Int[np.ndarray, " B"]] | None:
        """Lane and position of `count` transitions of the owner, drawn uniformly with replacement between `first` and
        `stop` of each lane; None if there are none."""
        owned = [
            queues[owner].between(*span) if owner in queues else np.empty(0, np.int64)
            for queues, span in zip(self._queues, zip(first.tolist(), stop.tolist(), strict=True), strict=True)
        ]
        bounds = np.cumsum([len(positions) for positions in owned])
        if not bounds[-1]:
            return None
        number = rng.integers(bounds[-1], size=count)
        lane = np.searchsorted(bounds, number, side="right")
        position = np.empty(count, np.int64)
        for index, positions in enumerate(owned):
            here = lane == index
            position[here] = positions[number[here] - (bounds[index] - len(positions))]
        return lane, position


class Episodes:
    """The episode of each transition, and whether one owner alone played it.

    Episodes are numbered per lane. Those in a window differ modulo the lane's rows, so arrays of that size suffice.
    """

    def __init__(self, lanes: int, rows: int) -> None:
        self._lanes, self._rows = np.arange(lanes), rows
        self._number = np.zeros((lanes, rows), np.int64)
        # The position at which an episode's owner last changed; 0 for never, because no change can be at position 0.
        self._last_change = np.zeros((lanes, rows), np.int64)
        self._newest_number = np.zeros(lanes, np.int64)
        self._newest_position = np.full(lanes, -2)
        self._newest_owner = np.zeros(lanes, np.int64)
        self._oldest = np.zeros(lanes, np.int64)

    def fill(self, lane: int, owner: Integer[np.ndarray, " P"], position: Int[np.ndarray, " P"]) -> None:
        """Add all transitions of a lane, oldest first."""
        if not len(position):
            return
        # Between two episodes there is at least one row without a transition.
        begins = np.diff(position, prepend=-2) != 1
        number = np.cumsum(begins)
        self._number[lane, position % self._rows] = number
        changes = ~begins & (np.diff(owner.astype(np.int64), prepend=0) != 0)
        np.maximum.at(self._last_change[lane], number[changes] % self._rows, position[changes])
        self._newest_number[lane], self._newest_position[lane] = number[-1], position[-1]
        self._newest_owner[lane], self._oldest[lane] = owner[-1], position[0]

    def append(
        self, owner: Int[np.ndarray, " E"], position: Int[np.ndarray, " E"], oldest: Int[np.ndarray, " E"]
    ) -> None:
        """One new transition in every lane; `oldest` is where each lane's window begins."""
        begins = position != self._newest_position + 1
        changes = begins | (owner != self._newest_owner)
        self._newest_number += begins
        self._newest_position, self._newest_owner, self._oldest = position, owner, oldest.copy()
        self._number[self._lanes, position % self._rows] = self._newest_number
        if changes.any():
            lane = self._lanes[changes]
            place = self._newest_number[lane] % self._rows
            self._last_change[lane, place] = np.where(begins, 0, position)[lane]

    def arrays(self) -> tuple[np.ndarray, ...]:
        """Its state, in the order of `chorus.replay.device.EpisodeNumbers`."""
        return (
            self._number,
            self._last_change,
            self._newest_number,
            self._newest_position,
            self._newest_owner,
        )

    def look_up(
        self, lane: Int[np.ndarray, "*b"], position: Int[np.ndarray, "*b"]
    ) -> tuple[Int[np.ndarray, "*b"], Bool[np.ndarray, "*b"]]:
        """A unique number for the episode of each transition, and whether one owner alone played the part of it that
        lies in the window."""
        number = self._number[lane, position % self._rows]
        alone = self._last_change[lane, number % self._rows] <= self._oldest[lane]
        return number * len(self._lanes) + lane, alone
