"""A run's whole configuration: one frozen tree, validated, stored as `config.json`."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from chorus.agents.actors import Actor
from chorus.agents.optimizers import Optimizer
from chorus.config.codec import decode, encode
from chorus.ensemble.auxiliaries import Auxiliary
from chorus.ensemble.estimates import Estimate, Selection
from chorus.ensemble.losses import Loss
from chorus.ensemble.value_map import ValueMapRule
from chorus.envs.atari import AtariSettings
from chorus.errors import ChorusError
from chorus.networks.layers import Initialization
from chorus.networks.torsos import Torso
from chorus.training.acting import Acting, LinearEpsilon
from chorus.training.settings import EvaluationSettings, ReplaySettings, Schedule

Scale = Literal["smoke", "laptop", "paper"]
Hyperparameters = Literal["code", "table"]


@dataclass(frozen=True, kw_only=True)
class EnvSettings:
    """Where the agent lives."""

    id: str
    """Gymnasium id, `ALE/Breakout-v5`, `MinAtar/Breakout-v1`, or `my_package:MyEnv-v0`."""
    num_envs: int
    """Environments stepped side by side; the number of updates for each agent step does not depend on it."""
    max_episode_steps: int | None
    """Agent steps after which an episode is truncated; none means the environment's own limit."""
    atari: AtariSettings | None = None
    """What an Atari game may be asked for; none for every other environment."""


@dataclass(frozen=True, kw_only=True)
class AgentSettings:
    """What learns, and how."""

    members: int
    """Ensemble size N."""
    shared_layers: int
    """Bottom layers with one copy for all members, L."""
    torso: Torso
    """The layers below the heads."""
    value_map: ValueMapRule
    """What each head predicts and from whom it bootstraps."""
    actor: Actor
    """Who chooses actions."""
    estimate: Estimate
    """What one prediction is."""
    loss: Loss
    """How a prediction is compared with its target."""
    selection: Selection
    """Which network chooses the next action."""
    auxiliary: Auxiliary
    """What else shapes the features."""
    initialization: Initialization
    """How weights and biases are drawn."""
    prior_scale: float
    """How much of each member's fixed random network is added to its predictions; 0 is none."""
    optimizer: Optimizer
    discount: float
    """Discount of the main heads."""
    target_period_updates: int
    """Gradient steps between copies to the target network."""
    target_rate: float
    """The share of the online network that such a copy takes over."""
    reward_clip: float | None
    """The learner sees rewards clipped to plus or minus this; none means as they are."""


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """The machine. Results repeat bit for bit only with the same number of threads, so it is part of a run."""

    threads: int = 1
    """CPU threads of the learner."""
    device: Literal["cpu", "gpu"] = "cpu"
    """What computes."""


@dataclass(frozen=True, kw_only=True)
class RunConfig:
    """Everything that decides what a run writes."""

    preset: str
    scale: Scale
    hyperparameters: Hyperparameters
    seed: int
    env: EnvSettings
    agent: AgentSettings
    acting: Acting
    exploration: LinearEpsilon
    replay: ReplaySettings
    schedule: Schedule
    evaluation: EvaluationSettings
    runtime: Runtime

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
        body = {name: value for name, value in self.to_json().items() if name != "seed"}
        return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:8]
