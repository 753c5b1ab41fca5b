"""Diagnostics of an ensemble at the end of each iteration, beside its scores (docs/metrics.md).

They depend only on the networks, the replay and the iteration's own batches, so a resumed run measures the same.
"""

from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Float, Int, Integer, Shaped

from chorus.agents.agent import Agent
from chorus.ensemble.measures import (
    effective_rank,
    off_policy_share,
    pairwise_disagreement,
    policy_probability,
    value_spread,
)
from chorus.replay.ring import TRANSITION, Ring
from chorus.replay.samplers import draw_uniform
from chorus.spaces import AnyArray
from chorus.training.loop import Origins

# States that are inspected, and how many at once: the activations of ten convolutional members need memory.
_STATES, _AT_ONCE = 1_024, 128
# Batches are counted in groups: counting them one by one would cost half as much as drawing them.
_BATCHES_PER_COUNT = 256


def by_member(name: str, values: Float[np.ndarray, " N"]) -> dict[str, float]:
    """One metric per member, and their mean."""
    each = {f"{name}/member_{member}": float(value) for member, value in enumerate(values)}
    return {**each, f"{name}/mean": float(np.mean(values))}


@dataclass
class BatchLog:
    """The members' own shares of the batches of one iteration; a single agent owns all of its data."""

    members: int
    batches: int = 0
    owns_nothing: int = 0
    own: Float[np.ndarray, " N"] = field(init=False)
    own_episodes: Float[np.ndarray, " N"] = field(init=False)

    def __post_init__(self) -> None:
        self.own, self.own_episodes = np.zeros(self.members), np.zeros(self.members)
        self._pending: list[tuple[AnyArray, ...]] = []

    def record(self, origins: Origins | None) -> None:
        """One batch; None for those of a single agent."""
        if origins is None:
            return
        self.batches += 1
        self.owns_nothing += int(origins.owns_nothing.sum())
        self._pending.append(origins[:3])
        if len(self._pending) == _BATCHES_PER_COUNT:
            self._count()

    def _count(self) -> None:
        owner, episode, alone = (np.stack(column) for column in zip(*self._pending, strict=True))
        own = owner == np.arange(self.members)
        self.own += np.sum(np.mean(own, axis=1), axis=0)
        self.own_episodes += np.sum(own_share_of_episodes(episode, own & alone), axis=0)
        self._pending.clear()

    def metrics(self) -> dict[str, float]:
        if not self.batches:
            return {}
        if self._pending:
            self._count()
        return {
            **by_member("replay/own_sampled", self.own / self.batches),
            **by_member("replay/own_sampled_episodes", self.own_episodes / self.batches),
            "replay/owns_nothing": float(self.owns_nothing),
        }


