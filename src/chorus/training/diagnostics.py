"""What is measured about an ensemble beside its scores, at the end of each iteration (docs/metrics.md).

Everything here follows from the networks, the replay and the iteration's own batches, so that a resumed run measures
the same.
"""

from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, Int

from chorus.agents.agent import Agent
from chorus.ensemble.diversity import (
    effective_rank,
    off_policy_share,
    pairwise_disagreement,
    policy_probability,
    value_spread,
)
from chorus.replay.contents import coverage, own_share_of_episodes, own_shares
from chorus.replay.ring import Ring
from chorus.replay.samplers import Sample, draw_uniform

# States that are examined, and how many at once: a convolution of ten members needs room.
_STATES, _AT_ONCE = 1_024, 128
# Batches that are counted together: counted one by one, they would cost half as much as drawing them.
_BOOKED_AT_ONCE = 256


def by_member(name: str, values: Float[np.ndarray, " N"]) -> dict[str, float]:
    """One metric a member, and their mean."""
    each = {f"{name}/member_{member}": float(value) for member, value in enumerate(values)}
    return {**each, f"{name}/mean": float(np.mean(values))}


@dataclass
class BatchLog:
    """Whose transitions, and whose episodes, the batches of one iteration held; a single agent's are its own."""

    members: int
    batches: int = 0
    owns_nothing: int = 0
    own: Float[np.ndarray, " N"] = field(init=False)
    own_episodes: Float[np.ndarray, " N"] = field(init=False)

    def __post_init__(self) -> None:
        self.own, self.own_episodes = np.zeros(self.members), np.zeros(self.members)
        self._waiting: list[tuple[np.ndarray, ...]] = []

    def record(self, sample: Sample, ring: Ring) -> None:
        """`ring` as it was when the sample was drawn."""
        if self.members == 1:
            return
        self.batches += 1
        self.owns_nothing += int(sample.owns_nothing.sum())
        self._waiting.append((sample.owner, *ring.episodes.look_up(sample.places.lane, sample.places.position)))
        if len(self._waiting) == _BOOKED_AT_ONCE:
            self._book()

    def _book(self) -> None:
        owner, episode, alone = (np.stack(column) for column in zip(*self._waiting, strict=True))
        own = owner == np.arange(self.members)
        self.own += np.sum(np.mean(own, axis=1), axis=0)
        self.own_episodes += np.sum(own_share_of_episodes(episode, own & alone), axis=0)
        self._waiting.clear()

    def metrics(self) -> dict[str, float]:
        if not self.batches:
            return {}
        if self._waiting:
            self._book()
        return {
            **by_member("replay/own_sampled", self.own / self.batches),
            **by_member("replay/own_sampled_episodes", self.own_episodes / self.batches),
            "replay/owns_nothing": float(self.owns_nothing),
        }


@dataclass
class Diagnostics:
    """Examines the states that the replay holds with the networks of an iteration's end."""

    agent: Agent
    members: int

    def __post_init__(self) -> None:
        self._examine = jax.jit(self.agent.examine)

    def measure(self, params: Any, ring: Ring, rng: np.random.Generator, epsilon: float) -> dict[str, float]:
        """`epsilon` is the chance of a random action in training."""
        lane, position, length = draw_uniform(ring, rng, _STATES, steps=1)
        windows = ring.read(lane, position, length, 1)
        different = np.unique(np.stack([lane, position]), axis=1, return_index=True)[1]
        metrics = {"replay/coverage": coverage(windows.observation[different], windows.action[different])}

        pieces = [
            self._examine(params, windows.observation[first : first + _AT_ONCE])
            for first in range(0, _STATES, _AT_ONCE)
        ]
        features = np.concatenate([piece.features for piece in pieces], axis=0)
        ranks = [effective_rank(features[:, member]) for member in range(self.members)]
        metrics |= by_member("members/effective_rank", np.array(ranks))
        values = [piece.value for piece in pieces if piece.value is not None]
        if values:
            metrics |= of_discrete_actions(np.concatenate(values), windows.action, epsilon)
        if self.members > 1:
            transitions, episodes = own_shares(ring, self.members)
            metrics |= by_member("replay/own_transitions", transitions)
            metrics |= by_member("replay/own_episodes", episodes)
        return metrics


def of_discrete_actions(
    value: Float[np.ndarray, "K N A"], action: Int[np.ndarray, " K"], epsilon: float
) -> dict[str, float]:
    """How far members are from the stored actions and, if there are several, from one another."""
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
