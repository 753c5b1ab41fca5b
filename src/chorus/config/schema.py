"""A run's whole configuration: one frozen tree, validated, stored as `config.json`."""

from dataclasses import dataclass
from typing import Any, Literal

import chorus.agents.q
import chorus.agents.sac  # noqa: F401 - registers the learners
from chorus.agents.agent import Learner
from chorus.components import AT_LEAST_1, NOT_NEGATIVE, option
from chorus.config.codec import decode, encode
from chorus.envs.atari import AtariSettings
from chorus.errors import ChorusError
from chorus.files import json_digest
from chorus.training.acting import ActingRule, LinearEpsilon
from chorus.training.settings import EvaluationSettings, ReplaySettings, Schedule
from chorus.training.states import StateIndex

Scale = Literal["smoke", "laptop", "paper"]
SCALES: tuple[Scale, ...] = ("smoke", "laptop", "paper")
Hyperparameters = Literal["code", "table"]


@dataclass(frozen=True, kw_only=True)
class EnvSettings:
    """Where the agent lives."""

    id: str = option(help="Gymnasium id, ALE/Breakout-v5, MinAtar/Breakout-v1, or my_package:MyEnv-v0")
    num_envs: int = option(
        flag="num-envs",
        unit="E",
        within=AT_LEAST_1,
        help="environments stepped side by side; the updates per agent step do not depend on it",
    )
    max_episode_steps: int | None = option(
        flag="max-episode-steps",
        unit="STEPS",
        within=AT_LEAST_1,
        help="agent steps after which an episode is truncated; none for the environment's own limit",
    )
    atari: AtariSettings | None = option(None, help="settings of Atari games; none for every other environment")


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """The machine. Results repeat bit for bit only with the same number of threads, so it is part of a run."""

    threads: int = option(
        1, flag="threads", unit="T", within=AT_LEAST_1, help="CPU threads; another number gives other low-order bits"
    )
    device: Literal["cpu", "gpu"] = option("cpu", flag="device", help="what computes")


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Everything that decides what a run writes."""

    preset: str = option(help="the algorithm the configuration started from")
    scale: Scale = option(help="budget and network together")
    hyperparameters: Hyperparameters = option(help="the authors' code or the paper's table, where they differ")
    seed: int = option(unit="S", within=NOT_NEGATIVE, help="root of every random stream")
    env: EnvSettings = option(help="the environment")
    agent: Learner = option(help="the learner and its ensemble")
    acting: ActingRule = option(
        flag="acting", unit="RULE", help="who gathers the data: an acting rule of `chorus list components`"
    )
    exploration: LinearEpsilon = option(help="random actions")
    replay: ReplaySettings = option(help="the replay")
    schedule: Schedule = option(help="budget")
    evaluation: EvaluationSettings = option(help="evaluation")
    runtime: Runtime = option(help="machine")
    states: StateIndex | None = option(
        None,
        flag="count-states",
        unit="INDEX",
        named=False,
        help="which observations count as one state, for the metrics of exploration; none counts no states",
    )

    def to_json(self) -> dict[str, Any]:
        return encode(self)

    @staticmethod
    def from_json(data: Any, origin: str) -> "RunConfig":
        """The configuration that `data` describes, or one error that lists all that is wrong with it."""
        problems: list[str] = []
        config = decode(RunConfig, data, "config", problems)
        if problems:
            raise ChorusError(f"{origin} cannot be used: " + "; ".join(problems))
        return config

    def digest(self) -> str:
        """Eight characters that name a configuration, whatever its seed."""
        body = {name: value for name, value in encode(self, for_name=True).items() if name != "seed"}
        return json_digest(body)[:8]
