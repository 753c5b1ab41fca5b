"""Who gathers the data: a distribution over members, drawn anew at each true episode start."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from chorus.components import Component


@dataclass(frozen=True, kw_only=True)
class Uniform(Component):
    """Every member is as likely as another, drawn anew for every episode."""

    each_step: ClassVar[bool] = False

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.full(members, 1.0 / members)


@dataclass(frozen=True, kw_only=True)
class Tandem(Component):
    """Member 0 is active, member 1 passive and acts in this share of the episodes (equation E5)."""

    passive_share: float = 0.1
    each_step: ClassVar[bool] = False

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.array([1.0 - self.passive_share, self.passive_share])


@dataclass(frozen=True, kw_only=True)
class UniformEachStep(Component):
    """Every member is as likely as another, drawn anew before every action (paper, figure 17)."""

    each_step: ClassVar[bool] = True

    def shares(self, members: int) -> Float[np.ndarray, " N"]:
        return np.full(members, 1.0 / members)


Acting = Uniform | Tandem | UniformEachStep


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

    final: float = 0.01
    decay_steps: int = 1_000_000
    warmup_steps: int = 50_000

    def __call__(self, step: int | np.ndarray) -> np.ndarray:
        left = (1.0 - self.final) * (self.warmup_steps + self.decay_steps - np.asarray(step)) / self.decay_steps
        return np.asarray(self.final + np.clip(left, 0.0, 1.0 - self.final), np.float32)
