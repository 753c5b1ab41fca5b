"""How members become one action in evaluation (equations E10 and E23), and what is measured at each decision.

A policy is data, the chance of each member to be followed and how, so that one compiled computation serves all of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, Shaped

from chorus.agents.agent import Proposal
from chorus.components import NOT_NEGATIVE, Component, option, register
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


class Policy(Component, interface="evaluation policy"):
    """How members become one action in evaluation."""

    @property
    def way(self) -> Way:
        return Way()

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        """The chance of each member to be followed in an episode."""
        return np.full(members, 1.0 / members)


@register
@dataclass(frozen=True, kw_only=True)
class RandomMember(Policy):
    """Individual: a member drawn for each episode decides alone."""

    mode: bool = option(False, help="take the modes of the members' policies instead of sampling")

    @property
    def way(self) -> Way:
        return Way(mode=self.mode)


@register
@dataclass(frozen=True, kw_only=True)
class Member(Policy):
    """Always the same member."""

    index: int = option(within=NOT_NEGATIVE, help="number of the member, from 0")

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.eye(members)[self.index]

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        members = config.agent.members
        if self.index >= members:
            yield f"an evaluation policy needs member {self.index}; there are members 0 to {members - 1}"


@register
@dataclass(frozen=True, kw_only=True)
class Vote(Policy):
    """Aggregate of Discrete actions: the majority of the members' greedy ones, ties broken at random."""

    @property
    def way(self) -> Way:
        return Way(together=True)

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if not isinstance(spec.actions, Discrete):
            yield f"the policy vote counts Discrete actions and '{spec.id}' has a Box; use mean_action"


@register
@dataclass(frozen=True, kw_only=True)
class MeanAction(Policy):
    """Aggregate of Box actions: the mean of the members'."""

    mode: bool = option(False, help="take the modes of the members' policies instead of sampling")

    @property
    def way(self) -> Way:
        return Way(together=True, mode=self.mode)

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if isinstance(spec.actions, Discrete):
            yield f"the policy mean_action averages a Box and '{spec.id}' has Discrete actions; use vote"


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
