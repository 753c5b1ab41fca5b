"""What one prediction is: the size Z of its last axis and how it becomes a value."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from chorus.components import Component


@dataclass(frozen=True, kw_only=True)
class Scalar(Component):
    """The expected return itself, Z = 1."""

    @property
    def size(self) -> int:
        return 1

    def value(self, prediction: Float[Array, "*axes Z"]) -> Float[Array, "*axes"]:
        return jnp.mean(prediction, axis=-1)


@dataclass(frozen=True, kw_only=True)
class Quantile(Component):
    """The distribution of the return as equally likely quantiles; its value is their mean (equation E13)."""

    quantiles: int = 200

    @property
    def size(self) -> int:
        return self.quantiles

    def value(self, prediction: Float[Array, "*axes Z"]) -> Float[Array, "*axes"]:
        return jnp.mean(prediction, axis=-1)


Estimate = Scalar | Quantile


@dataclass(frozen=True, kw_only=True)
class Online(Component):
    """Double DQN: the learning network selects, the target network evaluates (equation E1)."""

    def choose(self, online: Any, target: Any) -> Any:
        return online


@dataclass(frozen=True, kw_only=True)
class Target(Component):
    """The target network selects and evaluates (equation E13)."""

    def choose(self, online: Any, target: Any) -> Any:
        return target


Selection = Online | Target
