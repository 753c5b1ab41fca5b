"""What one prediction is: the size Z of its last axis and how it becomes a value."""

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float

from chorus.variant import Variant


@dataclass(frozen=True, kw_only=True)
class Scalar(Variant):
    """The expected return itself, Z = 1."""

    @property
    def size(self) -> int:
        return 1

    def value(self, prediction: Float[Array, "*axes Z"]) -> Float[Array, "*axes"]:
        return jnp.mean(prediction, axis=-1)


@dataclass(frozen=True, kw_only=True)
class Quantile(Variant):
    """The distribution of the return as equally likely quantiles; its value is their mean (equation E13)."""

    quantiles: int = 200

    @property
    def size(self) -> int:
        return self.quantiles

    def value(self, prediction: Float[Array, "*axes Z"]) -> Float[Array, "*axes"]:
        return jnp.mean(prediction, axis=-1)


Estimate = Scalar | Quantile