@dataclass
class Diagnostics:
    """Measures the networks at an iteration's end on states from the replay."""

    agent: Agent
    members: int

    def __post_init__(self) -> None:
        self._inspect = jax.jit(self.agent.inspect)

    def measure(self, params: Any, ring: Ring, rng: np.random.Generator, epsilon: float) -> dict[str, float]:
        """`epsilon` is the chance of a random action in training."""
        lane, position, length = draw_uniform(ring, rng, _STATES, steps=1)
        windows = ring.read(lane, position, length, 1)
        # A small replay has few different states: each is inspected once.
        place = np.stack([lane, position])
        _, different, drawn = np.unique(place, axis=1, return_index=True, return_inverse=True)
        observation = windows.observation[different]
        metrics = {"replay/coverage": coverage(observation, windows.action[different])}

        features, values = self._inspected(params, observation)
        ranks = [effective_rank(features[drawn, member]) for member in range(self.members)]
        metrics |= by_member("members/effective_rank", np.array(ranks))
        if values is not None:
            metrics |= of_discrete_actions(values[drawn], windows.action, epsilon)
        if self.members > 1:
            transitions, episodes = own_shares(ring, self.members)
            metrics |= by_member("replay/own_transitions", transitions)
            metrics |= by_member("replay/own_episodes", episodes)
        return metrics

    def _inspected(
        self, params: Any, observation: Shaped[np.ndarray, "K ..."]
    ) -> tuple[Float[np.ndarray, "K N D"], Float[np.ndarray, "K N A"] | None]:
        """Features and values of these states, in batches of one size; the last batch is filled up with others."""
        count = len(observation)
        rows = np.resize(np.arange(count), -(-count // _AT_ONCE) * _AT_ONCE).reshape(-1, _AT_ONCE)
        pieces = [self._inspect(params, observation[batch]) for batch in rows]
        features = np.concatenate([piece.features for piece in pieces])[:count]
        values = [piece.value for piece in pieces if piece.value is not None]
        return features, np.concatenate(values)[:count] if values else None


def of_discrete_actions(
    value: Float[np.ndarray, "K N A"], action: Int[np.ndarray, " K"], epsilon: float
) -> dict[str, float]:
    """How often members differ from the stored actions and, if there are several, from one another."""
    _, members, actions = value.shape
    greedy = np.argmax(value, axis=-1)
    metrics = {
        **by_member("replay/off_policy", off_policy_share(greedy, action)),
        **by_member("replay/policy_probability", policy_probability(greedy, action, epsilon, actions)),
    }
    if members > 1:
        metrics["diversity/disagreement/replay"] = pairwise_disagreement(greedy)
        metrics["diversity/value_spread/replay"] = value_spread(value)
    return metrics


def transitions_by_owner(
    owner: Integer[np.ndarray, " R"], transition: Bool[np.ndarray, " R"], members: int
) -> Int[np.ndarray, " N"]:
    """Transitions that the ensemble chose as a whole belong to no member."""
    return np.bincount(owner[transition & (owner < members)], minlength=members)


def episodes_by_owner(
    owner: Integer[np.ndarray, " R"], transition: Bool[np.ndarray, " R"], members: int
) -> tuple[Int[np.ndarray, " N"], int]:
    """Episodes that each member played alone, and the number of all episodes; those that the window cuts count, too."""
    # Between two episodes there is at least one row without a transition.
    begins = transition & ~np.concatenate([[False], transition[:-1]])
    own, starts = owner[transition], np.flatnonzero(begins[transition])
    if not len(starts):
        return np.zeros(members, int), 0
    least, most = np.minimum.reduceat(own, starts), np.maximum.reduceat(own, starts)
    return np.bincount(least[(least == most) & (most < members)], minlength=members), len(starts)


def own_shares(ring: Ring, members: int) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, " N"]]:
    """The share of the window's transitions, and of its episodes, that each member generated."""
    transitions, episodes, all_episodes = np.zeros(members, int), np.zeros(members, int), 0
    for lane in range(ring.layout.lanes):
        owner, transition = ring.window("owner", lane), (ring.window("flags", lane) & TRANSITION) > 0
        transitions += transitions_by_owner(owner, transition, members)
        played, count = episodes_by_owner(owner, transition, members)
        episodes, all_episodes = episodes + played, all_episodes + count
    return transitions / len(ring), episodes / all_episodes


def own_share_of_episodes(
    episode: Int[np.ndarray, "*u B M"], own: Bool[np.ndarray, "*u B N"]
) -> Float[np.ndarray, "*u N"]:
    """Of the different episodes in each member's batch, the share that it played alone.

    `own` marks the transitions of such episodes. M is N, or 1 where all members share a batch.
    """
    order = np.argsort(episode, axis=-2)
    episode, own = np.take_along_axis(episode, order, axis=-2), np.take_along_axis(own, order, axis=-2)
    first = np.ones(episode.shape, bool)
    first[..., 1:, :] = episode[..., 1:, :] != episode[..., :-1, :]
    return np.count_nonzero(own & first, axis=-2) / np.count_nonzero(first, axis=-2)


def coverage(observation: Shaped[np.ndarray, "K ..."], action: Shaped[np.ndarray, "K ..."]) -> float:
    """Different pairs of state and action among K transitions, as a share of K; 1 means that none occurs twice."""
    pairs = {(seen.tobytes(), taken.tobytes()) for seen, taken in zip(observation, action, strict=True)}
    return len(pairs) / len(observation)
