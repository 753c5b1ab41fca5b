"""How the critics of a SAC member become one value: in targets, and for the policy."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from chorus.agents.agent import Learner
from chorus.components import AT_LEAST_1, Component, option, register


class CriticRule(Component, ABC, interface="critic rule"):
    """Which critics form a target, and which value the policy maximises."""

    @abstractmethod
    def drawn(self, key: PRNGKeyArray, critics: int, members: int) -> Int[Array, "M N"] | None:
        """The target critics of each member whose lowest value is the target at this update; None for all of them."""

    @abstractmethod
    def value(self, values: Float[Array, "C *axes"]) -> Float[Array, "*axes"]:
        """The value that the policy maximises, from those of all critics."""


@register
@dataclass(frozen=True, kw_only=True)
class Lowest(CriticRule):
    """The lowest of all critics, in targets and for the policy: SAC's (equations E20 and E21)."""

    def drawn(self, key: PRNGKeyArray, critics: int, members: int) -> Int[Array, "M N"] | None:
        return None

    def value(self, values: Float[Array, "C *axes"]) -> Float[Array, "*axes"]:
        """With the gradient of the lowest critic, the first one if several are equal.

        The derivative of `jnp.min` divides by the number of values that equal the minimum. XLA may compute these values
        twice and round them differently; then none is equal, and the gradient is 0/0.
        """
        lowest = jnp.argmin(jax.lax.stop_gradient(values), axis=0)
        return jnp.sum(jnp.where(jax.nn.one_hot(lowest, values.shape[0], axis=0, dtype=bool), values, 0.0), axis=0)


@register
@dataclass(frozen=True, kw_only=True)
class RandomSubset(CriticRule):
    """Targets take the lowest of a few critics, drawn at each update; policies maximise the mean of all (E26)."""

    size: int = option(
        2,
        flag="target-critics",
        unit="M",
        within=AT_LEAST_1,
        label="M={}",
        axis="critics M per target",
        help="critic rule random_subset: number of critics of which a target takes the lowest value",
    )

    def drawn(self, key: PRNGKeyArray, critics: int, members: int) -> Int[Array, "M N"]:
        """One subset per member and update, without replacement, the same for the whole batch."""
        draw = partial(jax.random.permutation, x=critics, independent=False)
        return jax.vmap(draw, out_axes=1)(jax.random.split(key, members))[: self.size]

    def value(self, values: Float[Array, "C *axes"]) -> Float[Array, "*axes"]:
        return jnp.mean(values, axis=0)

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        critics = config.agent.critics
        if self.size > critics:
            yield (
                f"--target-critics is {self.size} and --critics is {critics}; use at most {critics} target "
                "critics, or more --critics"
            )


@dataclass(frozen=True, kw_only=True)
class CriticLearner(Learner):
    """A learner whose members have critics."""

    critics: int = option(
        2,
        flag="critics",
        unit="C",
        within=AT_LEAST_1,
        label="C={}",
        axis="critics C per member",
        log_axis=True,
        help="SAC: critics per member",
    )
    critic_rule: CriticRule = option(
        Lowest(), named=False, help="which critics form a target, and which value the policy maximises"
    )

    @property
    def member_work(self) -> float:
        """Networks of about the same size: the critics and one policy; usual are two critics."""
        return (self.critics + 1) / 3
