"""The replay as anyone would write it who has all the memory in the world: a list of transitions a lane."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from chorus.replay.ring import Ring


class Step(NamedTuple):
    """A transition; `ending` is 0 while its episode goes on, 1 where it terminates, 2 where it is truncated."""

    observation: float
    action: int
    reward: float
    ending: int
    owner: int
    next_observation: float


class Window(NamedTuple):
    """What a sampler should hand over for one start."""

    observation: float
    action: int
    rewards: tuple[float, ...]
    length: int
    terminated: bool
    next_observation: float
    owner: int


@dataclass
class NaiveReplay:
    """Feeds the same random transitions to a ring and to its own lists. Every observation is another number."""

    ring: Ring
    seed: int = 0
    lanes: list[list[Step]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._count = 0.0
        count = self.ring.layout.lanes
        self.lanes = [[] for _ in range(count)]
        self._now = self._observe(count)
        self.begin(np.arange(count))

    def _observe(self, count: int) -> np.ndarray:
        self._count += count
        return np.arange(self._count - count, self._count)

    def _shown(self, numbers: np.ndarray) -> np.ndarray:
        shape, dtype = self.ring.layout.observation_shape, self.ring.layout.observation_dtype
        return np.broadcast_to(numbers.reshape(-1, *(1,) * len(shape)), (len(numbers), *shape)).astype(dtype)

    def begin(self, lanes: np.ndarray) -> None:
        self.ring.begin(self._shown(self._now), lanes)

    def step(self, endings: list[int], begin: bool = True) -> None:
        """One transition in every lane, and a new episode where one ended."""
        count = len(self.lanes)
        ending = np.asarray(endings)
        action, owner = self._rng.integers(5, size=count), self._rng.integers(7, size=count)
        reward, following = self._rng.integers(-9, 9, size=count).astype(np.float32), self._observe(count)
        self.ring.add(action, reward, ending == 1, ending == 2, owner, self._shown(following))
        for lane, steps in enumerate(self.lanes):
            row = (self._now, action, reward, ending, owner, following)
            steps.append(Step(*(column[lane].item() for column in row)))
        ended = np.flatnonzero(ending)
        self._now = following.copy()
        if len(ended):
            self._now[ended] = self._observe(len(ended))
            if begin:
                self.begin(ended)

    def windows(self, n_step: int, newest: list[int]) -> dict[float, Window]:
        """Every complete window that starts among the `newest` transitions of each lane, by its first observation."""
        found = {}
        for steps, count in zip(self.lanes, newest, strict=True):
            for start in range(len(steps) - min(count, len(steps)), len(steps)):
                taken = []
                for step in steps[start : start + n_step]:
                    taken.append(step)
                    if step.ending:
                        break
                if len(taken) == n_step or taken[-1].ending:
                    first, last = taken[0], taken[-1]
                    rewards = tuple(step.reward for step in taken) + (0.0,) * (n_step - len(taken))
                    found[first.observation] = Window(
                        first.observation,
                        first.action,
                        rewards,
                        len(taken),
                        last.ending == 1,
                        last.next_observation,
                        first.owner,
                    )
        return found


def windows_at(ring: Ring, lane: np.ndarray, position: np.ndarray, length: np.ndarray, n_step: int) -> list[Window]:
    """What the ring hands over, in the naive model's words."""
    read, owners = ring.read(lane, position, length, n_step), ring.owners(lane, position)
    batch = len(lane)
    return [
        Window(
            float(read.observation.reshape(batch, -1)[i, 0]),
            int(read.action[i]),
            tuple(read.rewards[i].tolist()),
            int(read.length[i]),
            bool(read.terminated[i]),
            float(read.next_observation.reshape(batch, -1)[i, 0]),
            int(owners[i]),
        )
        for i in range(batch)
    ]


def all_windows(ring: Ring, n_step: int) -> list[Window]:
    """Every window a sampler could draw."""
    lane, position = ring.locate(np.arange(ring.rows_in_windows))
    valid, length = ring.ends_within(lane, position, n_step)
    return windows_at(ring, lane[valid], position[valid], length[valid], n_step)
