"""Compiled training does what the generator loop does, and how it is cut into programs changes no bit."""

from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from builders import assert_trees_close
from chorus.components import register
from chorus.config.presets import PRESETS
from chorus.config.resolution import Request, resolve
from chorus.errors import ChorusError
from chorus.replay.drawing import CompiledSampler, DevicePlaces, Draw
from chorus.replay.ring import Ring
from chorus.replay.samplers import Places, Sampler, SelfOversampled, Shared, has_compiled_form, read_sample
from chorus.runs.assembly import Assembly
from chorus.runs.lifecycle import create_run, train_run
from chorus.runs.progress import Silent
from chorus.runs.resources import ring_layout
from chorus.runs.training import training_keys
from chorus.training.compiled import CompiledLoop
from chorus.training.loop import Collected, Learned, Loop
from running import status

TINY = {
    "members": 3, "num_envs": 2, "total_steps": 120, "iteration_steps": 60, "learning_starts": 12, "buffer_size": 40,
    "batch_size": 4, "eval_episodes": 2, "n_step": 2, "target_period": 7,
}  # fmt: skip


def configured(preset="bootstrapped-dqn", sampler=None, env="Probe/Discount-v0", **options):
    config = resolve(Request(preset=preset, env=env, scale="smoke", options=TINY | options)).config
    return replace(config, replay=replace(config.replay, sampler=sampler)) if sampler else config


def play(loop, config, spec, iterations=(1, 2), ring=None):
    """Two iterations: all events, the state after them, and the ring."""
    ring = ring or Ring(ring_layout(config, spec))
    state, events = loop.agent.init(jax.random.key(0)), []
    for iteration in iterations:
        for event in loop.run(state, ring, iteration, training_keys(0, iteration), np.random.default_rng(iteration)):
            state = event.state if isinstance(event, Learned) else state
            events.append(event._replace(read_state=None) if isinstance(event, Learned) else event)
    return events, jax.tree.map(np.asarray, state), ring


def written(ring):
    """The rows that were ever written, by column."""
    assert ring.cursor.end.max() <= ring.layout.rows
    return {
        name: [array[lane, : ring.cursor.end[lane]].copy() for lane in range(ring.layout.lanes)]
        for name, array in ring.columns.arrays.items()
    }


def assert_same(ours, others):
    jax.tree.map(np.testing.assert_array_equal, ours, others)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["bootstrapped-dqn", "self-oversampled", "data-bootstrapped"])
def test_the_number_of_steps_per_program_changes_no_bit(preset):
    config = configured(preset)
    assembly = Assembly.of(config)
    loop = assembly.loop()
    assert isinstance(loop, CompiledLoop)
    runs = [play(replace(loop, steps_per_program=steps), config, assembly.spec) for steps in (1, 7, 64)]
    for events, state, ring in runs[1:]:
        assert_same(state, runs[0][1])
        assert_same(written(ring), written(runs[0][2]))
        assert_same(list(ring.cursor), list(runs[0][2].cursor))
        assert [type(event) for event in events] == [type(event) for event in runs[0][0]]
        assert_same(events, runs[0][0])


