"""What else shapes the features: a loss on representations, mixed with the temporal-difference loss."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from chorus.components import Component
from chorus.ensemble.losses import huber
from chorus.spaces import AnyArray


class Representations(NamedTuple):
    """One member's features of a batch: online and target of s, and target of s'."""

    online: Float[Array, "B D"]
    target: Float[Array, "B D"]
    next_target: Float[Array, "B D"]


@dataclass(frozen=True, kw_only=True)
class NoAuxiliary(Component):
    """The temporal-difference loss alone."""

    @property
    def weight(self) -> float:
        return 0.0

    def loss(self, features: Representations, reward: Float[AnyArray, " B"], discount: float) -> Float[Array, ""]:
        return jnp.zeros(())


@dataclass(frozen=True, kw_only=True)
class Mico(Component):
    """Matching under Independent Couplings (Castro et al., 2021; equation E14): (1 - weight) TD + weight MICo."""

    weight: float = 0.01
    beta: float = 0.1

    def loss(self, features: Representations, reward: Float[AnyArray, " B"], discount: float) -> Float[Array, ""]:
        """Mean over all ordered pairs of huber₁(U(φ(s_p), φ̄(s_q)) - (|r_p - r_q| + γ U(φ̄(s'_p), φ̄(s'_q))))."""
        online = mico_distances(features.online, jax.lax.stop_gradient(features.target), self.beta)
        following = mico_distances(features.next_target, features.next_target, self.beta)
        target = jnp.abs(reward[:, None] - reward[None, :]) + discount * following
        return jnp.mean(huber(online - jax.lax.stop_gradient(target), 1.0))


def mico_distances(x: Float[Array, "P D"], y: Float[Array, "Q D"], beta: float) -> Float[Array, "P Q"]:
    """U(x, y) = ½(‖x‖² + ‖y‖²) + β angle(x, y) of every x and every y; their products are one of matrices."""
    squares = jnp.sum(x * x, axis=1)[:, None], jnp.sum(y * y, axis=1)[None, :]
    cosine = (x @ y.T) / (safe_sqrt(squares[0]) * safe_sqrt(squares[1]) + 1e-9)
    angle = jnp.arctan2(safe_sqrt(1.0 - cosine * cosine), cosine)
    return 0.5 * (squares[0] + squares[1]) + beta * angle


def safe_sqrt(x: Float[Array, "*axes"]) -> Float[Array, "*axes"]:
    """The root, with value and gradient zero where its argument is not positive."""
    positive = x > 1e-30
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1.0)), 0.0)


Auxiliary = NoAuxiliary | Mico
