"""Small agents in Python environments: an update and the next decision are one program, and mean the same as two."""

from dataclasses import replace
from functools import cached_property

import jax
import numpy as np
import pytest

from builders import assert_trees_close
from chorus.config.resolution import Request, resolve
from chorus.randomness import init_key
from chorus.replay.ring import Ring
from chorus.runs.assembly import Assembly
from chorus.runs.resources import ring_layout
from chorus.runs.training import training_keys
from chorus.training import stepper
from chorus.training.learning import FusedLearning, FusedPrograms, SeparateLearning
from chorus.training.loop import Collected, Learned

SMALL = {"total_steps": 48, "iteration_steps": 48, "learning_starts": 16, "buffer_size": 100, "batch_size": 8,
         "max_episode_steps": 12}  # fmt: skip
TASKS = {
    "sac": ("sac", "Pendulum-v1", {"num_envs": 1, "update_period": 1}),
    "values": (
        "bootstrapped-dqn",
        "CartPole-v1",
        {"members": 2, "num_envs": 4, "update_period": 2, "target_period": 3},
    ),
}


def assembly_of(task, **more):
    preset, env, options = TASKS[task]
    config = resolve(Request(preset=preset, env=env, scale="smoke", options={**SMALL, **options, **more})).config
    return Assembly.of(config)


def play(assembly):
    """The events of one iteration, the state after it, and the ring."""
    loop, ring = assembly.loop(), Ring(ring_layout(assembly.config, assembly.spec))
    events, state = [], assembly.agent.init(init_key(0))
    for event in loop.run(state, ring, 1, training_keys(0, 1), np.random.default_rng(0)):
        events.append(event)
        if isinstance(event, Learned):
            state = event.state
    return events, state, ring


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_one_program_means_the_same_as_two(task, monkeypatch):
    assembly = assembly_of(task)
    fused, fused_state, fused_ring = play(assembly)
    monkeypatch.setattr(stepper, "is_small", lambda packing: False)
    separate, separate_state, separate_ring = play(assembly)
    assert [type(event) for event in fused] == [type(event) for event in separate]
    for one, other in zip(fused, separate, strict=True):
        if isinstance(one, Collected):
            np.testing.assert_array_equal(one.owner, other.owner)
    # Only rounding differs, which Pendulum and CartPole carry from step to step.
    for name in ("observation", "action", "reward"):
        arrays = (ring.columns.arrays[name] for ring in (fused_ring, separate_ring))
        np.testing.assert_allclose(*arrays, rtol=2e-3, atol=2e-3)
    assert int(fused_state.updates) == int(separate_state.updates) == sum(isinstance(event, Learned) for event in fused)
    assert type(fused_state.updates) is np.int32
    assert jax.tree.structure(fused_state) == jax.tree.structure(separate_state)
    for name in ("params", "target_params", "totals"):
        assert_trees_close(getattr(fused_state, name), getattr(separate_state, name), rtol=5e-2, atol=5e-3)


@pytest.mark.slow
def test_once_learning_has_started_every_step_is_one_dispatch(monkeypatch):
    dispatched = []

    def counted(name):
        compiled = getattr(FusedPrograms, name).func

        def program(self):
            run = compiled(self)
            return lambda *given: dispatched.append(name) or run(*given)

        return program

    for name in ("learn_and_decide", "decide", "move_target"):
        once = cached_property(counted(name))
        once.__set_name__(FusedPrograms, name)
        monkeypatch.setattr(FusedPrograms, name, once)
    play(assembly_of("sac"))
    # 16 steps and the 17th before the first update; then 32 updates, each with the decision for the next step.
    assert dispatched == ["decide"] * 17 + ["learn_and_decide"] * 32


@pytest.mark.slow
def test_the_decision_after_an_update_is_made_by_the_new_parameters():
    """Parameters that an update changes by 1, and an action that is their value."""
    assembly = assembly_of("values")
    agent = assembly.agent

    def act(params, observation, member, key, epsilon):
        return (params["heads"]["layer_2"]["bias"].reshape(-1)[0] > 0.5).astype(np.int32) * np.ones(4, np.int32)

    def learn(state, batch):
        params = jax.tree.map(lambda leaf: leaf * 0 + 1.0, state.params)
        return state._replace(params=params, updates=state.updates + 1), batch.weight

    agent = replace(agent, act=act, pure=agent.pure._replace(learn=learn))
    _, _, ring = play(replace(assembly, agent=agent))
    actions = ring.columns.arrays["action"]
    flags = ring.columns.arrays["flags"]
    steps = [actions[lane][flags[lane] > 0].tolist() for lane in range(4)]
    # Learning starts at step 16: the fifth vector step is followed by the first update.
    assert all(lane[:5] == [0] * 5 and set(lane[5:]) == {1} for lane in steps)


@pytest.mark.slow
def test_large_agents_and_updates_of_several_programs_are_dispatched_separately():
    small = assembly_of("sac")
    state = small.agent.init(init_key(0))
    assert isinstance(small.loop().stepper.learning(small.agent, state), FusedLearning)
    in_groups = replace(small.agent, pure=None)
    assert isinstance(small.loop().stepper.learning(in_groups, state), SeparateLearning)
    large = state._replace(noise=np.zeros(300_000, np.float32))
    assert isinstance(small.loop().stepper.learning(small.agent, large), SeparateLearning)
