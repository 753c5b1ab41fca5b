"""The row of the table of scales: what an environment family and a scale decide together."""

from dataclasses import dataclass

from chorus.agents.optimizers import Optimizer
from chorus.networks.torsos import Torso
from chorus.training.acting import LinearEpsilon
from chorus.training.states import StateIndex


@dataclass(frozen=True, kw_only=True)
class ScaleRow:
    """One row of the table. Steps are agent steps over all slots; `source` says where its numbers come from.

    A final score is the mean of the last `final_evaluations` of total / iteration evaluations: at the laptop scale of
    the last fifth of 25, so that it leaves out the learning phase.
    """

    source: str
    torso: Torso
    optimizer: Optimizer
    buffer: int
    batch: int
    target_updates: int
    target_rate: float = 1.0
    epsilon: LinearEpsilon
    slots: int
    iteration: int
    total: int
    members: int
    eval_episodes: int
    eval_slots: int
    final_evaluations: int
    eval_steps: int = 0
    eval_epsilon: float = 0.01
    update_steps: int = 4
    n_step: int = 1
    reward_clip: float | None = None
    episode_cap: int | None = None
    threads: int = 1
    quantiles: int = 200
    quantile: "QuantileRow | None" = None
    states: StateIndex | None = None


@dataclass(frozen=True, kw_only=True)
class QuantileRow:
    """What QR-DQN changes in a row: Dopamine's settings, which the paper took over (Deviation D14)."""

    torso: Torso
    optimizer: Optimizer
    target_updates: int
    epsilon: LinearEpsilon
    eval_epsilon: float
    sticky_actions: float