@register
@dataclass(frozen=True, kw_only=True)
class Fixed(Sampler):
    """Draws without chance: complete windows that the number of batches so far chooses, masked by position.

    Both forms are written separately, the host's by listing windows, the device's by sorting a grid.
    """

    wants_errors: ClassVar[bool] = True
    masked: ClassVar[bool] = True

    def sample(self, ring, rng, batch_size, steps, members):
        rows = [np.arange(*span) for span in zip(ring.cursor.oldest, ring.cursor.end, strict=True)]
        lane = np.concatenate([np.full(len(own), number) for number, own in enumerate(rows)])
        position = np.concatenate(rows)
        valid, length = ring.ends_within(lane, position, steps)
        batches = ring.sampler_memory.setdefault("batches", 0)
        taken = np.flatnonzero(valid)[(5 * np.arange(batch_size) + 3 * batches) % valid.sum()]
        places = Places(lane[taken], position[taken], length[taken])
        weight = ring.masks(places.lane, places.position).astype(np.float32)
        return read_sample(ring, places, steps, members, weight=weight)

    def draw_mask(self, rng, lanes, members):
        return (np.arange(lanes)[:, None] + np.arange(members)) % 2 == 0

    def feedback(self, ring, places, errors):
        assert errors.shape == (len(places.lane), 3)
        ring.sampler_memory["batches"] += 1

    def compiled(self, ring, sizes):
        def draw(contents, batches, key):
            shape = (ring.layout.lanes, ring.layout.window_rows)
            lane, offset = (jnp.asarray(grid.reshape(-1)) for grid in np.indices(shape, np.int32))
            position = contents.oldest[lane] + offset
            valid, length = ring.ends_within(contents, lane, position, sizes.steps)
            valid &= position < contents.end[lane]
            order = jnp.argsort(~valid, stable=True)
            taken = order[(5 * np.arange(sizes.batch) + 3 * batches) % valid.sum()]
            places = DevicePlaces(*(column[taken][:, None] for column in (lane, position, length)))
            weight = ring.masks(contents, places.lane[:, 0], places.position[:, 0]).astype(jnp.float32)
            return Draw(places, weight, jnp.zeros(sizes.members, bool), valid.any())

        def draw_mask(key):
            return (np.arange(ring.layout.lanes)[:, None] + jnp.arange(sizes.members)) % 2 == 0

        return CompiledSampler(
            draw, draw_mask, lambda ring: jnp.zeros((), jnp.int32), lambda batches, places, errors: batches + 1
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "acting"),
    [
        ({}, "bootstrapped-dqn"),
        ({"num_envs": 1, "update_period": 3, "learning_starts": 5}, "bootstrapped-dqn"),
        ({"num_envs": 3, "update_period": 1, "n_step": 3}, "per-step"),
        ({"num_envs": 4, "update_period": 8, "n_step": 1}, "cerl"),
    ],
)
def test_given_the_same_draws_it_stores_and_learns_what_the_host_loop_does(options, acting):
    config = configured(acting, Fixed(), **options)
    assembly = Assembly.of(config)
    host, compiled = assembly.host_loop(), assembly.loop()
    assert type(host) is Loop and type(compiled) is CompiledLoop
    (expected, state, ring), (events, own_state, own_ring) = (
        play(loop, config, assembly.spec) for loop in (host, compiled)
    )
    assert [type(event) for event in events] == [type(event) for event in expected]
    assert sum(isinstance(event, Learned) for event in events) == host.updates_due(120) > 5
    assert_same(
        [event for event in events if isinstance(event, Collected)], [e for e in expected if isinstance(e, Collected)]
    )
    for event, other in zip(events, expected, strict=True):
        if isinstance(event, Learned):
            assert event.updates == other.updates
            assert_same(event.origins.owner, other.origins.owner)
            assert_same(event.origins.alone, other.origins.alone)
            # Episodes may be numbered differently: what counts is which transitions share one.
            same, other_same = (
                origins.episode[:, None] == origins.episode[None] for origins in (event.origins, other.origins)
            )
            assert_same(same, other_same)
    assert_same(list(own_ring.cursor), list(ring.cursor))
    ours, theirs = written(own_ring), written(ring)
    transition = [flags > 0 for flags in theirs["flags"]]
    for name in theirs:
        # Rows of final observations hold nothing else.
        for own, other, kept in zip(ours[name], theirs[name], transition, strict=True):
            everything = name in ("observation", "flags")
            assert_same(own if everything else own[kept], other if everything else other[kept])
    assert_trees_close(own_state, state, rtol=1e-4, atol=1e-5)


def discrete_presets():
    found = []
    for name in PRESETS:
        try:
            resolve(Request(preset=name, env="MinAtar/Breakout-v1", scale="smoke"))
        except ChorusError:
            continue
        found.append(name)
    return found


@pytest.mark.parametrize("preset", discrete_presets())
def test_every_preset_of_discrete_actions_is_compiled(preset):
    assembly = Assembly.of(resolve(Request(preset=preset, env="MinAtar/Breakout-v1", scale="smoke")).config)
    loop = assembly.loop()
    assert isinstance(loop, CompiledLoop) and assembly.obstacle(loop) is None
    assert loop.program(ring_layout(assembly.config, assembly.spec)).sampler is not None


