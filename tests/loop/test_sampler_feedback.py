"""Samplers that learn from errors: when they are told, with what, and that resumed runs stay exact."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from scripted import Script, ScriptedStepper, counting_agent, counting_state

from builders import tiny_ring
from chorus.components import register
from chorus.config.resolution import Request, resolve
from chorus.replay.samplers import Places, Sampler, Shared, draw_uniform, read_sample
from chorus.runs.lifecycle import create_run, train_run
from chorus.runs.progress import Silent
from chorus.runs.training import training_keys
from chorus.training.acting import LinearEpsilon, Uniform
from chorus.training.loop import Learned, Loop
from chorus.training.settings import ReplaySettings, Schedule
from running import logs

TINY = {
    "members": 3, "num_envs": 2, "total_steps": 400, "iteration_steps": 100, "learning_starts": 40, "buffer_size": 60,
    "batch_size": 8, "eval_episodes": 2,
}  # fmt: skip


@register
@dataclass(frozen=True, kw_only=True)
class LargestErrors(Sampler):
    """Four candidates per transition, of which the one with the largest remembered error is kept."""

    wants_errors: ClassVar[bool] = True

    def sample(self, ring, rng, batch_size, steps, members):
        drawn = draw_uniform(ring, rng, 4 * batch_size, steps)
        known = ring.sampler_memory.setdefault("error", np.full((ring.layout.lanes, ring.layout.rows), np.inf))
        error = known[drawn.lane, drawn.position % ring.layout.rows].reshape(4, batch_size)
        kept = np.argmax(error, axis=0) * batch_size + np.arange(batch_size)
        return read_sample(ring, Places(*(column[kept] for column in drawn)), steps, members)

    def feedback(self, ring, places, errors):
        rows = places.position[:, 0] % ring.layout.rows
        ring.sampler_memory["error"][places.lane[:, 0], rows] = errors.max(axis=1)


@dataclass(frozen=True, kw_only=True)
class Listening(Shared):
    """Writes down what it is told, in the order of the events."""

    wants_errors: ClassVar[bool] = True

    def feedback(self, ring, places, errors):
        ring.sampler_memory.setdefault("told", []).append((places, errors))


def reporting_agent(errors):
    """A counting agent whose errors are a function of how many updates it has made."""
    agent = counting_agent()

    def update(state, batch):
        return agent.update(state, batch)[0], errors(state.params["updates"])

    return replace(agent, update=update)


def loop_with(sampler, errors):
    return Loop(
        agent=reporting_agent(errors), members=3, acting=Uniform(), epsilon=LinearEpsilon(),
        stepper=ScriptedStepper(Script(slots=2, steps=20)),
        schedule=Schedule(total_steps=80, iteration_steps=40, learning_starts=8),
        replay=ReplaySettings(capacity=100, batch_size=4, sampler=sampler),
    )  # fmt: skip


def play(loop, ring, iteration):
    return list(loop.run(counting_state(), ring, iteration, training_keys(0, 1), np.random.default_rng(0)))


def test_a_sampler_is_told_the_errors_of_each_batch_at_its_places():
    ring = tiny_ring(lanes=2, capacity=400, iteration_steps=40)
    events = play(loop_with(Listening(), lambda updates: np.full((4, 3), float(updates))), ring, 1)
    origins = [event.origins for event in events if isinstance(event, Learned)]
    told = ring.sampler_memory["told"]
    assert len(told) == len(origins) == 8
    for number, ((places, errors), seen) in enumerate(zip(told, origins, strict=True)):
        owner = ring.owners(places.lane.reshape(-1), places.position.reshape(-1))
        np.testing.assert_array_equal(owner, seen.owner.reshape(-1))
        np.testing.assert_array_equal(errors, np.full((4, 3), number))


def test_what_a_sampler_remembers_lasts_one_iteration():
    ring, loop = tiny_ring(lanes=2, capacity=400, iteration_steps=40), loop_with(Listening(), lambda _: np.ones((4, 3)))
    play(loop, ring, 1)
    play(loop, ring, 2)
    assert len(ring.sampler_memory["told"]) == 10, "the second iteration has 40 steps and 10 updates"


def test_nobody_waits_for_errors_that_no_sampler_wants():
    class OnTheDevice:
        def __array__(self, *_, **__):
            raise AssertionError("the errors were fetched")

    events = play(loop_with(Shared(), lambda _: OnTheDevice()), tiny_ring(lanes=2, iteration_steps=40), 1)
    assert sum(isinstance(event, Learned) for event in events) == 8


class StopsAt(Silent):
    def __init__(self, step: int) -> None:
        self._step = step

    def advance(self, step: int) -> None:
        if step >= self._step:
            raise KeyboardInterrupt


@pytest.mark.slow
def test_a_stopped_run_whose_sampler_uses_errors_resumes_to_the_same_bytes(tmp_path):
    def resolved(sampler):
        found = resolve(Request(preset="bootstrapped-dqn", env="Probe/Observation-v0", scale="smoke", options=TINY))
        return replace(found, config=replace(found.config, replay=replace(found.config.replay, sampler=sampler)))

    runs = {}
    for name, sampler in {"whole": LargestErrors(), "stopped": LargestErrors(), "uniform": Shared()}.items():
        assembly, path = create_run(resolved(sampler), tmp_path / name)
        if name == "stopped":
            for step in (60, 250):  # before the first checkpoint, and in the middle of the third iteration
                with pytest.raises(KeyboardInterrupt):
                    train_run(assembly, path, StopsAt(step))
        train_run(assembly, path, Silent())
        runs[name] = logs(path)
    assert runs["stopped"] == runs["whole"] != runs["uniform"]
