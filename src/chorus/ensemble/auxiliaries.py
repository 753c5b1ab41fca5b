"""What else shapes the features: a loss on representations, mixed with the temporal-difference loss."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from chorus.components import BELOW_1, NOT_NEGATIVE, Component, option, register
from chorus.ensemble.losses import huber
from chorus.spaces import AnyArray


class Representations(NamedTuple):
    """One member's features of a batch: online and target of s, and target of s'."""

    online: Float[Array, "B D"]
    target: Float[Array, "B D"]
    next_target: Float[Array, "B D"]


class Auxiliary(Component, interface="auxiliary loss"):
    """What else shapes the features."""

    weight: float = 0.0
    """Its share of the loss; 0 for none."""

    def loss(self, features: Representations, reward: Float[AnyArray, " B"], discount: float) -> Float[Array, ""]:
        return jnp.zeros(())


@register
@dataclass(frozen=True, kw_only=True)
class NoAuxiliary(Auxiliary):
    """The temporal-difference loss alone."""


@register
@dataclass(frozen=True, kw_only=True)
class Mico(Auxiliary):
    """Matching under Independent Couplings (Castro et al., 2021; equation E14): (1 - weight) TD + weight MICo."""

    weight: float = option(
        0.01, flag="mico-weight", unit="W", within=BELOW_1, help="MICo: its share of the loss, at least 0 and below 1"
    )
    beta: float = option(0.1, unit="BETA", within=NOT_NEGATIVE, help="weight of the angle in MICo's distance")

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        agent, n_step = config.agent, config.replay.n_step
        features, shared = agent.torso.feature_layers, getattr(agent, "shared_layers", 0)
        if not self.weight:
            return
        if 0 < shared < features:
            yield (
                f"--shared-layers {shared} shares a part of the {features} layers whose output MICo shapes, so its "
                f"gradient could not stay undivided there: choose 0, or {features} and more"
            )
        if n_step != 1:
            yield f"--n-step is {n_step}; MICo's distance is defined for 1-step rewards: use 1"
        if not features:
            yield "MICo shapes the layers below the last hidden one; this network has none: add a layer"

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
