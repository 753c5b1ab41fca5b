"""The interaction loop of one iteration: collect, store, learn, in this order, as a stream of events.

Logging, evaluation, checkpoints and progress are the business of whoever listens. The loop knows no algorithm.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from chorus.agents.agent import Agent, AgentState
from chorus.replay.ring import Ring
from chorus.replay.samplers import Sample
from chorus.training.acting import ActingRule, LinearEpsilon
from chorus.training.settings import ReplaySettings, Schedule
from chorus.training.stepper import Keys, Stepper


class Collected(NamedTuple):
    """One step of every slot was stored; `step` counts agent steps after it. `ended` means a whole episode."""

    step: int
    member: Int[np.ndarray, " E"]
    reward: Float[np.ndarray, " E"]
    ended: Bool[np.ndarray, " E"]


class Learned(NamedTuple):
    """One gradient step was made from this sample; `updates` counts them over the whole run."""

    updates: int
    state: AgentState
    sample: Sample


@dataclass(frozen=True)
class Loop:
    """Everything an iteration needs that does not change between iterations.

    With `whole_episodes` an iteration ends with the first episode that ends after its steps; that needs one slot and
    steps one by one.
    """

    agent: Agent
    members: int
    acting: ActingRule
    epsilon: LinearEpsilon
    stepper: Stepper
    schedule: Schedule
    replay: ReplaySettings
    whole_episodes: bool = False

    def updates_due(self, step: int) -> int:
        """How many gradient steps belong to the first `step` agent steps."""
        return max(0, step - self.schedule.learning_starts) // self.schedule.update_period_steps

    def run(
        self,
        state: AgentState,
        ring: Ring,
        iteration: int,
        keys: Keys,
        rng: np.random.Generator,
        first_step: int | None = None,
    ) -> Iterator[Collected | Learned]:
        """One iteration from `first_step` on; what its end cuts short is stored as truncated."""
        first_step, last_step = self.schedule.span(iteration, first_step)
        slots, step = self.stepper.slots, first_step
        updates = self.updates_due(first_step)
        shares = self.acting.shares(self.members)
        rollout = self.stepper.start(keys)
        ring.begin(np.asarray(rollout.observation), np.arange(slots))
        done = False
        try:
            while not done:
                epsilon = self.epsilon(step + slots * np.arange(self._chunk(step, last_step)))
                rollout, steps = self.stepper.advance(state.params, shares, rollout, epsilon)
                for t in range(len(epsilon)):
                    step += slots
                    ended = steps.terminated[t] | steps.truncated[t]
                    done = step >= last_step and (not self.whole_episodes or bool(ended.all()))
                    terminal = steps.terminated[t] | steps.life_ended[t]
                    ring.add(
                        steps.action[t],
                        steps.reward[t],
                        terminal,
                        (steps.truncated[t] | done) & ~terminal,
                        steps.member[t],
                        steps.next_observation[t],
                        self.replay.sampler.draw_mask(rng, slots, self.members),
                    )
                    if ended.any() and not done:
                        ring.begin(steps.reset_observation[t], np.flatnonzero(ended))
                    yield Collected(step, steps.member[t], steps.reward[t], ended)
                while updates < self.updates_due(step):
                    size, n_step = self.replay.batch_size, self.replay.n_step
                    sample = self.replay.sampler.sample(ring, rng, size, n_step, self.members)
                    state, _ = self.agent.update(state, sample.batch)
                    updates += 1
                    yield Learned(updates, state, sample)
        finally:
            rollout.close()

    def _chunk(self, step: int, last_step: int) -> int:
        """How many vector steps to ask for: as many as pass between two gradient steps.

        Only two lengths occur, this one and 1, because each is compiled once: more at a time before learning starts
        would spare less than another compilation takes.
        """
        slots, period = self.stepper.slots, self.schedule.update_period_steps
        next_update = self.schedule.learning_starts + (self.updates_due(step) + 1) * period
        free = min(-(-(next_update - step) // slots), (last_step - step) // slots)
        usual = min(-(-period // slots), self.stepper.chunk)
        return usual if usual <= free else 1
