"""What a run has explored: states and actions that it visited, its first reward, when it was solved, and its regret.

Counted from the events of the loop over the whole run (docs/metrics.md). What is counted is a part of the checkpoint,
so that a resumed run goes on counting where it stopped.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from jaxtyping import Float, Int, UInt8

from chorus.envs.spec import EnvSpec
from chorus.replay.ring import ENSEMBLE
from chorus.spaces import Discrete
from chorus.training.diagnostics import by_member
from chorus.training.episodes import Episode
from chorus.training.loop import Collected
from chorus.training.states import StateIndex

SOLVED_EPISODES = 100
"""Solved: the mean return of so many episodes in a row reaches the environment's `solved_return`."""
# Steps are counted in groups: counting them one by one would cost more than all else that is done per step.
_STEPS_PER_COUNT = 256


class ExplorationLog:
    """What episodes alone say, for runs that count no states."""

    def __init__(self, spec: EnvSpec) -> None:
        self._tally = Tally(spec)

    def record(self, event: Collected, finished: Iterable[Episode]) -> None:
        """One step of every slot, and the episodes that it finished."""
        for episode in finished:
            self._tally.add(episode, event.step)

    def metrics(self) -> dict[str, float]:
        """What has been explored since the start of the run."""
        return self._tally.metrics()

    def visit_map(self) -> Int[np.ndarray, "R C"] | None:
        """How often each state was visited, if the states have places on a map."""
        return None

    def arrays(self) -> dict[str, np.ndarray]:
        """All that has been counted, for a checkpoint."""
        return self._tally.arrays()

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go on from what `arrays` returned."""
        self._tally.restore(arrays)


class CountedExploration(ExplorationLog):
    """Counts states, too, by a state index, for each member and for actions of the ensemble as a whole.

    One bit per owner, action and state: (members + 1) x actions x states / 8 bytes, and 8 bytes per place on the map.
    """

    def __init__(self, index: StateIndex, spec: EnvSpec, members: int) -> None:
        super().__init__(spec)
        self._index, self._spec, self._members = index, spec, members
        size = index.size(spec.observation_shape)
        self._actions = _actions(spec)
        self._visited = np.zeros((members + 1, self._actions, -(-size // 8)), np.uint8)
        self._map = index.map_shape(spec.observation_shape)
        self._visits = np.zeros(size if self._map else 0, np.int64)
        self._pending: list[tuple[Int[np.ndarray, " E"], ...]] = []

    def record(self, event: Collected, finished: Iterable[Episode]) -> None:
        assert event.visited is not None, "the loop shows no visits"
        observation, action = event.visited
        # Numbered at once: environments may write their next observation into the same array.
        state = self._index(observation)
        self._pending.append((state, action if self._actions > 1 else np.zeros_like(state), event.owner))
        if len(self._pending) == _STEPS_PER_COUNT:
            self._count()
        super().record(event, finished)

    def _count(self) -> None:
        if not self._pending:
            return
        state, action, owner = (np.concatenate(column).astype(np.int64) for column in zip(*self._pending, strict=True))
        self._pending.clear()
        owner = np.where(owner == ENSEMBLE, self._members, owner)
        np.bitwise_or.at(self._visited, (owner, action, state >> 3), (1 << (state & 7)).astype(np.uint8))
        if self._map:
            np.add.at(self._visits, state, 1)

    def metrics(self) -> dict[str, float]:
        self._count()
        named = {"states_visited": np.bitwise_or.reduce(self._visited, axis=1)}
        if isinstance(self._spec.actions, Discrete):
            named["state_actions_visited"] = self._visited.reshape(self._members + 1, -1)
        found: dict[str, float] = {}
        for name, bits in named.items():
            found[f"exploration/{name}"] = float(_ones(np.bitwise_or.reduce(bits, axis=0)))
            if self._members > 1:
                found |= by_member(
                    f"exploration/{name}", np.array([_ones(own) for own in bits[: self._members]], float)
                )
        return found | super().metrics()

    def visit_map(self) -> Int[np.ndarray, "R C"] | None:
        self._count()
        return self._visits.reshape(self._map) if self._map else None

    def arrays(self) -> dict[str, np.ndarray]:
        self._count()
        return {"visited": self._visited, "visits": self._visits, **super().arrays()}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._visited[:], self._visits[:] = arrays["visited"], arrays["visits"]
        super().restore(arrays)


def _ones(bits: UInt8[np.ndarray, " B"]) -> int:
    return int(np.bitwise_count(bits).sum())


class Tally:
    """What the returns of all finished training episodes say; episodes are numbered from 1 as they finish."""

    def __init__(self, spec: EnvSpec) -> None:
        self._spec = spec
        # Numbers of episodes; 0 for an event that has not happened.
        self._counts = {"episodes": 0, "first_reward_episode": 0, "solved_episode": 0}
        self._solved_step = 0
        self._total_return = 0.0
        self._recent: Float[np.ndarray, " R"] = np.zeros(SOLVED_EPISODES)
        # A checkpoint of an older version may not say what came before it; then nothing is known of the whole run.
        self._knows_all = True

    def add(self, episode: Episode, step: int) -> None:
        """An episode that ended at this agent step."""
        counts = self._counts
        self._recent[counts["episodes"] % SOLVED_EPISODES] = episode.episodic_return
        self._total_return += episode.episodic_return
        counts["episodes"] += 1
        if not counts["first_reward_episode"] and (episode.rewards > 0).any():
            counts["first_reward_episode"] = counts["episodes"]
        if not counts["solved_episode"] and self._is_solved():
            counts["solved_episode"], self._solved_step = counts["episodes"], step

    def _is_solved(self) -> bool:
        wanted = self._spec.solved_return
        enough = self._counts["episodes"] >= SOLVED_EPISODES
        return wanted is not None and enough and float(self._recent.mean()) >= wanted

    def metrics(self) -> dict[str, float]:
        if not self._knows_all:
            return {}
        events = {**self._counts, "solved_step": self._solved_step}
        found = {f"exploration/{name}": float(at) for name, at in events.items() if at and name != "episodes"}
        if self._spec.optimal_return is not None:
            found["exploration/regret"] = self._counts["episodes"] * self._spec.optimal_return - self._total_return
        return found

    def arrays(self) -> dict[str, np.ndarray]:
        if not self._knows_all:
            return {}
        return {
            "counts": np.array(list(self._counts.values()), np.int64),
            "solved_step": np.array([self._solved_step], np.int64),
            "total_return": np.array([self._total_return]),
            "recent_returns": self._recent,
        }

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        self._knows_all = "counts" in arrays
        if not self._knows_all:
            return
        self._counts = dict(zip(self._counts, arrays["counts"].tolist(), strict=True))
        self._solved_step = int(arrays["solved_step"][0]) if "solved_step" in arrays else 0
        self._total_return = float(arrays["total_return"][0])
        self._recent = arrays["recent_returns"].copy()


def counted_bytes(index: StateIndex | None, spec: EnvSpec, members: int) -> int:
    """Memory of what a run counts, which is also its size in a checkpoint."""
    if index is None:
        return 0
    size = index.size(spec.observation_shape)
    on_a_map = size if index.map_shape(spec.observation_shape) else 0
    return (members + 1) * _actions(spec) * -(-size // 8) + 8 * on_a_map


def _actions(spec: EnvSpec) -> int:
    """Actions that are told apart; those of a Box are not."""
    return spec.actions.count if isinstance(spec.actions, Discrete) else 1


def exploration_log(index: StateIndex | None, spec: EnvSpec, members: int) -> ExplorationLog:
    return ExplorationLog(spec) if index is None else CountedExploration(index, spec, members)
