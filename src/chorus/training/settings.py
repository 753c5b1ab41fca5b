"""Settings of schedule, replay and evaluation; `chorus.config.schema` composes them into a run's configuration."""

from dataclasses import dataclass

from chorus.components import AT_LEAST_1, NOT_NEGATIVE, SHARE, option
from chorus.replay.samplers import Sampler, Shared
from chorus.training.policies import Policy


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Budgets, in agent steps summed over all slots."""

    total_steps: int = option(
        flag="total-steps",
        unit="STEPS",
        within=AT_LEAST_1,
        label="{} steps",
        axis="agent steps of training",
        help="agent steps of training, over all environments",
    )
    iteration_steps: int = option(
        flag="iteration-steps",
        unit="STEPS",
        within=AT_LEAST_1,
        help="agent steps between evaluations and checkpoints; a single Atari game plays its last episode to the end",
    )
    learning_starts: int = option(
        flag="learning-starts",
        unit="STEPS",
        within=NOT_NEGATIVE,
        # As in the authors' schedule, epsilon starts to fall when learning starts.
        also=("exploration.warmup_steps",),
        help="agent steps of random actions before the first gradient step",
    )
    update_period_steps: int = option(
        4, flag="update-period", unit="STEPS", within=AT_LEAST_1, help="agent steps per gradient step"
    )

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
    """The replay and the batches drawn from it."""

    capacity: int = option(
        flag="buffer-size",
        unit="TRANSITIONS",
        within=AT_LEAST_1,
        label="{} buffer",
        axis="replay capacity (transitions)",
        log_axis=True,
        help="transitions in the replay",
    )
    batch_size: int = option(flag="batch-size", unit="B", within=AT_LEAST_1, help="transitions per batch")
    n_step: int = option(1, flag="n-step", unit="n", within=AT_LEAST_1, help="rewards in a return before it bootstraps")
    sampler: Sampler = option(default_factory=Shared, help="who learns from which data")


@dataclass(frozen=True, kw_only=True)
class EvaluationSettings:
    """How the frozen networks are evaluated at the end of each iteration."""

    episodes: int = option(
        flag="eval-episodes",
        unit="K",
        within=AT_LEAST_1,
        help="at least this many episodes per policy, rounded up to the same number in each environment",
    )
    steps: int = option(
        0,
        flag="eval-steps",
        unit="STEPS",
        within=NOT_NEGATIVE,
        help="and whole episodes until at least this many agent steps, 0 for no such floor",
    )
    slots: int = option(flag="eval-envs", unit="E", within=AT_LEAST_1, help="environments played at once")
    epsilon: float = option(
        0.01, flag="eval-epsilon", unit="EPS", within=SHARE, help="chance of a random action in evaluation, 0 to 1"
    )
    max_episode_steps: int = option(
        5_000,
        unit="STEPS",
        within=AT_LEAST_1,
        help="agent steps after which an evaluation episode is cut where nothing else limits it",
    )
    final_evaluations: int = option(
        10,
        flag="final-evaluations",
        unit="K",
        within=AT_LEAST_1,
        help="how many of a run's last evaluations its final score is the mean of; changes reports, not training",
    )
    policies: dict[str, Policy] = option(default_factory=dict, help="the policies that are evaluated, by name")

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
