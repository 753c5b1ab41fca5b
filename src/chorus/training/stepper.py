"""Steppers: E environment slots and the function that decides their actions, advanced together.

`JaxStepper` advances environments of pure functions by many steps per jitted call, `HostStepper` environments that
live in Python by one step per call. Training and evaluation use the same steppers with different decisions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, Shaped

from chorus.agents.agent import Agent, AgentState
from chorus.envs.spec import HostEnvs, JaxEnv
from chorus.training.acting import redraw
from chorus.training.learning import FusedLearning, FusedPrograms, Learning, SeparateLearning, is_small
from chorus.training.packing import Packing

# (params, observation [E, ...], acting member [E], key, epsilon) -> action [E, ...], and measurements of the decision
Decide = Callable[[Any, Array, Array, PRNGKeyArray, Array], tuple[Array, Any]]


class Keys(NamedTuple):
    """The random streams of one rollout; `env` seeds environments of pure functions, `env_seed` those in Python."""

    act: PRNGKeyArray
    member: PRNGKeyArray
    env: PRNGKeyArray
    env_seed: np.random.SeedSequence


@dataclass(frozen=True, kw_only=True)
class LifeLoss:
    """What happens at a lost life within a game: the learner sees a terminal, the acting member is drawn anew."""

    terminal: bool = False
    redraw: bool = False


class Steps(NamedTuple):
    """T steps of E slots.

    Where an episode ended, `next_observation` is its last one and `reset_observation` the first of the next episode.
    `life_ended` marks steps at which the learner sees a terminal although the episode continues.
    """

    member: Int[np.ndarray, "T E"]
    action: Shaped[np.ndarray, "T E ..."]
    reward: Float[np.ndarray, "T E"]
    terminated: Bool[np.ndarray, "T E"]
    truncated: Bool[np.ndarray, "T E"]
    life_ended: Bool[np.ndarray, "T E"]
    next_observation: Shaped[np.ndarray, "T E ..."]
    reset_observation: Shaped[np.ndarray, "T E ..."]
    measured: Any


@runtime_checkable
class Stepper(Protocol):
    """E slots that advance together; `chunk` is the largest useful number of steps per call."""

    slots: int
    chunk: int

    def start(self, keys: Keys) -> Any:
        """New environments, each at the start of its first episode."""
        ...

    def advance(
        self, params: Any, shares: Float[np.ndarray, " N"], rollout: Any, epsilon: Float[np.ndarray, " T"]
    ) -> tuple[Any, Steps]:
        """T further steps, one per epsilon."""
        ...

    def learning(self, agent: Agent, state: AgentState) -> Learning:
        """An agent that learns while these slots advance."""
        ...

    def frames(self, rollout: Any, steps: Steps) -> list[np.ndarray]:
        """RGB images of the first slot, one after each of these steps."""
        ...


class JaxCarry(NamedTuple):
    state: Any
    observation: Array
    first: Bool[Array, " E"]
    member: Int[Array, " E"]
    elapsed: Int[Array, " E"]
    time: Int[Array, ""]


@dataclass
class JaxRollout:
    carry: JaxCarry
    keys: tuple[PRNGKeyArray, PRNGKeyArray, PRNGKeyArray]

    @property
    def observation(self) -> Array:
        return self.carry.observation

    def close(self) -> None:
        pass


class JaxStepper:
    """Slots of an environment of pure functions. Random draws depend on the step count, not on the chunks."""

    chunk = 64

    def __init__(self, env: JaxEnv, decide: Decide, slots: int, redraw_each_step: bool = False) -> None:
        self.slots = slots
        self._redraw_each_step = redraw_each_step
        self._env = env
        self._decide = decide
        self._reset = jax.jit(jax.vmap(env.reset))
        self._scan = jax.jit(self._advance)

    def start(self, keys: Keys) -> JaxRollout:
        state, observation = self._reset(jax.random.split(jax.random.fold_in(keys.env, 0), self.slots))
        zeros = jnp.zeros(self.slots, jnp.int32)
        first = jnp.ones(self.slots, bool)
        carry = JaxCarry(state, observation, first, zeros, zeros, jnp.ones((), jnp.int32))
        return JaxRollout(carry, (keys.act, keys.member, keys.env))

    def advance(
        self, params: Any, shares: Float[np.ndarray, " N"], rollout: JaxRollout, epsilon: Float[np.ndarray, " T"]
    ) -> tuple[JaxRollout, Steps]:
        carry, steps = self._scan(params, np.asarray(shares, np.float32), rollout.carry, rollout.keys, epsilon)
        return JaxRollout(carry, rollout.keys), jax.tree.map(np.asarray, steps)

    def learning(self, agent: Agent, state: AgentState) -> Learning:
        return SeparateLearning(self, agent, state)

    def frames(self, rollout: JaxRollout, steps: Steps) -> list[np.ndarray]:
        return [self._env.render(observation) for observation in steps.next_observation[:, 0]]

    def _advance(self, params: Any, shares: Array, carry: JaxCarry, keys: Any, epsilon: Array) -> Any:
        return jax.lax.scan(lambda c, e: self.step(params, shares, c, keys, e), carry, epsilon)

    def step(self, params: Any, shares: Array, carry: JaxCarry, keys: Any, epsilon: Array) -> tuple[JaxCarry, Steps]:
        """One step of every slot, as a traced function."""
        act_key, member_key, env_key = (jax.random.fold_in(key, carry.time) for key in keys)
        member = redraw(carry.member, carry.first | self._redraw_each_step, shares, member_key)
        action, measured = self._decide(params, carry.observation, member, act_key, epsilon)

        step_key, reset_key = jax.random.split(env_key)
        step_keys, reset_keys = (jax.random.split(key, self.slots) for key in (step_key, reset_key))
        state, observation, reward, terminated = jax.vmap(self._env.step)(carry.state, action, step_keys)
        elapsed = carry.elapsed + 1
        limit = self._env.spec.max_episode_steps
        out_of_time = elapsed >= limit if limit is not None else jnp.zeros_like(terminated)
        ended = terminated | out_of_time

        def restart() -> Any:
            def where_ended(new: Array, old: Array) -> Array:
                return jnp.where(ended.reshape(-1, *(1,) * (old.ndim - 1)), new, old)

            return jax.tree.map(where_ended, jax.vmap(self._env.reset)(reset_keys), (state, observation))

        # Most steps end no episode, and on a CPU a reset takes a large part of the time of a step.
        next_state, reset_observation = jax.lax.cond(ended.any(), restart, lambda: (state, observation))
        # Traced arrays here; host arrays once the call has returned.
        columns: dict[str, Any] = {
            "member": member,
            "action": action,
            "reward": reward,
            "terminated": terminated,
            "truncated": out_of_time & ~terminated,
            "life_ended": jnp.zeros_like(terminated),
            "next_observation": observation,
            "reset_observation": reset_observation,
            "measured": measured,
        }
        elapsed = jnp.where(ended, 0, elapsed)
        return JaxCarry(next_state, reset_observation, ended, member, elapsed, carry.time + 1), Steps(**columns)


class Decision(NamedTuple):
    """What was decided in one state of every slot: by whom, what, and measurements of it."""

    member: Int[Array, " E"]
    action: Shaped[Array, "E ..."]
    measured: Any


@dataclass
class HostRollout:
    """`decision` is for the present observation, if it has been made together with an update."""

    envs: HostEnvs
    observation: np.ndarray
    first: Bool[np.ndarray, " E"]
    member: Int[Array, " E"]
    time: int
    key_words: tuple[np.ndarray, np.ndarray]
    decision: Decision | None = None

    def close(self) -> None:
        self.envs.close()


class HostStepper:
    """Slots of an environment that lives in Python; one step per call."""

    chunk = 1

    def __init__(
        self,
        make_envs: Callable[[int], HostEnvs],
        decide: Decide,
        slots: int,
        redraw_each_step: bool = False,
        life_loss: LifeLoss | None = None,
    ) -> None:
        self.slots = slots
        self._make_envs = make_envs
        self._life_loss = life_loss or LifeLoss()
        self._programs: FusedPrograms | None = None

        def choose(
            params: Any,
            shares: Array,
            observation: Array,
            first: Array,
            member: Array,
            key_words: Any,
            time: Array,
            epsilon: Array,
        ) -> Decision:
            act_key, member_key = (jax.random.fold_in(jax.random.wrap_key_data(words), time) for words in key_words)
            member = redraw(member, first | redraw_each_step, shares, member_key)
            return Decision(member, *decide(params, observation, member, act_key, epsilon))

        self._choose = choose
        self._choose_alone = jax.jit(choose)

    def start(self, keys: Keys) -> HostRollout:
        envs = self._make_envs(self.slots)
        observation = envs.reset(keys.env_seed.generate_state(self.slots).astype(np.int64))
        # Plain words: typed keys as arguments would take the slow path of a dispatch.
        act_words, member_words = (np.asarray(jax.random.key_data(key)) for key in (keys.act, keys.member))
        member = jnp.zeros(self.slots, jnp.int32)
        return HostRollout(envs, observation, np.ones(self.slots, bool), member, 1, (act_words, member_words))

    def learning(self, agent: Agent, state: AgentState) -> Learning:
        if agent.pure is None:
            return SeparateLearning(self, agent, state)
        packing = Packing.of(state)
        if not is_small(packing):
            return SeparateLearning(self, agent, state)
        if self._programs is None or self._programs.agent is not agent:
            self._programs = FusedPrograms(agent, self._choose, packing)
        return FusedLearning.of(self, self._programs, state)

    def situation(self, shares: np.ndarray, rollout: HostRollout, epsilon: np.floating) -> tuple[Any, ...]:
        """What a decision depends on beside the parameters."""
        observed = (rollout.observation, rollout.first, rollout.member)
        return np.asarray(shares, np.float32), *observed, rollout.key_words, np.int32(rollout.time), epsilon

    def advance(
        self, params: Any, shares: Float[np.ndarray, " N"], rollout: HostRollout, epsilon: Float[np.ndarray, " T"]
    ) -> tuple[HostRollout, Steps]:
        return self.play(lambda *situation: self._choose_alone(params, *situation), shares, rollout, epsilon)

    def play(
        self,
        decide: Callable[..., Decision],
        shares: Float[np.ndarray, " N"],
        rollout: HostRollout,
        epsilon: Float[np.ndarray, " T"],
    ) -> tuple[HostRollout, Steps]:
        """T further steps; `decide` is asked where no decision has been made yet."""
        rows = []
        for value in epsilon:
            if rollout.decision is None:
                rollout.decision = decide(*self.situation(shares, rollout, value))
            rows.append(self._one(rollout, rollout.decision))
        stack = _with_time_axis if len(rows) == 1 else _stacked
        return rollout, stack(rows)

    def frames(self, rollout: HostRollout, steps: Steps) -> list[np.ndarray]:
        return [rollout.envs.render()]

    def _one(self, rollout: HostRollout, decision: Decision) -> Steps:
        chosen, member = np.asarray(decision.action), np.asarray(decision.member)
        result = rollout.envs.step(chosen)
        rollout.decision, rollout.member = None, decision.member
        rollout.observation, rollout.time = result.reset_observation, rollout.time + 1
        rollout.first = result.terminated | result.truncated | (result.life_lost & self._life_loss.redraw)
        return Steps(
            member=member,
            action=chosen,
            reward=result.reward,
            terminated=result.terminated,
            truncated=result.truncated & ~result.terminated,
            life_ended=result.life_lost & self._life_loss.terminal,
            next_observation=result.observation,
            reset_observation=result.reset_observation,
            measured=jax.tree.map(np.asarray, decision.measured),
        )


def _stacked(rows: list[Steps]) -> Steps:
    return jax.tree.map(lambda *column: np.stack(column), *rows)


def _with_time_axis(rows: list[Steps]) -> Steps:
    """A single row as views, which cost nothing."""
    *columns, measured = rows[0]
    return Steps._make((*(column[None] for column in columns), jax.tree.map(lambda column: column[None], measured)))
