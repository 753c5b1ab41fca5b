"""Optimisers as values; each builds an optax transformation."""

from dataclasses import dataclass

import optax

from chorus.components import Component


@dataclass(frozen=True, kw_only=True)
class Adam(Component):
    """Adam (Kingma & Ba, 2015)."""

    learning_rate: float = 2.5e-4
    epsilon: float = 1.5e-4

    def build(self) -> optax.GradientTransformation:
        return optax.adam(self.learning_rate, eps=self.epsilon)


@dataclass(frozen=True, kw_only=True)
class CentredRMSProp(Component):
    """Centred RMSProp with epsilon inside the root: θ -= lr g / √(v - m² + ε)   (equation E8)."""

    learning_rate: float = 2.5e-4
    decay: float = 0.95
    epsilon: float = 0.01 / 32**2

    def build(self) -> optax.GradientTransformation:
        return optax.rmsprop(self.learning_rate, decay=self.decay, eps=self.epsilon, centered=True, eps_in_sqrt=True)


Optimizer = Adam | CentredRMSProp
