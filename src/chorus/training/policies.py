"""Evaluation policies: how the members' proposals become one action (equations E10 and E23)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, Shaped

from chorus.agents.agent import Proposal
from chorus.components import NOT_NEGATIVE, Component, option, register
from chorus.ensemble.votes import majority, mean_action
from chorus.spaces import Actions, Discrete
from chorus.training.acting import AllButLast


class Policy(Component, interface="evaluation policy"):
    """How members become one action in evaluation; by default, the member drawn for the episode decides alone.

    `choose` is written for one state: JAX traces it and maps it over the environments.
    """

    combines_members: ClassVar[bool] = False
    """Whether its actions come from several members. Its value estimate is then the mean over all members, else the
    drawn member's, and an ensemble of one is not evaluated by it."""

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        """The chance of each member to be drawn for an episode."""
        return np.full(members, 1.0 / members)

    def choose(
        self, proposal: Proposal, member: Int[Array, ""], actions: Actions, key: PRNGKeyArray
    ) -> Shaped[Array, "..."]:
        """The action in one state. The fields of `proposal` start with the member axis; `member` was drawn for the
        episode."""
        return proposal.action[member]


@register
@dataclass(frozen=True, kw_only=True)
class RandomMember(Policy):
    """Individual: a member drawn for each episode decides alone."""

    mode: bool = option(False, help="take the modes of the members' policies instead of sampling")

    def choose(
        self, proposal: Proposal, member: Int[Array, ""], actions: Actions, key: PRNGKeyArray
    ) -> Shaped[Array, "..."]:
        return (proposal.mode if self.mode else proposal.action)[member]


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

    combines_members: ClassVar[bool] = True

    def choose(
        self, proposal: Proposal, member: Int[Array, ""], actions: Actions, key: PRNGKeyArray
    ) -> Shaped[Array, "..."]:
        assert isinstance(actions, Discrete), "`problems` refuses a vote on Box actions"
        return majority(proposal.action, actions.count, key)

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if not isinstance(spec.actions, Discrete):
            yield f"the policy vote counts Discrete actions and '{spec.id}' has a Box; use mean_action"


@register
@dataclass(frozen=True, kw_only=True)
class RandomActor(RandomMember):
    """Individual, where the last member only watches: one of the others decides alone, drawn for each episode."""

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return AllButLast().shares(members)

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        yield from _no_watcher(self, config, spec)


@register
@dataclass(frozen=True, kw_only=True)
class VoteOfActors(Vote):
    """Aggregate of Discrete actions, where the last member only watches: the majority of the others."""

    def choose(
        self, proposal: Proposal, member: Int[Array, ""], actions: Actions, key: PRNGKeyArray
    ) -> Shaped[Array, "..."]:
        return super().choose(proposal._replace(action=proposal.action[:-1]), member, actions, key)

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        yield from super().problems(config, spec)
        yield from _no_watcher(self, config, spec)


@register
@dataclass(frozen=True, kw_only=True)
class Observer(Policy):
    """The last member, which only watches while the others act."""

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.eye(members)[-1]

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        yield from _no_watcher(self, config, spec)


def _no_watcher(policy: Policy, config: Any, spec: Any) -> Iterator[str]:
    """Why there is no member that only watches."""
    if not isinstance(config.acting, AllButLast):
        yield (
            f"the policy {policy.kind} is for ensembles whose last member only watches, and the acting rule is "
            f"{config.acting.kind}; use the acting rule all_but_last, or another policy"
        )
    else:
        yield from config.acting.problems(config, spec)


@register
@dataclass(frozen=True, kw_only=True)
class MeanAction(Policy):
    """Aggregate of Box actions: the mean of the members' actions."""

    mode: bool = option(False, help="take the modes of the members' policies instead of sampling")
    combines_members: ClassVar[bool] = True

    def choose(
        self, proposal: Proposal, member: Int[Array, ""], actions: Actions, key: PRNGKeyArray
    ) -> Shaped[Array, "..."]:
        return mean_action(proposal.mode if self.mode else proposal.action)

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if isinstance(spec.actions, Discrete):
            yield f"the policy mean_action averages a Box and '{spec.id}' has Discrete actions; use vote"


def policies_for(actions: Actions) -> dict[str, Policy]:
    """The policies that any ensemble can be evaluated by, whatever its configuration lists."""
    if isinstance(actions, Discrete):
        return {"individual": RandomMember(), "aggregate": Vote()}
    return {
        "individual": RandomMember(),
        "aggregate": MeanAction(),
        "individual-mode": RandomMember(mode=True),
        "aggregate-mode": MeanAction(mode=True),
    }
