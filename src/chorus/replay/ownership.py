"""Where each member's own transitions are, kept beside the ring so that drawing from them costs no search.

For every lane and owner there is a queue of positions, oldest first. All of it can be read off the ring's owner column,
so no checkpoint holds it.
"""

from collections import defaultdict

import numpy as np
from jaxtyping import Int, Integer

_SMALLEST = 16


class Positions:
    """Positions in rising order: new ones come at the end, and room is made by forgetting the oldest."""

    def __init__(self, positions: Int[np.ndarray, " P"] | None = None) -> None:
        self._room = np.empty(_SMALLEST, np.int64) if positions is None else positions.astype(np.int64)
        self._end = 0 if positions is None else len(positions)

    def append(self, position: int, oldest: int) -> None:
        """Positions before `oldest` will not be asked for again."""
        if self._end == len(self._room):
            self._make_room(oldest)
        self._room[self._end] = position
        self._end += 1

    def _make_room(self, oldest: int) -> None:
        """At least half of the new room is free, so that each position is moved once on average."""
        kept = self._room[np.searchsorted(self._room, oldest) :]
        room = np.empty(max(_SMALLEST, 2 * len(kept)), np.int64)
        room[: len(kept)] = kept
        self._room, self._end = room, len(kept)

    def between(self, first: int, stop: int) -> Int[np.ndarray, " P"]:
        """Those from `first` to before `stop`; a view, nothing is copied."""
        low, high = np.searchsorted(self._room[: self._end], (first, stop))
        return self._room[low:high]


class Ownership:
    """The queues of all lanes and owners."""

    def __init__(self, lanes: int) -> None:
        self._queues: list[dict[int, Positions]] = [defaultdict(Positions) for _ in range(lanes)]

    def fill(self, lane: int, owner: Integer[np.ndarray, " P"], position: Int[np.ndarray, " P"]) -> None:
        """A lane's transitions as they lie in the ring."""
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
        """Lane and position of `count` of the owner's transitions from `first` to before `stop` of each lane, uniformly
        with replacement; none if it has none."""
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