def test_there_are_presets_of_discrete_actions():
    assert {"double-dqn", "cerl", "self-oversampled", "data-bootstrapped", "tandem"} <= set(discrete_presets())


@register
@dataclass(frozen=True, kw_only=True)
class HostOnly(Sampler):
    """A sampler as a user writes it, without a compiled form."""

    def sample(self, ring, rng, batch_size, steps, members):
        return Shared().sample(ring, rng, batch_size, steps, members)


@dataclass(frozen=True, kw_only=True)
class Changed(Shared):
    """Changes what the host does; the compiled form it inherits would not do it."""

    def sample(self, ring, rng, batch_size, steps, members):
        return super().sample(ring, rng, batch_size, 1, members)


@dataclass(frozen=True, kw_only=True)
class OnlyRenamed(SelfOversampled):
    own_probability: float = 0.25


def test_a_compiled_form_is_used_only_if_nothing_after_it_was_changed():
    assert has_compiled_form(Shared()) and has_compiled_form(OnlyRenamed())
    assert not has_compiled_form(HostOnly()) and not has_compiled_form(Changed())


class Said(Silent):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)


@pytest.mark.slow
@pytest.mark.parametrize(("sampler", "said"), [(HostOnly(), 1), (Shared(), 0)])
def test_a_run_says_that_the_host_drives_it(tmp_path, sampler, said):
    found = resolve(Request(preset="bootstrapped-dqn", env="Probe/Constant-v0", scale="smoke", options=TINY))
    found = replace(found, config=configured(sampler=sampler, env="Probe/Constant-v0"))
    assembly, path = create_run(found, tmp_path)
    progress = Said()
    train_run(assembly, path, progress)
    assert status(path)["state"] == "finished"
    told = [line for line in progress.lines if "driven from the host" in line]
    assert len(told) == said
    assert all("host_only" in line and "compiled" in line for line in told)


@pytest.mark.slow
def test_windows_that_nobody_can_complete_are_an_error():
    config = configured(sampler=Endless())
    assembly = Assembly.of(config)
    with pytest.raises(ChorusError, match="no complete 2-step window"):
        play(assembly.loop(), config, assembly.spec)


@register
@dataclass(frozen=True, kw_only=True)
class Endless(Shared):
    """Never finds a window."""

    def compiled(self, ring, sizes):
        found = super().compiled(ring, sizes)
        return found._replace(draw=lambda *given: found.draw(*given)._replace(found=jnp.zeros((), bool)))


@cache
def resumed_and_whole():
    """The second iteration from the ring of the first, once in the same ring and once in a copy of its rows."""
    config = configured("self-oversampled")
    assembly = Assembly.of(config)
    loop = assembly.loop()
    whole = play(loop, config, assembly.spec)
    _, state, ring = play(loop, config, assembly.spec, iterations=(1,))
    copy = Ring(ring.layout)
    for name, array in ring.columns.arrays.items():
        copy.columns.arrays[name][:] = array
    copy.cursor = ring.cursor
    for event in loop.run(state, copy, 2, training_keys(0, 2), np.random.default_rng(2)):
        state = event.state if isinstance(event, Learned) else state
    return whole, state, copy


@pytest.mark.slow
def test_an_iteration_needs_nothing_of_the_one_before_but_state_and_rows():
    (_, whole_state, whole_ring), state, ring = resumed_and_whole()
    assert_same(jax.tree.map(np.asarray, state), whole_state)
    assert_same(written(ring), written(whole_ring))


@pytest.mark.slow
def test_an_iteration_without_gradient_steps_leaves_the_callers_state_alone():
    config = configured(learning_starts=80)
    assembly = Assembly.of(config)
    loop = assembly.loop()
    state, ring = loop.agent.init(jax.random.key(0)), Ring(ring_layout(config, assembly.spec))
    before = jax.tree.map(np.array, state)
    events = list(loop.run(state, ring, 1, training_keys(0, 1), np.random.default_rng(1)))
    assert len(events) == 30 and all(isinstance(event, Collected) for event in events)
    assert_same(jax.tree.map(np.asarray, state), before)
