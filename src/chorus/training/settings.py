"""The settings of the machinery around an agent; `chorus.config.schema` composes them into a run's."""

from dataclasses import dataclass, field

from chorus.replay.samplers import Sampler, Shared
from chorus.training.policies import Policy


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Budgets, in agent steps summed over all slots."""

    total_steps: int
    """Agent steps of training."""
    iteration_steps: int
    """Agent steps between evaluations; environments are made anew and a checkpoint is written each time. A single
    Atari game goes on to the end of its episode."""
    learning_starts: int
    """Agent steps of random actions before the first gradient step."""
    update_period_steps: int = 4
    """Agent steps for each gradient step."""

    @property
    def iterations(self) -> int:
        return -(-self.total_steps // self.iteration_steps)

    def span(self, iteration: int, first_step: int | None = None) -> tuple[int, int]:
        """The agent steps at which an iteration (counted from 1) starts and should end; the last may be shorter.

        It starts where the ones before have ended, `first_step`, or else where they should have.
        """
        planned = (iteration - 1) * self.iteration_steps
        steps = min(self.iteration_steps, self.total_steps - planned)
        first = planned if first_step is None else first_step
        return first, first + steps


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
    """At least this many episodes for each policy, rounded up to the same number in each slot."""
    steps: int = 0
    """And whole episodes until at least this many agent steps, the same number in each slot; 0 for no such floor."""
    slots: int
    """Environments played at once."""
    epsilon: float = 0.01
    """Chance of a random action."""
    max_episode_steps: int = 5_000
    """Agent steps after which an episode is cut where nothing else limits it: a policy may never end one."""
    policies: dict[str, Policy] = field(default_factory=dict)
    """The policies that are judged, by name."""

    @property
    def amount(self) -> "Amount":
        return Amount(episodes=-(-self.episodes // self.slots), steps=-(-self.steps // self.slots))


@dataclass(frozen=True, kw_only=True)
class Amount:
    """How much each slot plays: whole episodes until it has both.

    Both are fixed for each slot in advance: taking whichever episodes finish first would favour short ones.
    """

    episodes: int
    steps: int = 0

    def reached(self, episodes: int, steps: int) -> bool:
        return episodes >= self.episodes and steps >= self.steps
