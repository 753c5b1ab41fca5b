"""How a prediction is compared with its target; each is a function of one head's prediction and target."""

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float

from chorus.variant import Variant


def huber(residual: Float[Array, "*axes"], threshold: float) -> Float[Array, "*axes"]:
    """x²/2 up to the threshold, linear beyond it (equation E1)."""
    distance = jnp.abs(residual)
    inside = jnp.minimum(distance, threshold)
    return 0.5 * jnp.square(inside) + threshold * (distance - inside)


@dataclass(frozen=True, kw_only=True)
class Squared(Variant):
    """x², the critic loss of SAC (Haarnoja et al., 2018)."""

    def __call__(self, prediction: Float[Array, " Z"], target: Float[Array, " Z"]) -> Float[Array, ""]:
        return jnp.sum(jnp.square(target - prediction))


@dataclass(frozen=True, kw_only=True)
class Huber(Variant):
    """x²/2 up to the threshold, linear beyond it (equation E1)."""

    threshold: float = 1.0

    def __call__(self, prediction: Float[Array, " Z"], target: Float[Array, " Z"]) -> Float[Array, ""]:
        return jnp.sum(huber(target - prediction, self.threshold))


@dataclass(frozen=True, kw_only=True)
class QuantileHuber(Variant):
    """Σ_k mean_m |τ_k - 1[u<0]| huber_κ(u), u = y_m - θ_k, τ_k = (k + ½)/Z   (equation E13)."""

    kappa: float = 1.0

    def __call__(self, prediction: Float[Array, " Z"], target: Float[Array, " Z"]) -> Float[Array, ""]:
        residual = target[None, :] - prediction[:, None]
        midpoint = (jnp.arange(prediction.shape[0]) + 0.5) / prediction.shape[0]
        slope = jnp.abs(midpoint[:, None] - (residual < 0))
        return jnp.sum(jnp.mean(slope * huber(residual, self.kappa), axis=1))


Error = Squared | Huber | QuantileHuber
