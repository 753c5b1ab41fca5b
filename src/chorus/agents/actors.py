"""Who chooses actions: the values themselves, or a policy of its own that learns from them."""

from dataclasses import dataclass

from chorus.components import Component


@dataclass(frozen=True, kw_only=True)
class Greedy(Component):
    """The action of the highest value, among Discrete ones."""


@dataclass(frozen=True, kw_only=True)
class SquashedGaussian(Component):
    """SAC: a Gaussian squashed to [-1, 1], for Box actions, and critics of which the lowest counts (E19 to E21)."""

    critics: int = 2
    """Critics a member; a target takes the lowest of their values."""
    initial_temperature: float = 1.0
    """What a nat of entropy is worth at first; it is learnt."""
    target_entropy: float = -0.5
    """Nats of entropy to keep, for each number of an action."""


Actor = Greedy | SquashedGaussian
