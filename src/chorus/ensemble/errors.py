"""How a prediction is compared with its target; each is a function of one head's prediction and target."""

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float

from chorus.variant import Variant


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
        distance = jnp.abs(target - prediction)
        inside = jnp.minimum(distance, self.threshold)
        return jnp.sum(0.5 * jnp.square(inside) + self.threshold * (distance - inside))


Error = Squared | Huber
