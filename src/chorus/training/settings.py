"""The settings of the machinery around an agent; `chorus.experiments.config` composes them into a run's."""

from dataclasses import dataclass, field

from chorus.replay.samplers import Sampler, Shared
from chorus.training.policies import Policy


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Budgets, in agent steps summed over all slots."""

    total_steps: int
    """Agent steps of training."""
    iteration_steps: int
    """Agent steps between evaluations; environments are made anew and a checkpoint is written each time."""
    learning_starts: int
    """Agent steps of random actions before the first gradient step."""
    update_period_steps: int = 4
    """Agent steps for each gradient step."""

    @property
    def iterations(self) -> int:
        return -(-self.total_steps // self.iteration_steps)

    def span(self, iteration: int) -> tuple[int, int]:
        """The agent steps at which an iteration (counted from 1) starts and ends; the last may be shorter."""
        first = (iteration - 1) * self.iteration_steps
        return first, min(first + self.iteration_steps, self.total_steps)


@dataclass(frozen=True, kw_only=True)
class ReplaySettings:
    """What is kept and what is drawn from it."""

    capacity: int
    """Transitions in the replay."""
    batch_size: int
    """Transitions in a batch."""
    n_step: int = 1
    """Rewards in a return before it bootstraps."""
    sampler: Sampler = field(default_factory=Shared)
    """Who learns from which data."""


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """How the frozen networks are judged at the end of each iteration."""

    episodes: int
    """Episodes for each policy, rounded up to the same number in each slot."""
    slots: int
    """Environments played at once."""
    epsilon: float = 0.01
    """Chance of a random action."""
    policies: dict[str, Policy] = field(default_factory=dict)
    """The policies that are judged, by name."""

    @property
    def episodes_a_slot(self) -> int:
        return -(-self.episodes // self.slots)
