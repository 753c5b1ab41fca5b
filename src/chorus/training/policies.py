"""How members become one action in evaluation (equation E10), and what is measured at each decision.

A policy is data, the chance of each member to be followed and whether they vote instead, so that one compiled
computation serves all of them.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from chorus.agents.q import Proposal
from chorus.ensemble.votes import majority, vote_entropy
from chorus.variant import Variant


class Choice(NamedTuple):
    """The action taken, and how much each member's estimate of it counts."""

    action: Int[Array, " E"]
    weight: Float[Array, "E N"]


def choose(proposal: Proposal, member: Int[Array, " E"], voting: Bool[Array, ""], key: PRNGKeyArray) -> Choice:
    """What most members propose if `voting`, else what the acting member does."""
    slots, members, actions = proposal.value.shape
    followed = jnp.take_along_axis(proposal.action, member[:, None], axis=1)[:, 0]
    voted = jax.vmap(majority, in_axes=(0, None, 0))(proposal.action, actions, jax.random.split(key, slots))
    weight = jnp.where(voting, 1.0 / members, jax.nn.one_hot(member, members))
    return Choice(jnp.where(voting, voted, followed), weight)


@dataclass(frozen=True, kw_only=True)
class RandomMember(Variant):
    """Individual: a member drawn for each episode decides alone."""

    voting: ClassVar[bool] = False

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.full(members, 1.0 / members)


@dataclass(frozen=True, kw_only=True)
class Member(Variant):
    """Always the same member."""

    index: int
    voting: ClassVar[bool] = False

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.eye(members)[self.index]


@dataclass(frozen=True, kw_only=True)
class Vote(Variant):
    """Aggregate: the majority of the members' greedy actions, ties broken at random."""

    voting: ClassVar[bool] = True

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.full(members, 1.0 / members)


Policy = RandomMember | Member | Vote


class Measured(NamedTuple):
    """At each decision: how far the members disagree, and what the deciding ones expect of the action taken."""

    entropy: Float[Array, " E"]
    estimate: Float[Array, " E"]


def measure(proposal: Proposal, choice: Choice) -> Measured:
    actions = proposal.value.shape[-1]
    taken = jnp.take_along_axis(proposal.value, choice.action[:, None, None], axis=2)[..., 0]
    return Measured(
        entropy=jax.vmap(vote_entropy, in_axes=(0, None))(proposal.action, actions),
        estimate=jnp.sum(jnp.where(choice.weight > 0, taken * choice.weight, 0.0), axis=1),
    )
