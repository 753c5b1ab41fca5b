"""The agent while an iteration runs: how its updates and its decisions are dispatched.

Small agents spend more time on being dispatched than on computing. `FusedLearning` keeps their state packed and runs an
update and the decision that follows it as one program; `SeparateLearning` dispatches one after the other. The order of
events is the same: an update, then the decision by the new parameters.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import jax
import numpy as np
from jaxtyping import Array, Float

from chorus.agents.agent import Agent, AgentState
from chorus.replay.batch import Batch
from chorus.training.packing import Packing, Vectors

# Copying a larger state in and out of its vectors would cost more than dispatching it array by array.
_LARGEST_PACKED_BYTES = 1e6
# Products this small are computed by the thread that asks for them: handing them to another one takes longer.
_IN_THIS_THREAD = {"xla_cpu_multi_thread_eigen": False}


@runtime_checkable
class Learning(Protocol):
    """An agent that learns while a stepper's slots advance; rollouts and steps are those of the stepper."""

    def advance(
        self, shares: Float[np.ndarray, " N"], rollout: Any, epsilon: Float[np.ndarray, " T"]
    ) -> tuple[Any, Any]:
        """T further steps of the environments, one per epsilon."""
        ...

    def update(
        self, batch: Batch, shares: Float[np.ndarray, " N"], rollout: Any, epsilon: Float[np.ndarray, " T"]
    ) -> Any:
        """One gradient step; returns its TD errors [B, N], on the device.

        The other arguments are those that `advance` is called with next.
        """
        ...

    def state(self) -> Callable[[], AgentState]:
        """Reads the present state; a function, because unpacking a state costs time and few are read."""
        ...


@dataclass
class SeparateLearning:
    """One dispatch per update and one per decision; `stepper` is any `Stepper`."""

    stepper: Any
    agent: Agent
    now: AgentState

    def advance(
        self, shares: Float[np.ndarray, " N"], rollout: Any, epsilon: Float[np.ndarray, " T"]
    ) -> tuple[Any, Any]:
        return self.stepper.advance(self.now.params, shares, rollout, epsilon)

    def update(
        self, batch: Batch, shares: Float[np.ndarray, " N"], rollout: Any, epsilon: Float[np.ndarray, " T"]
    ) -> Any:
        self.now, errors = self.agent.update(self.now, batch)
        return errors

    def state(self) -> Callable[[], AgentState]:
        now = self.now
        return lambda: now


@dataclass(frozen=True, eq=False)
class FusedPrograms:
    """The programs of one agent in one stepper, compiled once per run."""

    agent: Agent
    choose: Callable[..., Any]
    packing: Packing

    @cached_property
    def learn_and_decide(self) -> Any:
        """(vectors, batch, *situation) -> (vectors, TD errors, decision); the vectors are donated."""
        assert self.agent.pure is not None
        learn = self.agent.pure.learn

        def program(vectors: Vectors, batch: Batch, *situation: Any) -> tuple[Vectors, Array, Any]:
            state, errors = learn(self.packing.unpack(vectors), batch)
            return self.packing.pack(state), errors, self.choose(state.params, *situation)

        return jax.jit(program, donate_argnums=0, compiler_options=_IN_THIS_THREAD)

    @cached_property
    def decide(self) -> Any:
        def program(vectors: Vectors, *situation: Any) -> Any:
            return self.choose(self.packing.unpack(vectors).params, *situation)

        return jax.jit(program, compiler_options=_IN_THIS_THREAD)

    @cached_property
    def move_target(self) -> Any:
        assert self.agent.pure is not None
        move = self.agent.pure.move_target
        return jax.jit(lambda vectors: self.packing.pack(move(self.packing.unpack(vectors))), donate_argnums=0)

    @cached_property
    def pack(self) -> Any:
        return jax.jit(self.packing.pack)

    @cached_property
    def unpack(self) -> Any:
        return jax.jit(self.packing.unpack)


@dataclass
class FusedLearning:
    """One dispatch per update and the decision after it; `stepper` is a `HostStepper`."""

    stepper: Any
    programs: FusedPrograms
    vectors: Vectors
    updates: int

    @staticmethod
    def of(stepper: Any, programs: FusedPrograms, state: AgentState) -> "FusedLearning":
        return FusedLearning(stepper, programs, programs.pack(state), int(state.updates))

    def advance(
        self, shares: Float[np.ndarray, " N"], rollout: Any, epsilon: Float[np.ndarray, " T"]
    ) -> tuple[Any, Any]:
        return self.stepper.play(
            lambda *situation: self.programs.decide(self.vectors, *situation), shares, rollout, epsilon
        )

    def update(
        self, batch: Batch, shares: Float[np.ndarray, " N"], rollout: Any, epsilon: Float[np.ndarray, " T"]
    ) -> Any:
        situation = self.stepper.situation(shares, rollout, epsilon[0])
        self.vectors, errors, rollout.decision = self.programs.learn_and_decide(self.vectors, batch, *situation)
        self.updates += 1
        assert self.programs.agent.pure is not None
        period = self.programs.agent.pure.target_period_updates
        if period > 1 and self.updates % period == 0:
            self.vectors = self.programs.move_target(self.vectors)
        return errors

    def state(self) -> Callable[[], AgentState]:
        vectors, updates = self.vectors, self.updates
        return lambda: self.programs.unpack(vectors)._replace(updates=np.int32(updates))


def is_small(packing: Packing) -> bool:
    return packing.size_in_bytes <= _LARGEST_PACKED_BYTES
