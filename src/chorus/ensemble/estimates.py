"""What one prediction is (the size Z of its last axis and its value), and which network selects actions."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from chorus.components import AT_LEAST_1, Component, option, register


class Estimate(Component, ABC, interface="estimate"):
    """What one prediction is."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Numbers per prediction, Z."""

    @property
    def is_distribution(self) -> bool:
        """Whether a prediction is a distribution of returns, which needs a loss that reads one."""
        return False

    @abstractmethod
    def value(self, prediction: Float[Array, "*axes Z"]) -> Float[Array, "*axes"]:
        """The expected return of a prediction."""


@register
@dataclass(frozen=True, kw_only=True)
class Scalar(Estimate):
    """The expected return itself, Z = 1."""

    @property
    def size(self) -> int:
        return 1

    def value(self, prediction: Float[Array, "*axes Z"]) -> Float[Array, "*axes"]:
        return jnp.mean(prediction, axis=-1)


@register
@dataclass(frozen=True, kw_only=True)
class Quantile(Estimate):
    """The distribution of the return as equally likely quantiles; its value is their mean (equation E13)."""

    quantiles: int = option(200, unit="Z", within=AT_LEAST_1, help="quantiles per prediction")

    @property
    def size(self) -> int:
        return self.quantiles

    @property
    def is_distribution(self) -> bool:
        return True

    def value(self, prediction: Float[Array, "*axes Z"]) -> Float[Array, "*axes"]:
        return jnp.mean(prediction, axis=-1)


class Selection(Component, ABC, interface="selection"):
    """Which network chooses the next action: the one that learns (Double DQN), or the target network (QR-DQN)."""

    @abstractmethod
    def choose(self, online: Any, target: Any) -> Any:
        """One of the two sets of parameters."""


@register
@dataclass(frozen=True, kw_only=True)
class Online(Selection):
    """Double DQN: the learning network selects, the target network evaluates (equation E1)."""

    def choose(self, online: Any, target: Any) -> Any:
        return online


@register
@dataclass(frozen=True, kw_only=True)
class Target(Selection):
    """The target network selects and evaluates (equation E13)."""

    def choose(self, online: Any, target: Any) -> Any:
        return target
