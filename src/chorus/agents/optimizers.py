"""Optimisers as values; each builds an optax transformation."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import optax

from chorus.components import BELOW_1, POSITIVE, Component, option, register


class Optimizer(Component, ABC, interface="optimizer"):
    """Turns gradients into steps."""

    @abstractmethod
    def build(self) -> optax.GradientTransformation:
        """The optax transformation."""


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


@register
@dataclass(frozen=True, kw_only=True)
class Adam(Optimizer):
    """Adam (Kingma & Ba, 2015)."""

    learning_rate: float = _learning_rate(2.5e-4)
    epsilon: float = _epsilon(1.5e-4)

    def build(self) -> optax.GradientTransformation:
        return optax.adam(self.learning_rate, eps=self.epsilon)


@register
@dataclass(frozen=True, kw_only=True)
class CentredRMSProp(Optimizer):
    """Centred RMSProp with epsilon inside the root: θ -= lr g / √(v - m² + ε)   (equation E8)."""

    learning_rate: float = _learning_rate(2.5e-4)
    decay: float = option(0.95, within=BELOW_1, help="decay of the running means, per update")
    epsilon: float = _epsilon(0.01 / 32**2)

    def build(self) -> optax.GradientTransformation:
        return optax.rmsprop(self.learning_rate, decay=self.decay, eps=self.epsilon, centered=True, eps_in_sqrt=True)
