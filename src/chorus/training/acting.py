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
from chorus.errors import ChorusError
from chorus.spaces import Actions


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

    @abstractmethod
    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        """The chance of each member to be drawn."""

    def choose(
        self, proposal: Proposal, member: Int[Array, ""], actions: Actions, key: PRNGKeyArray
    ) -> Shaped[Array, "..."]:
        """The action in one state; needed only with `uses_members`.

        JAX traces it and maps it over the environments. The fields of `proposal` start with the member axis, and
        `proposal.value` has every member's values [N, A] where actions are Discrete. `member` is the drawn member.
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
