"""Episodes put together from single steps, for training, evaluation and videos."""

from dataclasses import dataclass

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
        self._open: list[_OpenEpisode] = [_OpenEpisode() for _ in range(slots)]

    def record(
        self,
        owner: Integer[np.ndarray, " E"],
        reward: Float[np.ndarray, " E"],
        ended: Bool[np.ndarray, " E"],
        **columns: Shaped[np.ndarray, " E"],
    ) -> list[Episode]:
        """One step of every slot; returns the episodes that it finished, in the order of the slots."""
        names = list(columns)
        rows = zip(owner.tolist(), reward.tolist(), *(column.tolist() for column in columns.values()), strict=True)
        for episode, (one, paid, *others) in zip(self._open, rows, strict=True):
            episode.owners.add(one)
            episode.rewards.append(paid)
            episode.others.append(others)
        finished = []
        for slot in np.flatnonzero(ended).tolist():
            finished.append(self._open[slot].finish(slot, names))
            self._open[slot] = _OpenEpisode()
        return finished


class _OpenEpisode:
    def __init__(self) -> None:
        self.owners: set[int] = set()
        self.rewards: list[float] = []
        self.others: list[list] = []

    def finish(self, slot: int, names: list[str]) -> Episode:
        (owner,) = self.owners if len(self.owners) == 1 else (ENSEMBLE,)
        columns = dict(zip(names, map(np.array, zip(*self.others, strict=True)), strict=True))
        return Episode(slot, None if owner == ENSEMBLE else owner, np.array(self.rewards), columns)
