"""How a prediction is compared with its target: a loss of one head, applied to every head of every member."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from chorus.components import AT_LEAST_1, POSITIVE, Component, option, register
from chorus.ensemble.value_map import Cross, CrossOwn
from chorus.spaces import AnyArray


def huber(residual: Float[Array, "*axes"], threshold: float) -> Float[Array, "*axes"]:
    """x²/2 up to the threshold, linear beyond it (equation E1)."""
    distance = jnp.abs(residual)
    inside = jnp.minimum(distance, threshold)
    return 0.5 * jnp.square(inside) + threshold * (distance - inside)


def weighted_mean(losses: Float[Array, "B N H"], weight: Float[AnyArray, "B W"]) -> Float[Array, "N H"]:
    """Mean over a member's weighted samples; exactly zero, with zero gradient, if it has none (law 7)."""
    total = jnp.sum(weight, axis=0)
    kept = jnp.where(total > 0, total, 1.0)
    return jnp.sum(losses * weight[..., None], axis=0) / kept[:, None]


class Loss(Component, ABC, interface="loss"):
    """How predictions are compared with their targets."""

    @property
    def reads_distribution(self) -> bool:
        """Whether predictions are distributions (`Estimate.is_distribution`), and not expected returns."""
        return False

    @abstractmethod
    def of_heads(
        self, main: Int[np.ndarray, " N"], predictions: Float[Array, "N H Z"], targets: Float[Array, "N H Z"]
    ) -> Float[Array, "N H"]:
        """The loss of every head of every member, for one transition; `main[i]` is member i's main head."""


class HeadLoss(Loss, ABC):
    """One loss for main and auxiliary heads alike."""

    @abstractmethod
    def __call__(self, prediction: Float[Array, " Z"], target: Float[Array, " Z"]) -> Float[Array, ""]:
        """The loss of one head."""

    def of_heads(
        self, main: Int[np.ndarray, " N"], predictions: Float[Array, "N H Z"], targets: Float[Array, "N H Z"]
    ) -> Float[Array, "N H"]:
        return jax.vmap(jax.vmap(self))(predictions, targets)


@register
@dataclass(frozen=True, kw_only=True)
class Squared(HeadLoss):
    """x², the critic loss of SAC (Haarnoja et al., 2018)."""

    def __call__(self, prediction: Float[Array, " Z"], target: Float[Array, " Z"]) -> Float[Array, ""]:
        return jnp.sum(jnp.square(target - prediction))


@register
@dataclass(frozen=True, kw_only=True)
class Huber(HeadLoss):
    """x²/2 up to the threshold, linear beyond it (equation E1)."""

    threshold: float = option(1.0, unit="D", within=POSITIVE, help="error beyond which the loss is linear")

    def __call__(self, prediction: Float[Array, " Z"], target: Float[Array, " Z"]) -> Float[Array, ""]:
        return jnp.sum(huber(target - prediction, self.threshold))


@register
@dataclass(frozen=True, kw_only=True)
class QuantileHuber(HeadLoss):
    """Σ_k mean_m |τ_k - 1[u<0]| huber_κ(u), u = y_m - θ_k, τ_k = (k + ½)/Z   (equation E13)."""

    kappa: float = option(1.0, unit="D", within=POSITIVE, help="error beyond which the loss is linear")

    @property
    def reads_distribution(self) -> bool:
        return True

    def __call__(self, prediction: Float[Array, " Z"], target: Float[Array, " Z"]) -> Float[Array, ""]:
        residual = target[None, :] - prediction[:, None]
        midpoint = (jnp.arange(prediction.shape[0]) + 0.5) / prediction.shape[0]
        slope = jnp.abs(midpoint[:, None] - (residual < 0))
        return jnp.sum(jnp.mean(slope * huber(residual, self.kappa), axis=1))


@register
@dataclass(frozen=True, kw_only=True)
class TwiceHuber(HeadLoss):
    """x² up to the threshold, linear beyond it, so that diverging targets have a bounded gradient (equation E22)."""

    threshold: float = option(10.0, unit="D", within=POSITIVE, help="error beyond which the loss is linear")

    def __call__(self, prediction: Float[Array, " Z"], target: Float[Array, " Z"]) -> Float[Array, ""]:
        return 2.0 * jnp.sum(huber(target - prediction, self.threshold))


@register
@dataclass(frozen=True, kw_only=True)
class MainAndAuxiliary(Loss):
    """One loss for the heads that members act with, another for all other heads (equation E22)."""

    main: HeadLoss = option(default_factory=Squared, help="loss of the heads that members act with")
    auxiliary: HeadLoss = option(
        default_factory=TwiceHuber, flags={"threshold": "huber-threshold"}, help="loss of all other heads"
    )

    @property
    def reads_distribution(self) -> bool:
        return self.main.reads_distribution

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if self.main.reads_distribution != self.auxiliary.reads_distribution:
            yield (
                f"agent.loss.main is {self.main.kind} and agent.loss.auxiliary is {self.auxiliary.kind}, of which only "
                "one compares distributions; all heads predict alike: choose two losses that both do, or both do not"
            )

    def of_heads(
        self, main: Int[np.ndarray, " N"], predictions: Float[Array, "N H Z"], targets: Float[Array, "N H Z"]
    ) -> Float[Array, "N H"]:
        is_main = np.arange(predictions.shape[1]) == main[:, None]

        def of_main(x: Float[Array, "N H Z"]) -> Float[Array, "N Z"]:
            return jnp.sum(jnp.where(is_main[..., None], x, 0.0), axis=1)

        # The main loss must not read auxiliary heads, even where its value is discarded: their targets may be infinite,
        # and 0 times infinity is undefined in the gradient.
        own = jax.vmap(self.main)(of_main(predictions), of_main(targets))
        return jnp.where(is_main, own[:, None], self.auxiliary.of_heads(main, predictions, targets))


@register
@dataclass(frozen=True, kw_only=True)
class DivergingMember(MainAndAuxiliary):
    """Fault injection, no algorithm: the targets of head 0 are inflated, so that member 0's values diverge under CERL.

    Head 0 is every member's prediction of member 0's value, so all members are taught the diverging values. The study
    `diverging-member` compares what that does to them with a bounded and with an unbounded auxiliary loss. With SAC's
    discount of 0.99 and target rate of 0.005 the values grow e-fold in about 20,000 updates.
    """

    factor: float = option(
        1.02,
        within=AT_LEAST_1,
        label="diverging member",
        help="the targets of head 0 are multiplied by this; times the discount it must exceed 1 for values to diverge",
    )

    def of_heads(
        self, main: Int[np.ndarray, " N"], predictions: Float[Array, "N H Z"], targets: Float[Array, "N H Z"]
    ) -> Float[Array, "N H"]:
        return super().of_heads(main, predictions, targets.at[:, 0].multiply(self.factor))

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if not isinstance(config.agent.value_map, Cross | CrossOwn):
            yield (
                f"the loss diverging_member is a fault of CERL, whose head 0 is about member 0, and agent.value_map is "
                f"{config.agent.value_map.kind}: use a preset with CERL, such as one with the value map cross"
            )
        yield from super().problems(config, spec)
