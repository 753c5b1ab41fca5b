"""Optimisers as values; each builds an optax transformation."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import optax

from chorus.components import BELOW_1, NOT_NEGATIVE, POSITIVE, Component, option, register


class Optimizer(Component, ABC, interface="optimizer"):
    """Turns gradients into steps."""

    @abstractmethod
    def build(self) -> optax.GradientTransformation:
        """The optax transformation."""

    def without_decay(self) -> "Optimizer":
        """The same optimiser for parameters that are no weights, such as SAC's temperatures."""
        return self


def _learning_rate(default: float) -> Any:
    about = {"flag": "learning-rate", "aliases": ("lr",), "unit": "RATE", "within": POSITIVE}
    return option(default, **about, help="step size of the optimizer")


def _epsilon(default: float) -> Any:
    return option(
        default,
        flag="optimizer-epsilon",
        unit="EPS",
        within=POSITIVE,
        label="opt. eps {}",
        axis="epsilon of the optimizer",
        log_axis=True,
        help="number added to the size of a gradient before the optimizer divides by it",
    )


def _weight_decay() -> Any:
    return option(
        0.0,
        flag="weight-decay",
        unit="RATE",
        within=NOT_NEGATIVE,
        label="weight decay {}",
        axis="weight decay",
        named=False,
        help="share of every weight that the optimizer takes off at each update, times the step size; 0 for none",
    )


class Decaying(Optimizer):
    """Base class of optimisers with decoupled weight decay (Loshchilov & Hutter, 2019): θ -= lr (step + λ θ)  (E28)."""

    learning_rate: float
    weight_decay: float

    @abstractmethod
    def direction(self) -> optax.GradientTransformation:
        """The step before it is multiplied by the learning rate."""

    def build(self) -> optax.GradientTransformation:
        decay = [optax.add_decayed_weights(self.weight_decay)] if self.weight_decay else []
        return optax.chain(self.direction(), *decay, optax.scale_by_learning_rate(self.learning_rate))

    def without_decay(self) -> Optimizer:
        return replace(self, weight_decay=0.0)  # type: ignore[type-var]


@register
@dataclass(frozen=True, kw_only=True)
class Adam(Decaying):
    """Adam (Kingma & Ba, 2015); with weight decay AdamW."""

    learning_rate: float = _learning_rate(2.5e-4)
    epsilon: float = _epsilon(1.5e-4)
    weight_decay: float = _weight_decay()

    def direction(self) -> optax.GradientTransformation:
        return optax.scale_by_adam(eps=self.epsilon)


@register
@dataclass(frozen=True, kw_only=True)
class CentredRMSProp(Decaying):
    """Centred RMSProp with epsilon inside the root: θ -= lr g / √(v - m² + ε)   (equation E8)."""

    learning_rate: float = _learning_rate(2.5e-4)
    decay: float = option(0.95, within=BELOW_1, help="decay of the running means, per update")
    epsilon: float = _epsilon(0.01 / 32**2)
    weight_decay: float = _weight_decay()

    def direction(self) -> optax.GradientTransformation:
        return optax.scale_by_stddev(decay=self.decay, eps=self.epsilon, eps_in_sqrt=True)
