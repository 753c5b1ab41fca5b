"""Who gathers the data: a distribution over members, drawn anew at each true episode start."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from chorus.components import AT_LEAST_1, NOT_NEGATIVE, SHARE, Component, option, register


class ActingRule(Component, ABC, interface="acting rule"):
    """Who gathers the data."""

    each_step: ClassVar[bool] = False
    """Whether the acting member is drawn before every action, instead of at the start of every episode."""

    @abstractmethod
    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        """The chance of each member to act."""


@register
@dataclass(frozen=True, kw_only=True)
class Uniform(ActingRule):
    """Every member is as likely as another, drawn anew for every episode."""

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.full(members, 1.0 / members)


@register
@dataclass(frozen=True, kw_only=True)
class Tandem(ActingRule):
    """Member 0 is active, member 1 passive and acts in this share of the episodes (equation E5)."""

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
    """Every member is as likely as another, drawn anew before every action (paper, figure 17)."""

    each_step: ClassVar[bool] = True

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.full(members, 1.0 / members)


def draw_member(shares: Float[Array, " N"], key: PRNGKeyArray) -> Int[Array, ""]:
    """A member with the given chances; one of share zero is never drawn."""
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
        help="agent steps over which the chance of a random action falls from 1",
    )
    warmup_steps: int = option(
        50_000, unit="STEPS", within=NOT_NEGATIVE, help="agent steps of random actions before the decay"
    )

    def __call__(self, step: int | np.ndarray) -> np.ndarray:
        left = (1.0 - self.final) * (self.warmup_steps + self.decay_steps - np.asarray(step)) / self.decay_steps
        return np.asarray(self.final + np.clip(left, 0.0, 1.0 - self.final), np.float32)
