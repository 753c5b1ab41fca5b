"""Which episode each transition belongs to, and whether one member played it alone.

Kept beside the ring, so that asking for a batch costs no search. Like the queues of `ownership`, all of it can be read
off the ring's columns, so no checkpoint holds it.
"""

import numpy as np
from jaxtyping import Bool, Int, Integer


class Episodes:
    """Each lane counts its episodes. Of those in a window no two have the same number modulo the lane's rows, so what
    is known of an episode has its place there."""

    def __init__(self, lanes: int, rows: int) -> None:
        self._lanes, self._rows = np.arange(lanes), rows
        self._number = np.zeros((lanes, rows), np.int64)
        # Where an episode's acting member last changed; never is 0, which no change within an episode can be.
        self._last_change = np.zeros((lanes, rows), np.int64)
        self._newest_number = np.zeros(lanes, np.int64)
        self._newest_position = np.full(lanes, -2)
        self._newest_owner = np.zeros(lanes, np.int64)
        self._oldest = np.zeros(lanes, np.int64)

    def fill(self, lane: int, owner: Integer[np.ndarray, " P"], position: Int[np.ndarray, " P"]) -> None:
        """A lane's transitions as they lie in the ring."""
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

    def look_up(
        self, lane: Int[np.ndarray, "*b"], position: Int[np.ndarray, "*b"]
    ) -> tuple[Int[np.ndarray, "*b"], Bool[np.ndarray, "*b"]]:
        """A number for the episode of each transition, different for different ones, and whether one member alone
        played what the window holds of it."""
        number = self._number[lane, position % self._rows]
        alone = self._last_change[lane, number % self._rows] <= self._oldest[lane]
        return number * len(self._lanes) + lane, alone
