"""What a run will cost, before it is run: measured rates, and no more precise than a plan needs.

Seconds of one core: a start (imports, compilation), then so much for each agent step and for each member's share of a
gradient step, evaluation included. A grid that is under way corrects these numbers by what it sees.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from chorus.envs.registry import describe
from chorus.experiments.config import RunConfig

_START_SECONDS = 15.0
# The paper: an RTX 8000 took 2 days for one Double DQN, 3.5 for N = 10, 3 with three layers shared, 50M agent steps
# each, and 5 and 12.5 hours for ten seeds of SAC and of Ensemble SAC with N = 10, 1M steps each.
GPU_SOURCE = "assumed from the times that the paper states for an RTX 8000"


@dataclass(frozen=True)
class Rate:
    """`step` seconds for an agent step, `member` more for each member and gradient step."""

    step: float
    member: float


# On one core of a two-core machine, measured at the laptop scale (docs/reproduction.md); for Box, SAC.
_CPU = {
    "minatar": Rate(step=1.2e-4, member=5.7e-4),
    "flat": Rate(step=2.0e-4, member=5.0e-4),
    "atari": Rate(step=1.8e-3, member=2.1e-2),
    "image": Rate(step=1.8e-3, member=2.1e-2),
    "box": Rate(step=5.0e-4, member=1.2e-3),
}
# At the paper scale networks are this many times more work than at the laptop scale.
_PAPER_WORK = {"minatar": 2.0, "flat": 1.0, "atari": 12.0, "image": 12.0, "box": 6.0}
_DAY = 86_400.0


def _gpu_rate(config: RunConfig, family: str) -> Rate:
    """Two measured points each, one member and ten, laid on a line."""
    if family == "box":
        one, ten, steps = 0.5 * 3_600.0, 1.25 * 3_600.0, 1e6
    else:
        one, ten, steps = 2.0 * _DAY, (3.5 if config.agent.shared_layers < 3 else 3.0) * _DAY, 5e7
    each = (ten - one) / 9.0
    return Rate(step=(one - each) / steps, member=each / steps * config.schedule.update_period_steps)


@cache
def _family(env_id: str) -> str:
    return describe(env_id).family


def seconds(config: RunConfig) -> float:
    """Of one run on one core, or on one graphics processor if that is what it asks for."""
    family = _family(config.env.id)
    steps = config.schedule.total_steps
    updates = max(0, steps - config.schedule.learning_starts) / config.schedule.update_period_steps
    if config.runtime.device == "gpu" or (config.scale == "paper" and family in ("atari", "image", "box")):
        rate, work = _gpu_rate(config, family), 1.0
    else:
        rate = _CPU.get(family, _CPU["flat"])
        work = _PAPER_WORK.get(family, 1.0) if config.scale == "paper" else 1.0
    return _START_SECONDS + steps * rate.step + updates * config.agent.members * rate.member * work


def gpu_days(configs: Iterable[RunConfig]) -> float:
    return sum(map(seconds, configs)) / _DAY
