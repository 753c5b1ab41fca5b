"""Acting rules: which member gathers the data, or how all members choose an action together."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, Shaped

from chorus.agents.agent import Proposal
from chorus.components import AT_LEAST_1, NOT_NEGATIVE, SHARE, Component, option, register
from chorus.ensemble.votes import majority, mean_action, upper_confidence
from chorus.errors import ChorusError
from chorus.spaces import Actions, Box, Discrete


class ActingRule(Component, ABC, interface="acting rule"):
    """Who gathers the data.

    By default one member acts and only its network is evaluated. A rule with `uses_members` chooses each action from
    the proposals of all members instead, and the replay stores `ENSEMBLE` as the owner. Random actions (epsilon) come
    on top of both.
    """

    each_step: ClassVar[bool] = False
    """Whether the acting member is drawn before every action, instead of at the start of every episode."""
    uses_members: ClassVar[bool] = False
    """Whether `choose` decides, from what all members propose."""
    reads_values: ClassVar[bool] = False
    """Whether `choose` reads `proposal.value` where actions are a Box, which costs every member's values of all
    proposed actions."""

    @abstractmethod
    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        """The chance of each member to be drawn."""

    def choose(
        self, proposal: Proposal, member: Int[Array, ""], actions: Actions, key: PRNGKeyArray
    ) -> Shaped[Array, "..."]:
        """The action in one state; needed only with `uses_members`.

        JAX traces it and maps it over the environments. The fields of `proposal` start with the member axis, and
        `proposal.value` has every member's values [N, A] where actions are Discrete. Where they are a Box and
        `reads_values` is set, value[i, j] is member i's value of the action that member j proposes. `member` is the
        drawn member.
        """
        raise ChorusError(f"{type(self).__name__} sets uses_members and chooses no action: define its method `choose`")


@register
@dataclass(frozen=True, kw_only=True)
class Uniform(ActingRule):
    """All members are equally likely; drawn anew for every episode."""

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.full(members, 1.0 / members)


@register
@dataclass(frozen=True, kw_only=True)
class Tandem(ActingRule):
    """Member 0 is active; member 1 is passive and plays `passive_share` of the episodes (equation E5)."""

    passive_share: float = option(
        0.1,
        flag="passive-share",
        unit="P",
        within=SHARE,
        label="p={:.0%}",
        axis="passive share p of the tandem",
        help="tandem: share of the episodes that the passive member plays, 0 to 1; 0.1 is the paper's 10 %-tandem",
    )

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.array([1.0 - self.passive_share, self.passive_share])

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if config.agent.members != 2:
            yield f"a tandem has an active and a passive member, not {config.agent.members}; leave out --members"


@register
@dataclass(frozen=True, kw_only=True)
class UniformEachStep(ActingRule):
    """All members are equally likely; drawn anew before every action (paper, figure 17)."""

    each_step: ClassVar[bool] = True

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.full(members, 1.0 / members)


@register
@dataclass(frozen=True, kw_only=True)
class AllButLast(ActingRule):
    """All members but the last are equally likely, drawn anew for every episode; the last one only watches."""

    title: ClassVar[str] = "the last member only watches"

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.append(np.full(members - 1, 1.0 / (members - 1)), 0.0)

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if config.agent.members < 2:
            yield (
                f"the acting rule {self.kind} needs a member that acts and one that watches, and --members is "
                f"{config.agent.members}: use at least 2"
            )


class ActingTogether(ActingRule):
    """Base class of rules by which all members choose every action together; no member owns the data."""

    uses_members: ClassVar[bool] = True

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        """Drawn members decide nothing here."""
        return np.full(members, 1.0 / members)


class OfDiscreteActions(ActingTogether):
    """Base class of rules that are defined for Discrete actions only."""

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if not isinstance(spec.actions, Discrete):
            yield (
                f"the acting rule {self.kind} compares Discrete actions and '{spec.id}' has a Box; use mean_action or "
                "ucb"
            )


@register(name="vote")
@dataclass(frozen=True, kw_only=True)
class VoteActing(OfDiscreteActions):
    """The majority of the members' greedy actions, ties broken at random (equation E10)."""

    title: ClassVar[str] = "majority vote"

    def choose(
        self, proposal: Proposal, member: Int[Array, ""], actions: Actions, key: PRNGKeyArray
    ) -> Shaped[Array, "..."]:
        assert isinstance(actions, Discrete), "`problems` refuses a vote on Box actions"
        return majority(proposal.action, actions.count, key)


