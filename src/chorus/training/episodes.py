"""Episodes put together from single steps, for training, evaluation and videos."""

from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped

from chorus.replay.ring import ENSEMBLE


@dataclass(frozen=True)
class Episode:
    """A finished episode of T steps; `columns` holds what else was recorded at each step.

    `member` is None if several members played it, or the ensemble as a whole.
    """

    slot: int
    member: int | None
    rewards: Float[np.ndarray, " T"]
    columns: dict[str, Shaped[np.ndarray, " T"]]

    @property
    def episodic_return(self) -> float:
        return float(self.rewards.sum())

    @property
    def length(self) -> int:
        return len(self.rewards)


class EpisodeRecorder:
    """Collects the steps of E slots until their episodes end; episodes that are never finished are never returned."""

    def __init__(self, slots: int) -> None:
        # What was recorded by each call, from the step of that number on, as far back as an open episode reaches.
        self._parts: list[_Part] = []
        self._starts: list[int] = []
        self._begun = [0] * slots
        self._time = 0

    def record(
        self,
        owner: Integer[np.ndarray, "T E"],
        reward: Float[np.ndarray, "T E"],
        ended: Bool[np.ndarray, "T E"],
        **columns: Shaped[np.ndarray, "T E"],
    ) -> list[Episode]:
        """T steps of every slot; returns the episodes that they finished, in the order of their ends and slots."""
        self._parts.append(_Part(owner, reward, columns))
        self._starts.append(self._time)
        finished = [self._finish(slot, self._time + t + 1) for t, slot in np.argwhere(ended).tolist()]
        self._time += len(reward)
        if finished:
            self._forget(min(self._begun))
        return finished

    def _finish(self, slot: int, end: int) -> Episode:
        """The episode of a slot whose last step was the one before `end`."""
        begin, self._begun[slot] = self._begun[slot], end
        first = bisect_right(self._starts, begin) - 1
        spans = [
            (part, slice(max(0, begin - start), end - start))
            for part, start in zip(self._parts[first:], self._starts[first:], strict=True)
        ]
        owners = set(np.concatenate([part.owner[steps, slot] for part, steps in spans]).tolist())
        (owner,) = owners if len(owners) == 1 else (ENSEMBLE,)
        # Sums and means are taken in double precision.
        rewards = np.concatenate([part.reward[steps, slot] for part, steps in spans], dtype=np.float64)
        columns = {
            name: np.concatenate([part.columns[name][steps, slot] for part, steps in spans])
            for name in self._parts[-1].columns
        }
        return Episode(slot, None if owner == ENSEMBLE else owner, rewards, columns)

    def _forget(self, time: int) -> None:
        """Drop what was recorded before this time."""
        done = bisect_right(self._starts, time) - 1
        del self._parts[:done], self._starts[:done]


class _Part(NamedTuple):
    owner: Integer[np.ndarray, "T E"]
    reward: Float[np.ndarray, "T E"]
    columns: dict[str, Shaped[np.ndarray, "T E"]]
