"""A loop without chance: steps that were written down beforehand, and an agent that only counts."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chorus.agents.agent import Agent, AgentState
from chorus.replay.batch import Batch
from chorus.training.learning import SeparateLearning
from chorus.training.stepper import Keys, Steps


def counting_agent(batches: list[Batch] | None = None) -> Agent:
    """Its parameters are how many updates it has made; it keeps the batches it was given."""

    def update(state: AgentState, batch: Batch) -> tuple[AgentState, np.ndarray]:
        if batches is not None:
            batches.append(batch)
        errors = np.zeros((len(batch.action), 1), np.float32)
        return state._replace(params={"updates": state.params["updates"] + 1}), errors

    def unused(*_: Any) -> Any:
        raise AssertionError("a scripted stepper decides by itself")

    return Agent(init=unused, act=unused, propose=unused, value=unused, update=update, inspect=unused)


def counting_state() -> AgentState:
    return AgentState(params={"updates": 0}, target_params={}, optimizer=(), updates=np.int32(0), totals={})


@dataclass
class Script:
    """T steps of E slots, drawn once; every observation is another number."""

    slots: int
    steps: int
    seed: int = 0

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        shape = (self.steps, self.slots)
        ending = rng.choice([0, 0, 0, 1, 2], size=shape)
        self.terminated, self.truncated = ending == 1, ending == 2
        self.life_ended = np.zeros(shape, bool)
        self.reward = rng.integers(-5, 5, size=shape).astype(np.float32)
        self.action = rng.integers(3, size=shape).astype(np.int32)
        self.member = rng.integers(4, size=shape).astype(np.int32)
        self.next_observation = 1_000.0 + np.arange(self.steps * self.slots, dtype=np.float32).reshape(*shape, 1)
        ended = (ending > 0)[..., None]
        self.reset_observation = np.where(ended, self.next_observation + 10_000.0, self.next_observation)


@dataclass
class ScriptedRollout:
    observation: np.ndarray
    time: int = 0
    closed: bool = False

    def close(self) -> None:
        self.closed = True


@dataclass
class ScriptedStepper:
    """Remembers with which parameters and epsilons it was asked to move."""

    script: Script
    chunk: int = 1
    asked: list[tuple[int, float]] = field(default_factory=list)
    rollouts: list[ScriptedRollout] = field(default_factory=list)

    @property
    def slots(self) -> int:
        return self.script.slots

    def start(self, keys: Keys) -> ScriptedRollout:
        self.rollouts.append(ScriptedRollout(np.arange(self.slots, dtype=np.float32)[:, None]))
        return self.rollouts[-1]

    def advance(
        self, params: Any, shares: np.ndarray, rollout: ScriptedRollout, epsilon: np.ndarray
    ) -> tuple[Any, Steps]:
        now = slice(rollout.time, rollout.time + len(epsilon))
        self.asked += [(params["updates"], float(value)) for value in epsilon]
        rollout.time += len(epsilon)
        columns = {name: getattr(self.script, name)[now] for name in Steps._fields if name != "measured"}
        return rollout, Steps(**columns, measured=())

    def learning(self, agent: Agent, state: AgentState) -> SeparateLearning:
        return SeparateLearning(self, agent, state)

    def frames(self, rollout: ScriptedRollout, steps: Steps) -> list[np.ndarray]:
        return []
