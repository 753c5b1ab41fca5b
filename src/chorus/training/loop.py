"""The interaction loop of one iteration: collect, store, learn, in this order, as a stream of events.

Logging, evaluation, checkpoints and progress belong to the caller. The loop knows no algorithm.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped

from chorus.agents.agent import Agent, AgentState
from chorus.replay.ring import ENSEMBLE, Ring
from chorus.replay.samplers import Sample
from chorus.spaces import AnyArray
from chorus.training.acting import ActingRule, LinearEpsilon
from chorus.training.settings import ReplaySettings, Schedule
from chorus.training.stepper import Keys, Stepper, Steps


class Visited(NamedTuple):
    """What every slot observed, and the action that it took then."""

    observation: Shaped[Any, "E ..."]
    action: Shaped[Any, "E ..."]


class Collected(NamedTuple):
    """One step of every slot was stored; `step` counts agent steps, this one included.

    `owner` is the member that acted, or `ENSEMBLE`. `ended` marks episodes that ended by themselves, not those that
    the iteration's end cut short. `visited` is None unless the loop `shows_visits`.
    """

    step: int
    owner: Integer[np.ndarray, " E"]
    reward: Float[np.ndarray, " E"]
    ended: Bool[np.ndarray, " E"]
    visited: Visited | None = None


class Origins(NamedTuple):
    """Where the transitions of a batch come from: their owners, a number for the episode of each, and whether one owner
    alone played the part of it in the window; and which members got the common batch because they own nothing yet."""

    owner: Integer[AnyArray, "B M"]
    episode: Integer[AnyArray, "B M"]
    alone: Bool[AnyArray, "B M"]
    owns_nothing: Bool[AnyArray, " N"]


class Learned(NamedTuple):
    """One gradient step was made; `updates` counts gradient steps over the whole run.

    The state is the newest one when the event is handed over. It can be read until the next gradient step, which
    reuses its memory. A single agent owns all of its data, and `origins` is None.
    """

    updates: int
    read_state: Callable[[], AgentState]
    origins: Origins | None

    @property
    def state(self) -> AgentState:
        return self.read_state()


def origins_of(sample: Sample, ring: Ring, members: int) -> Origins | None:
    """Looked up when the sample was drawn: what is stored next may change whether an episode has one owner."""
    if members == 1:
        return None
    places = sample.places
    return Origins(sample.owner, *ring.episodes.look_up(places.lane, places.position), sample.owns_nothing)


@dataclass(frozen=True)
class Loop:
    """The parts of an iteration that do not change between iterations.

    With `whole_episodes` an iteration goes on until the current episode ends; this needs a single slot and chunks of
    one step. With `shows_visits` events tell what was observed, which a compiled loop has to copy from the device.
    """

    agent: Agent
    members: int
    acting: ActingRule
    epsilon: LinearEpsilon
    stepper: Stepper
    schedule: Schedule
    replay: ReplaySettings
    whole_episodes: bool = False
    shows_visits: bool = False

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
        """One iteration from `first_step` on; episodes that its end cuts short are stored as truncated."""
        first_step, last_step = self.schedule.span(iteration, first_step)
        slots, step = self.stepper.slots, first_step
        updates = self.updates_due(first_step)
        shares = self.acting.shares(self.members)
        ring.sampler_memory.clear()
        learning = self.stepper.learning(self.agent, state)
        rollout = self.stepper.start(keys)
        observation = np.asarray(rollout.observation)
        ring.begin(observation, np.arange(slots))
        done = False
        try:
            epsilon = self._epsilons(step, last_step)
            while not done:
                rollout, steps = learning.advance(shares, rollout, epsilon)
                for t in range(len(epsilon)):
                    step += slots
                    ended = steps.terminated[t] | steps.truncated[t]
                    owner = np.full(slots, ENSEMBLE) if self.acting.uses_members else steps.member[t]
                    done = step >= last_step and (not self.whole_episodes or bool(ended.all()))
                    self._store(ring, steps, t, owner, done, rng)
                    if ended.any() and not done:
                        ring.begin(steps.reset_observation[t], np.flatnonzero(ended))
                    visited = Visited(observation, steps.action[t]) if self.shows_visits else None
                    yield Collected(step, owner, steps.reward[t], ended, visited)
                    observation = steps.reset_observation[t]
                epsilon = self._epsilons(step, last_step)
                while updates < self.updates_due(step):
                    sample = self._sample(ring, rng)
                    errors = learning.update(sample.batch, shares, rollout, epsilon)
                    if self.replay.sampler.wants_errors:
                        self.replay.sampler.feedback(ring, sample.places, np.asarray(errors))
                    updates += 1
                    yield Learned(updates, learning.state(), origins_of(sample, ring, self.members))
        finally:
            rollout.close()

    def _store(
        self,
        ring: Ring,
        steps: Steps,
        t: int,
        owner: Integer[np.ndarray, " E"],
        cut: bool,
        rng: np.random.Generator,
    ) -> None:
        """Step `t` of every slot; `cut` marks the last step of an iteration."""
        terminal = steps.terminated[t] | steps.life_ended[t]
        ring.add(
            steps.action[t],
            steps.reward[t],
            terminal,
            (steps.truncated[t] | cut) & ~terminal,
            owner,
            steps.next_observation[t],
            self.replay.sampler.draw_mask(rng, self.stepper.slots, self.members),
        )

    def _sample(self, ring: Ring, rng: np.random.Generator) -> Sample:
        replay = self.replay
        return replay.sampler.sample(ring, rng, replay.batch_size, replay.n_step, self.members)

    def _epsilons(self, step: int, last_step: int) -> Float[np.ndarray, " T"]:
        """One for each vector step of the next chunk."""
        return self.epsilon(step + self.stepper.slots * np.arange(self._chunk(step, last_step)))

    def _chunk(self, step: int, last_step: int) -> int:
        """The number of vector steps to ask for: those between two gradient steps.

        Only two lengths occur, this one and 1, because each is compiled once; longer chunks before learning starts
        would save less time than compiling them takes.
        """
        slots, period = self.stepper.slots, self.schedule.update_period_steps
        next_update = self.schedule.learning_starts + (self.updates_due(step) + 1) * period
        free = min(-(-(next_update - step) // slots), (last_step - step) // slots)
        usual = min(-(-period // slots), self.stepper.chunk)
        return usual if usual <= free else 1