@register
@dataclass(frozen=True, kw_only=True)
class GreedyMean(OfDiscreteActions):
    """The action with the highest mean of the members' values (equation E24)."""

    title: ClassVar[str] = "greedy in the mean"

    def choose(
        self, proposal: Proposal, member: Int[Array, ""], actions: Actions, key: PRNGKeyArray
    ) -> Shaped[Array, "..."]:
        assert proposal.value is not None, "`problems` refuses Box actions"
        return jnp.argmax(upper_confidence(proposal.value, 0.0))


@register(name="ucb")
@dataclass(frozen=True, kw_only=True)
class UpperConfidence(ActingTogether):
    """The action with the highest mean + beta x standard deviation of the members' values (equation E24).

    Of Box actions, those that the members propose are compared.
    """

    title: ClassVar[str] = "UCB"
    reads_values: ClassVar[bool] = True

    beta: float = option(
        1.0,
        flag="ucb-beta",
        unit="BETA",
        within=NOT_NEGATIVE,
        label="beta={}",
        axis="weight beta of the spread in UCB",
        help="acting rule ucb: weight of the standard deviation over members; 0 is greedy in the mean",
    )

    def choose(
        self, proposal: Proposal, member: Int[Array, ""], actions: Actions, key: PRNGKeyArray
    ) -> Shaped[Array, "..."]:
        assert proposal.value is not None, "Discrete actions have values, and so do Box actions with `reads_values`"
        best = jnp.argmax(upper_confidence(proposal.value, self.beta))
        return best if isinstance(actions, Discrete) else proposal.action[best]


@register(name="mean_action")
@dataclass(frozen=True, kw_only=True)
class MeanActionActing(ActingTogether):
    """The mean of the members' actions, for Box actions only (equation E23)."""

    title: ClassVar[str] = "mean action"

    def choose(
        self, proposal: Proposal, member: Int[Array, ""], actions: Actions, key: PRNGKeyArray
    ) -> Shaped[Array, "..."]:
        return mean_action(proposal.action)

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if not isinstance(spec.actions, Box):
            yield (
                f"the acting rule {self.kind} averages a Box and '{spec.id}' has Discrete actions; use vote, "
                "greedy_mean or ucb"
            )


def draw_member(shares: Float[Array, " N"], key: PRNGKeyArray) -> Int[Array, ""]:
    """A member drawn with the given chances; a member of share 0 is never drawn."""
    return jnp.sum(jax.random.uniform(key) >= jnp.cumsum(shares)[:-1])


def redraw(
    member: Int[Array, " E"], first: Bool[Array, " E"], shares: Float[Array, " N"], key: PRNGKeyArray
) -> Int[Array, " E"]:
    """Slots that start an episode get a new member, the others keep theirs."""
    keys = jax.random.split(key, member.shape[0])
    drawn = jax.vmap(draw_member, in_axes=(None, 0))(shares, keys)
    return jnp.where(first, drawn.astype(jnp.int32), member)


@dataclass(frozen=True, kw_only=True)
class LinearEpsilon:
    """ε = 1 for `warmup_steps`, then linear to `final` over `decay_steps`, in agent steps (equation E7)."""

    final: float = option(
        0.01, flag="epsilon", unit="EPS", within=SHARE, help="chance of a random action at the end of its decay, 0 to 1"
    )
    decay_steps: int = option(
        1_000_000,
        flag="epsilon-decay",
        unit="STEPS",
        within=AT_LEAST_1,
        label="decay {}",
        axis="decay of epsilon (agent steps)",
        log_axis=True,
        help="agent steps over which the chance of a random action falls from 1",
    )
    warmup_steps: int = option(
        50_000, unit="STEPS", within=NOT_NEGATIVE, help="agent steps of random actions before the decay"
    )

    def __call__(self, step: int | np.ndarray) -> np.ndarray:
        left = (1.0 - self.final) * (self.warmup_steps + self.decay_steps - np.asarray(step)) / self.decay_steps
        # Not `np.clip`, which takes longer than all the rest of this.
        return np.asarray(self.final + np.minimum(np.maximum(left, 0.0), 1.0 - self.final), np.float32)
