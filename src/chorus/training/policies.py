"""How members become one action in evaluation (equations E10 and E23), and what is measured at each decision.

A policy is data, the chance of each member to be followed and how, so that one compiled computation serves all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, Shaped

from chorus.agents.agent import Proposal
from chorus.components import Component
from chorus.ensemble.votes import action_distance, majority, mean_action, vote_entropy
from chorus.spaces import Actions, AnyArray, Discrete


class Way(NamedTuple):
    """Together or by one member; with actions drawn from the policies, or with their modes."""

    together: bool | Bool[AnyArray, ""] = False
    mode: bool | Bool[AnyArray, ""] = False


class Council(NamedTuple):
    """What becomes of N actions in one state: one action, and a number for how far they differ, named by its metric."""

    combine: Callable[[Shaped[Array, "N ..."], PRNGKeyArray], Shaped[Array, "..."]]
    differ: Callable[[Shaped[Array, "N ..."]], Float[Array, ""]]
    metric: str
    unit: str


def council(actions: Actions) -> Council:
    if isinstance(actions, Discrete):
        count = actions.count
        return Council(
            lambda proposed, key: majority(proposed, count, key),
            partial(vote_entropy, num_actions=count),
            "diversity/vote_entropy",
            "nats",
        )
    return Council(lambda proposed, key: mean_action(proposed), action_distance, "diversity/action_distance", "squared")


class Choice(NamedTuple):
    """The action taken, how much each member's estimate of it counts, and how far the members' modes differ."""

    action: Shaped[Array, "E ..."]
    weight: Float[Array, "E N"]
    diversity: Float[Array, " E"]


def choose(among: Council, proposal: Proposal, member: Int[Array, " E"], way: Way, key: PRNGKeyArray) -> Choice:
    """What the members do together, or what the acting one does."""
    slots, members = proposal.action.shape[:2]
    proposed = jnp.where(way.mode, proposal.mode, proposal.action)
    followed = proposed[jnp.arange(slots), member]
    together = jax.vmap(among.combine)(proposed, jax.random.split(key, slots))
    return Choice(
        action=jnp.where(way.together, together, followed),
        weight=jnp.where(way.together, 1.0 / members, jax.nn.one_hot(member, members)),
        diversity=jax.vmap(among.differ)(proposal.mode),
    )


@dataclass(frozen=True, kw_only=True)
class RandomMember(Component):
    """Individual: a member drawn for each episode decides alone."""

    mode: bool = False

    @property
    def way(self) -> Way:
        return Way(mode=self.mode)

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.full(members, 1.0 / members)


@dataclass(frozen=True, kw_only=True)
class Member(Component):
    """Always the same member."""

    index: int
    way: ClassVar[Way] = Way()

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.eye(members)[self.index]


@dataclass(frozen=True, kw_only=True)
class Vote(Component):
    """Aggregate of Discrete actions: the majority of the members' greedy ones, ties broken at random."""

    way: ClassVar[Way] = Way(together=True)

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.full(members, 1.0 / members)


@dataclass(frozen=True, kw_only=True)
class MeanAction(Component):
    """Aggregate of Box actions: the mean of the members'."""

    mode: bool = False

    @property
    def way(self) -> Way:
        return Way(together=True, mode=self.mode)

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.full(members, 1.0 / members)


Policy = RandomMember | Member | Vote | MeanAction


def policies_for(actions: Actions) -> dict[str, Policy]:
    """What any ensemble can be evaluated by, whatever its configuration lists."""
    if isinstance(actions, Discrete):
        return {"individual": RandomMember(), "aggregate": Vote()}
    return {
        "individual": RandomMember(),
        "aggregate": MeanAction(),
        "individual-mode": RandomMember(mode=True),
        "aggregate-mode": MeanAction(mode=True),
    }


class Measured(NamedTuple):
    """At each decision: how far the members differ, and what the deciding ones expect of the action taken."""

    diversity: Float[Array, " E"]
    estimate: Float[Array, " E"]


def measure(choice: Choice, value: Float[Array, "E N"]) -> Measured:
    """`value` is what each member expects of the action taken; one that does not count may be undefined."""
    estimate = jnp.sum(jnp.where(choice.weight > 0, value * choice.weight, 0.0), axis=1)
    return Measured(diversity=choice.diversity, estimate=estimate)
