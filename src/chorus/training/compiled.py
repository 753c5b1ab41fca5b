"""The interaction loop as compiled programs, for environments of pure functions.

A program collects, stores, samples and learns over many vector steps: the replay is on the device, the state is
donated, and the host does nothing in between. Order, schedules and meaning are those of `chorus.training.loop`, whose
events are handed out after each program. How many steps a program makes changes no bit.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Integer, PRNGKeyArray

from chorus.agents.agent import AgentState, PureUpdate
from chorus.replay.device import Contents, DeviceRing, Transition, check_sampled
from chorus.replay.drawing import CompiledSampler, Sizes, read_batch
from chorus.replay.layout import RingLayout
from chorus.replay.ring import ENSEMBLE, Ring
from chorus.replay.samplers import has_compiled_form
from chorus.spaces import AnyArray
from chorus.training.loop import Collected, Learned, Loop, Origins, Visited
from chorus.training.stepper import JaxCarry, JaxStepper, Keys

# Enough that starting a program costs nothing beside running it, and few enough that progress is seen.
STEPS_PER_PROGRAM = 64


class Streams(NamedTuple):
    """The keys of an iteration; `replay` seeds batches, `mask` bootstrap masks."""

    rollout: tuple[PRNGKeyArray, PRNGKeyArray, PRNGKeyArray]
    replay: PRNGKeyArray
    mask: PRNGKeyArray


class Span(NamedTuple):
    """What a program is to do: `vector_steps` from agent step `first` of an iteration that ends at `last`."""

    first: np.int32
    vector_steps: np.int32
    last: np.int32
    epsilon: Float[AnyArray, " K"]
    shares: Float[Any, " N"]


class StepColumns(NamedTuple):
    """What listeners are told of each vector step."""

    owner: Integer[AnyArray, "K E"]
    reward: Float[AnyArray, "K E"]
    ended: Bool[AnyArray, "K E"]
    visited: Visited | tuple[()]


class Machine(NamedTuple):
    """All that a program changes. `moved` is false while the target network has an update due."""

    agent: AgentState
    rollout: JaxCarry
    contents: Contents
    memory: Any
    updates: Int[Array, ""]
    moved: Bool[Array, ""]


class Record(NamedTuple):
    """What a program reports: columns of its steps, the origins of its batches, and whether all were found."""

    steps: StepColumns
    origins: Origins | tuple[()]
    found: Bool[Array, ""]


class _State(NamedTuple):
    machine: Machine
    record: Record
    time: Int[Array, ""]


@dataclass(frozen=True, eq=False)
class Program:
    """The traced functions of one loop and one ring."""

    loop: Loop
    ring: DeviceRing
    sampler: CompiledSampler
    update: PureUpdate
    most_steps: int

    @property
    def sizes(self) -> Sizes:
        replay = self.loop.replay
        return Sizes(replay.batch_size, replay.n_step, self.loop.members)

    @cached_property
    def compiled(self) -> Callable[[Machine, Streams, Span], tuple[Machine, Record]]:
        return jax.jit(self.run, donate_argnums=0)

    @cached_property
    def begin(self) -> Callable[[Contents, JaxCarry, AgentState], tuple[Contents, JaxCarry, AgentState]]:
        """Start an episode in every lane. The others are copied, because programs donate what they are given: the parts
        of a rollout share arrays, and the caller keeps its state if the iteration makes no gradient step."""

        def begin(contents: Contents, rollout: JaxCarry, agent: AgentState) -> tuple[Contents, JaxCarry, AgentState]:
            contents = self.ring.begin(contents, rollout.observation)
            return contents, *jax.tree.map(jnp.copy, (rollout, agent))

        return jax.jit(begin, donate_argnums=0)

    def run(self, machine: Machine, streams: Streams, span: Span) -> tuple[Machine, Record]:
        """Collect `span.vector_steps` vector steps and make all gradient steps that they make due."""
        schedule, slots = self.loop.schedule, self.loop.stepper.slots
        first_updates = machine.updates

        def due(state: _State) -> Array:
            step = span.first + state.time * slots
            return jnp.maximum(0, step - schedule.learning_starts) // schedule.update_period_steps

        def pending(state: _State) -> Array:
            return state.machine.updates < due(state)

        def unfinished(state: _State) -> Array:
            return (state.time < span.vector_steps) | pending(state) | ~state.machine.moved

        def turn(state: _State) -> _State:
            # Loops of zero or more rounds instead of conditionals, which would copy what they pass on.
            state = jax.lax.while_loop(
                lambda s: pending(s) & s.machine.moved, partial(self._learn, streams, first_updates), state
            )
            state = jax.lax.while_loop(lambda s: ~s.machine.moved, self._move_target, state)
            return jax.lax.while_loop(
                lambda s: ~pending(s) & (s.time < span.vector_steps), partial(self._collect, streams, span), state
            )

        begun = _State(machine, self._empty_record(), jnp.zeros((), jnp.int32))
        done = jax.lax.while_loop(unfinished, turn, begun)
        return done.machine, done.record

    def _collect(self, streams: Streams, span: Span, state: _State) -> _State:
        """One vector step; it is stored, and so is the start of a new episode where one ended."""
        machine, time = state.machine, state.time
        stepper, acting = self.loop.stepper, self.loop.acting
        assert isinstance(stepper, JaxStepper)
        mask = self.sampler.draw_mask
        mask_key = jax.random.fold_in(streams.mask, machine.rollout.time)
        rollout, steps = stepper.step(
            machine.agent.params, span.shares, machine.rollout, streams.rollout, span.epsilon[time]
        )
        ended = steps.terminated | steps.truncated
        cut = span.first + (time + 1) * stepper.slots >= span.last
        owner = jnp.full(stepper.slots, ENSEMBLE) if acting.uses_members else steps.member
        contents = self.ring.add(
            machine.contents,
            Transition(
                action=steps.action,
                reward=steps.reward,
                terminated=steps.terminated,
                truncated=(steps.truncated | cut) & ~steps.terminated,
                owner=owner,
                next_observation=steps.next_observation,
                mask=None if mask is None else mask(mask_key),
                reset_observation=steps.reset_observation,
                starts=ended & ~cut,
            ),
        )
        visited = Visited(machine.rollout.observation, steps.action) if self.loop.shows_visits else ()
        shown = StepColumns(owner, steps.reward, ended, visited)
        record = state.record._replace(steps=_put(state.record.steps, shown, time))
        return _State(machine._replace(rollout=rollout, contents=contents), record, time + 1)

    def _learn(self, streams: Streams, first_updates: Array, state: _State) -> _State:
        """One gradient step of a batch that its number alone seeds."""
        machine, record, ring = state.machine, state.record, self.ring
        period = self.update.target_period_updates
        draw = self.sampler.draw(machine.contents, machine.memory, jax.random.fold_in(streams.replay, machine.updates))
        batch = read_batch(ring, machine.contents, draw, self.sizes.steps)
        agent, errors = self.update.learn(machine.agent, batch)
        memory = machine.memory
        if self.sampler.feedback is not None:
            memory = self.sampler.feedback(memory, draw.places, errors)
        if record.origins:
            lane, position, _ = draw.places
            episode, alone = ring.look_up(machine.contents, lane, position)
            origins = Origins(ring.owners(machine.contents, lane, position), episode, alone, draw.owns_nothing)
            record = record._replace(origins=_put(record.origins, origins, machine.updates - first_updates))
        machine = machine._replace(
            agent=agent,
            memory=memory,
            updates=machine.updates + 1,
            moved=jnp.asarray(period == 1) | (agent.updates % period != 0),
        )
        return state._replace(machine=machine, record=record._replace(found=record.found & draw.found))

    def _move_target(self, state: _State) -> _State:
        agent = self.update.move_target(state.machine.agent)
        return state._replace(machine=state.machine._replace(agent=agent, moved=jnp.ones((), bool)))

    def _empty_record(self) -> Record:
        slots, (batch, _, members) = self.loop.stepper.slots, self.sizes
        steps, updates = self.most_steps, self._most_updates()
        columns = StepColumns(
            owner=jnp.zeros((steps, slots), jnp.int32),
            reward=jnp.zeros((steps, slots), jnp.float32),
            ended=jnp.zeros((steps, slots), bool),
            visited=self._empty_visits() if self.loop.shows_visits else (),
        )
        origins: Any = ()
        if members > 1:
            shape = (updates, batch, members if self.loop.replay.sampler.each_its_own else 1)
            origins = Origins(
                owner=jnp.zeros(shape, jnp.uint16),
                episode=jnp.zeros(shape, jnp.int32),
                alone=jnp.zeros(shape, bool),
                owns_nothing=jnp.zeros((updates, members), bool),
            )
        return Record(columns, origins, jnp.ones((), bool))

    def _empty_visits(self) -> Visited:
        layout, places = self.ring.layout, (self.most_steps, self.loop.stepper.slots)
        return Visited(
            observation=jnp.zeros((*places, *layout.observation_shape), layout.observation_dtype),
            action=jnp.zeros((*places, *layout.action_shape), layout.action_dtype),
        )

    def _most_updates(self) -> int:
        return -(-self.most_steps * self.loop.stepper.slots // self.loop.schedule.update_period_steps)


def _put(columns: Any, row: Any, place: Array) -> Any:
    return jax.tree.map(
        lambda column, new: jax.lax.dynamic_update_index_in_dim(column, new.astype(column.dtype), place, 0),
        columns,
        row,
    )


@dataclass(frozen=True)
class CompiledLoop(Loop):
    """A loop that runs as compiled programs of at most `steps_per_program` vector steps."""

    steps_per_program: int = STEPS_PER_PROGRAM
    _programs: dict[RingLayout, Program] = field(default_factory=dict, init=False, repr=False, compare=False)

    @staticmethod
    def of(loop: Loop) -> "CompiledLoop":
        return CompiledLoop(**{part.name: getattr(loop, part.name) for part in fields(Loop)})

    def run(
        self,
        state: AgentState,
        ring: Ring,
        iteration: int,
        keys: Keys,
        rng: np.random.Generator,
        first_step: int | None = None,
    ) -> Iterator[Collected | Learned]:
        """One iteration; rows are copied to `ring` at its end, before the last events are handed out."""
        first, last = self.schedule.span(iteration, first_step)
        program = self.program(ring.layout)
        machine, streams = self._begin(program, state, ring, keys, rng, first)
        shares = np.asarray(self.acting.shares(self.members), np.float32)
        slots = self.stepper.slots
        step = first
        while step < last:
            count = min(self.steps_per_program, -(-(last - step) // slots))
            epsilon = self.epsilon(step + slots * np.arange(self.steps_per_program))
            span = Span(np.int32(step), np.int32(count), np.int32(last), epsilon, shares)
            machine, record = program.compiled(machine, streams, span)
            record = jax.tree.map(np.asarray, record)
            check_sampled(bool(record.found), self.replay.n_step, len(ring))
            if step + count * slots >= last:
                program.ring.download(machine.contents, ring)
            yield from self._events(machine.agent, record, step, count)
            step += count * slots

    def program(self, layout: RingLayout) -> Program:
        """The program for a ring of this layout; compiled once."""
        if layout in self._programs:
            return self._programs[layout]
        ring = DeviceRing(layout, self.members, self.replay.sampler.each_its_own)
        sizes = Sizes(self.replay.batch_size, self.replay.n_step, self.members)
        sampler, update = self.replay.sampler.compiled(ring, sizes), self.agent.pure
        assert sampler is not None and update is not None, "`obstacle` says what cannot be compiled"
        self._programs[layout] = Program(self, ring, sampler, update, self.steps_per_program)
        return self._programs[layout]

    def _begin(
        self, program: Program, state: AgentState, ring: Ring, keys: Keys, rng: np.random.Generator, first: int
    ) -> tuple[Machine, Streams]:
        assert isinstance(self.stepper, JaxStepper)
        rollout = self.stepper.start(keys)
        words = rng.integers(2**32, size=2, dtype=np.uint32)
        replay, mask = jax.random.split(jax.random.wrap_key_data(jnp.asarray(words)))
        contents, carry, agent = program.begin(program.ring.upload(ring), rollout.carry, state)
        machine = Machine(
            agent=agent,
            rollout=carry,
            contents=contents,
            memory=program.sampler.remember(program.ring),
            updates=jnp.asarray(self.updates_due(first), jnp.int32),
            moved=jnp.ones((), bool),
        )
        return machine, Streams(rollout.keys, replay, mask)

    def _events(self, state: AgentState, record: Record, step: int, count: int) -> Iterator[Collected | Learned]:
        """The events of one program, in the order of the generator loop."""
        first_updates = updates = self.updates_due(step)
        steps: Any = record.steps
        for time in range(count):
            step += self.stepper.slots
            visited = Visited(*(column[time] for column in steps.visited)) if steps.visited else None
            yield Collected(step, steps.owner[time], steps.reward[time], steps.ended[time], visited)
            while updates < self.updates_due(step):
                origins = record.origins and Origins(*(column[updates - first_updates] for column in record.origins))
                updates += 1
                yield Learned(updates, lambda: state, origins or None)


def obstacle(loop: Loop, layout: RingLayout) -> str | None:
    """Why this loop cannot be compiled, as a sentence; None if it can, or if its environment lives in Python."""
    if not isinstance(loop.stepper, JaxStepper):
        return None
    problem = None
    if not has_compiled_form(loop.replay.sampler):
        problem = f"the sampler {loop.replay.sampler.kind} has no compiled form (define `compiled`)"
    elif loop.agent.pure is None:
        problem = "this learner has no compiled form (give its Agent `pure`)"
    elif layout.frame_stack > 1:
        problem = f"the compiled replay holds no stacks of {layout.frame_stack} frames"
    elif loop.whole_episodes:
        problem = "a compiled iteration cannot wait for the end of an episode (use --num-envs 2 or more)"
    return problem and f"{problem}; training is driven from the host, which gives the same results more slowly"
