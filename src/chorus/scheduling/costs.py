"""Cost estimates of runs, for planning, and the forecast of a running grid.

Seconds of one core: start-up (imports, compilation), then a rate per agent step and a rate per member and gradient
step, evaluation included. A running grid corrects the estimates by what its runs take.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from chorus.agents.agent import Learner
from chorus.config.schema import RunConfig
from chorus.envs.registry import describe
from chorus.runs.machine import processor
from chorus.scheduling.jobs import Job

GPU_SOURCE = "assumed: the times that the paper states for an RTX 8000"

_START_SECONDS = 10.0
_HOUR, _DAY = 3_600.0, 86_400.0


@dataclass(frozen=True)
class Rate:
    """Seconds per agent step, and per member and gradient step."""

    step: float
    member: float


# On one core at the laptop scale, by a part of the processor's name; docs/reproduction.md says which were
# measured; `python -m benchmarks.rates` measures those of the machine at hand.
_CPU = {
    "AMD EPYC": {
        "minatar": Rate(step=8.0e-5, member=1.05e-3),
        "flat": Rate(step=4.7e-4, member=5.1e-4),
        "atari": Rate(step=1.8e-3, member=2.1e-2),
        "image": Rate(step=1.8e-3, member=2.1e-2),
        "control": Rate(step=2.0e-3, member=1.0e-3),
        "deep_sea": Rate(step=1.3e-4, member=2.0e-4),
    },
    "Intel(R) Xeon": {
        "minatar": Rate(step=7.2e-5, member=1.57e-3),
        "flat": Rate(step=5.9e-4, member=6.4e-4),
        "atari": Rate(step=2.5e-3, member=3.0e-2),
        "image": Rate(step=2.5e-3, member=3.0e-2),
        "control": Rate(step=1.4e-3, member=1.3e-3),
        "deep_sea": Rate(step=1.6e-4, member=2.5e-4),
    },
}
# Other processors are estimated by this one's rates, until their own runs correct the estimate.
_USUAL = "AMD EPYC"


def measured_processor() -> str:
    """The processor whose rates estimate this machine: its own kind if that was measured."""
    return next((kind for kind in _CPU if kind in processor()), _USUAL)


def cpu_source() -> str:
    return f"estimated from runs on one core of an {measured_processor()} processor, docs/reproduction.md"


# Relative cost of a further member when convolutions are shared: half on MinAtar, a quarter on Atari (docs/cost.md).
_UNSHARED = 0.35
# Additional seconds per member, gradient step and further pair of numbers of a prediction, on MinAtar (docs/cost.md).
_PAIR_OF_QUANTILES = 2.6e-7
# Share of an update on MinAtar that a dense layer of the usual width takes; convolutions take the rest. From runs with
# 32 units (those of the demo) and with 128.
_DENSE_SHARE, _DENSE_UNITS = 0.7, 128
# Work of the paper scale's networks, in units of the laptop scale's.
_PAPER_WORK = {"minatar": 1.0, "flat": 1.0, "deep_sea": 1.0}


@dataclass(frozen=True)
class Work:
    """Remaining cost, on CPUs and on GPUs."""

    core_seconds: float
    gpu_days: float


def gpu_words(days: float) -> str:
    return f"{days:,.0f} GPU-days" if days >= 10 else f"{days:,.2g} GPU-days"


def work_left(configs: Iterable[tuple[RunConfig, float]]) -> Work:
    """Remaining cost of runs, each given with the share of its steps that is done."""
    spent = [(on_gpu(config), seconds(config) * (1.0 - share)) for config, share in configs]
    return Work(
        core_seconds=sum(cost for gpu, cost in spent if not gpu),
        gpu_days=sum(cost for gpu, cost in spent if gpu) / _DAY,
    )


def on_gpu(config: RunConfig) -> bool:
    return config.runtime.device == "gpu"


def seconds(config: RunConfig) -> float:
    """Cost of one run in seconds of one core, or of one GPU if the run asks for it."""
    family = _family(config.env.id)
    rate, members = _gpu_rate(config, family), float(config.agent.members)
    if not on_gpu(config):
        rate = _cpu_rate(config, family)
        members = 1.0 + (members - 1.0) * (_UNSHARED if config.agent.shared_layers else 1.0)
    schedule = config.schedule
    updates = max(0, schedule.total_steps - schedule.learning_starts) / schedule.update_period_steps
    work = members * config.agent.member_work
    return _START_SECONDS + schedule.total_steps * rate.step + updates * work * rate.member


def _cpu_rate(config: RunConfig, family: str) -> Rate:
    # A family of a plugin: no better guess than that of flat observations.
    rates = _CPU[measured_processor()]
    rate = rates.get(family, rates["flat"])
    work = _PAPER_WORK.get(family, 12.0) if config.scale == "paper" else 1.0
    return Rate(step=rate.step, member=rate.member * work * _width_work(config, family) + _extra(config.agent))


def _width_work(config: RunConfig, family: str) -> float:
    """Work of the network's dense layers and convolutions, in units of the usual ones."""
    units = config.agent.torso.dense_units
    if family != "minatar" or units is None:
        return 1.0
    return 1.0 - _DENSE_SHARE + _DENSE_SHARE * units / _DENSE_UNITS


