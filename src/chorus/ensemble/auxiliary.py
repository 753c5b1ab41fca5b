"""What else shapes the features: a loss on representations, mixed with the temporal-difference loss."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from chorus.arrays import AnyArray
from chorus.ensemble.errors import huber
from chorus.variant import Variant


class Representations(NamedTuple):
    """One member's features of a batch: online and target of s, and target of s'."""

    online: Float[Array, "B D"]
    target: Float[Array, "B D"]
    next_target: Float[Array, "B D"]


@dataclass(frozen=True, kw_only=True)
class NoAuxiliary(Variant):
    """The temporal-difference loss alone."""

    @property
    def weight(self) -> float:
        return 0.0

    def loss(self, features: Representations, reward: Float[AnyArray, " B"], discount: float) -> Float[Array, ""]:
        return jnp.zeros(())


@dataclass(frozen=True, kw_only=True)
class MICo(Variant):
    """Matching under Independent Couplings (Castro et al., 2021; equation E14): (1 - weight) TD + weight MICo."""

    weight: float = 0.01
    beta: float = 0.1

    def loss(self, features: Representations, reward: Float[AnyArray, " B"], discount: float) -> Float[Array, ""]:
        """Mean over all ordered pairs of huber₁(U(φ(s_p), φ̄(s_q)) - (|r_p - r_q| + γ U(φ̄(s'_p), φ̄(s'_q))))."""

        def over_pairs(x: Float[Array, "B D"], y: Float[Array, "B D"]) -> Float[Array, "B B"]:
            return jax.vmap(lambda a: jax.vmap(lambda b: mico_distance(a, b, self.beta))(y))(x)

        online = over_pairs(features.online, jax.lax.stop_gradient(features.target))
        following = over_pairs(features.next_target, features.next_target)
        target = jnp.abs(reward[:, None] - reward[None, :]) + discount * following
        return jnp.mean(huber(online - jax.lax.stop_gradient(target), 1.0))


def mico_distance(x: Float[Array, " D"], y: Float[Array, " D"], beta: float) -> Float[Array, ""]:
    """U(x, y) = ½(‖x‖² + ‖y‖²) + β angle(x, y)."""
    squares = jnp.sum(x * x), jnp.sum(y * y)
    cosine = jnp.sum(x * y) / (safe_sqrt(squares[0]) * safe_sqrt(squares[1]) + 1e-9)
    angle = jnp.arctan2(safe_sqrt(1.0 - cosine * cosine), cosine)
    return 0.5 * (squares[0] + squares[1]) + beta * angle


def safe_sqrt(x: Float[Array, ""]) -> Float[Array, ""]:
    """The root, with value and gradient zero where its argument is not positive."""
    positive = x > 1e-30
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1.0)), 0.0)


Auxiliary = NoAuxiliary | MICo
