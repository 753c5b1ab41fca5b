"""Atari: our adapter beside the bare vector environment and Gymnasium's wrappers; where an iteration's time goes."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import ale_py
import gymnasium
import jax
import numpy as np
from ale_py import AtariVectorEnv
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

from benchmarks import harness
from chorus.config.resolution import Request, resolve
from chorus.envs.registry import make_host
from chorus.randomness import init_key
from chorus.replay.layout import RingLayout
from chorus.replay.ring import Ring
from chorus.runs.assembly import Assembly
from chorus.runs.resources import ring_layout
from chorus.runs.runtime import prepare
from chorus.runs.training import training_keys

ENV, GAME, SLOTS = "ALE/Breakout-v5", "breakout", 8
STEPS_AT_ONCE, ROUNDS = 25, 41


def bare() -> Any:
    return AtariVectorEnv(
        GAME, SLOTS, noop_max=0, use_fire_reset=False, reward_clipping=False, autoreset_mode=AutoresetMode.SAME_STEP
    )


def wrapped() -> gymnasium.Env:
    env = gymnasium.make(ENV, frameskip=1, repeat_action_probability=0.0)
    return FrameStackObservation(AtariPreprocessing(env, noop_max=0), 4, padding_type="zero")


def stepping(step: Callable[[np.ndarray], object], actions: np.ndarray) -> Callable[[], object]:
    def run() -> object:
        return [step(row) for row in actions] and None

    return run


def throughput() -> dict[str, float]:
    """Agent steps a second of eight environments, the same actions in each."""
    actions = np.random.default_rng(0).integers(4, size=(STEPS_AT_ONCE, SLOTS)).astype(np.int32)
    ours, theirs, wrappers = make_host(ENV, SLOTS), bare(), SyncVectorEnv([wrapped] * SLOTS)
    ours.reset(np.arange(SLOTS))
    theirs.reset(seed=0)
    wrappers.reset(seed=0)
    seconds = harness.interleaved(
        {
            "adapter": stepping(ours.step, actions),
            "bare": stepping(theirs.step, actions),
            "wrappers": stepping(wrappers.step, actions),
        },
        rounds=ROUNDS,
    )
    wrappers.close()
    return {name: STEPS_AT_ONCE * SLOTS / value for name, value in seconds.items()}


def shares_of_an_iteration() -> tuple[dict[str, float], int]:
    """Milliseconds of each part, and how they add up over the agent steps of a paper-scale iteration."""
    config = resolve(Request(preset="bootstrapped-dqn", env=ENV, scale="paper")).config
    prepare(config.runtime)
    assembly = Assembly.of(config)
    loop, replay = assembly.loop(), config.replay
    params = assembly.agent.init(init_key(0)).params
    envs, ring, rng = make_host(ENV, 1), Ring(small(assembly)), np.random.default_rng(0)
    observation = envs.reset(np.zeros(1, int))
    ring.begin(observation, np.arange(1))
    for _ in range(200):
        moved = envs.step(rng.integers(4, size=1))
        ring.add(np.zeros(1, int), moved.reward, moved.life_lost, moved.truncated, np.zeros(1, int), moved.observation)
    act, key, member = jax.jit(assembly.agent.act), training_keys(0, 1).act, np.zeros(1, np.int32)
    chance = np.float32(0.01)
    sample = partial(replay.sampler.sample, ring, rng, replay.batch_size, replay.n_step, config.agent.members)
    parts = {
        "env": lambda: envs.step(rng.integers(4, size=1)).reward,
        "act": lambda: np.asarray(act(params, observation, member, key, chance)),
        "sample": lambda: sample().batch.observation,
        "update": harness.Updating(assembly.agent, sample().batch),
    }
    seconds = harness.interleaved(parts, rounds=21)
    a_step = {"env": 1.0, "act": 1.0}
    period = loop.schedule.update_period_steps
    return {name: value * a_step.get(name, 1 / period) for name, value in seconds.items()}, config.agent.members


def small(assembly: Assembly) -> RingLayout:
    """The run's ring, with room for no more than is put in."""
    return replace(ring_layout(assembly.config, assembly.spec), capacity=1_000, iteration_steps=1_000)


def main() -> None:
    parts, members = shares_of_an_iteration()
    rates = throughput()
    total = sum(parts.values())
    results = {
        "atari_adapter_over_bare": rates["adapter"] / rates["bare"],
        "atari_adapter_over_gymnasium": rates["adapter"] / rates["wrappers"],
        "atari_adapter_steps_a_second": rates["adapter"],
        "atari_paper_ms_a_step": 1e3 * total,
        **{f"atari_paper_share/{name}": value / total for name, value in parts.items()},
    }
    facts = {
        "environments": f"{SLOTS} of {ENV}, median of {ROUNDS} x {STEPS_AT_ONCE} vector steps",
        "iteration": f"paper scale, N = {members}, one update each 4 steps, {harness.threads()} threads",
    }
    harness.report("Atari environments", facts, results)
    harness.record(results, "atari_env")


gymnasium.register_envs(ale_py)
if __name__ == "__main__":
    main()