def _extra(agent: Learner) -> float:
    declared = agent.auxiliary.update_seconds + agent.value_map.update_seconds
    return _PAIR_OF_QUANTILES * (agent.prediction_size**2 - 1) + declared


def _gpu_rate(config: RunConfig, family: str) -> Rate:
    """A line through the times that the paper states for one member and for ten.

    Atari: 2 days for Double DQN, 3.5 for N = 10, 3 with three layers shared, 50M agent steps each. MuJoCo: 5 and 12.5
    hours for ten seeds of SAC and of Ensemble SAC with N = 10 at once, 1M steps each.
    """
    if family == "control":
        one, ten, steps = 0.5 * _HOUR, 1.25 * _HOUR, 1e6
    else:
        one, ten, steps = 2.0 * _DAY, (3.5 if config.agent.shared_layers < 3 else 3.0) * _DAY, 5e7
    each = (ten - one) / 9
    return Rate(step=(one - each) / steps, member=each / steps * config.schedule.update_period_steps)


@cache
def _family(env_id: str) -> str:
    return describe(env_id).family


# Prior weight of the cost estimate, in seconds.
_PRIOR_SECONDS = 60.0


@dataclass(frozen=True)
class Attempt:
    """One attempt at a run: the share of its steps at the start and at the end, and the seconds in between."""

    job: Job
    first_share: float
    share: float
    seconds: float


@dataclass
class Forecast:
    """Estimates the remaining time of a grid from its finished and running attempts."""

    _estimates: dict[str, float] = field(default_factory=dict)
    _expected: float = 0.0
    _taken: float = 0.0

    def cost(self, job: Job) -> float:
        if job.name not in self._estimates:
            self._estimates[job.name] = seconds(job.config)
        return self._estimates[job.name]

    def note(self, attempt: Attempt) -> None:
        self._expected += self.cost(attempt.job) * max(0.0, attempt.share - attempt.first_share)
        self._taken += attempt.seconds

    def left(self, waiting: Iterable[tuple[Job, float]], running: Sequence[Attempt], workers: int) -> float:
        """Remaining seconds; `waiting` are jobs, each with the share of its steps that is done."""
        expected = self._expected + sum(self.cost(one.job) * max(0.0, one.share - one.first_share) for one in running)
        taken = self._taken + sum(one.seconds for one in running)
        correction = (taken + _PRIOR_SECONDS) / (expected + _PRIOR_SECONDS)
        rest = [self.cost(job) * (1.0 - share) for job, share in waiting]
        rest += [self.cost(one.job) * (1.0 - one.share) for one in running]
        at_once = max(1, min(workers, len(rest)))
        # The longest run bounds the time from below, however many run in parallel.
        return correction * max(sum(rest) / at_once, max(rest, default=0.0))
