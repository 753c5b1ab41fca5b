"""The training loop on MinAtar at laptop scale: what it adds to its bare parts, and what those parts cost."""

import time
from collections.abc import Callable

import jax
import numpy as np

from benchmarks import harness
from benchmarks.nature_update import make_batch
from chorus.config.resolution import Request, resolve
from chorus.config.schema import RunConfig
from chorus.randomness import init_key
from chorus.replay.ring import Ring
from chorus.runs.assembly import Assembly
from chorus.runs.runtime import prepare
from chorus.runs.training import training_keys
from chorus.training.loop import Learned, Loop
from chorus.training.stepper import Stepper

ENV = "MinAtar/Breakout-v1"
MEASURED_STEPS = 2_000
VARIANTS = {
    "Double DQN": ("double-dqn", {}),
    "Bootstrapped DQN, L = 0": ("bootstrapped-dqn", {}),
    "Bootstrapped DQN, L = 1": ("bootstrapped-dqn", {"shared_layers": 1}),
    "CERL": ("cerl", {}),
}
# What else estimates count (chorus/experiments/costs.py); only their updates are timed.
OTHERS = {
    "Bootstrapped DQN + MH": ("bootstrapped-dqn-mh", {}),
    "Bootstrapped DQN + MICo": ("bootstrapped-dqn-mico", {}),
    "Bootstrapped QR-DQN": ("bootstrapped-qr-dqn", {}),
}


def configuration(name: str) -> RunConfig:
    preset, options = (VARIANTS | OTHERS)[name]
    return resolve(Request(preset=preset, env=ENV, options=options)).config


def updating(assembly: Assembly) -> harness.Updating:
    spec = assembly.spec
    return harness.Updating(assembly.agent, make_batch(spec.observation_shape, bool, spec.actions.count))


def loop_seconds(assembly: Assembly, loop: Loop, steps: int) -> tuple[float, int]:
    """Seconds of `steps` agent steps once learning has begun, and the gradient steps among them."""
    state = assembly.agent.init(init_key(0))
    began, updates = 0.0, 0
    first = assembly.config.schedule.learning_starts + 500
    for event in loop.run(state, Ring(assembly.ring_layout()), 1, training_keys(0, 1), np.random.default_rng(0)):
        if isinstance(event, Learned):
            updates += bool(began)
            state = event.state
        elif not began and event.step >= first:
            jax.block_until_ready(state)
            began = time.perf_counter()
        elif began and event.step >= first + steps:
            break
    jax.block_until_ready(state)
    return time.perf_counter() - began, updates


def rollout(assembly: Assembly, stepper: Stepper) -> Callable[[], object]:
    """One vector step with acting, as the loop asks for it between updates."""
    params = assembly.agent.init(init_key(0)).params
    shares = assembly.config.acting.shares(assembly.config.agent.members)
    held = [stepper.start(training_keys(0, 1))]
    epsilon = np.full(1, 0.1, np.float32)

    def step() -> object:
        held[0], steps = stepper.advance(params, shares, held[0], epsilon)
        return steps.reward

    return step


def parts_seconds(step: Callable[[], object], steps: int, update: Callable[[], object], updates: int) -> float:
    """Seconds of as many bare steps and updates as the loop made, over as long a time as it took."""
    began = time.perf_counter()
    for action, times in ((step, steps), (update, updates)):
        for _ in range(times):
            jax.block_until_ready(action())
    return time.perf_counter() - began


def main() -> None:
    configs = {name: configuration(name) for name in VARIANTS}
    config = configs["Bootstrapped DQN, L = 0"]
    prepare(config.runtime)
    assemblies = {name: Assembly.of(config) for name, config in configs.items()}
    assembly = assemblies["Bootstrapped DQN, L = 0"]
    updates = {name: updating(each) for name, each in assemblies.items()}
    others = {name: updating(Assembly.of(configuration(name))) for name in OTHERS}
    loops = {name: each.loop() for name, each in assemblies.items()}
    loop = loops["Bootstrapped DQN, L = 0"]
    step = rollout(assembly, loop.stepper)
    seconds = harness.interleaved({"matmul": harness.matmul(), "rollout": step, **updates, **others}, rounds=11)

    ours = seconds["Bootstrapped DQN, L = 0"]
    slots = config.env.num_envs
    ratios, iteration = [], {}
    for _ in range(7):
        taken, made = loop_seconds(assembly, loop, MEASURED_STEPS)
        ratios.append(taken / parts_seconds(step, MEASURED_STEPS // slots, updates["Bootstrapped DQN, L = 0"], made))
    for name, each in assemblies.items():
        taken, _ = loop_seconds(each, loops[name], MEASURED_STEPS)
        iteration[name] = taken * config.schedule.iteration_steps / MEASURED_STEPS
    flop = harness.update_flop(
        config.agent.torso, assembly.spec.observation_shape, assembly.spec.actions.count, config.agent.members, 32
    )
    rate = harness.MATMUL_FLOP / seconds["matmul"]
    results = {
        "minatar_n10_loop_over_parts": float(np.median(ratios)),
        "minatar_n10_share_of_matmul": flop / ours / rate,
        "minatar_rollout_ms": 1e3 * seconds["rollout"],
        **{f"minatar_update_ms/{name}": 1e3 * seconds[name] for name in VARIANTS | OTHERS},
        **{f"minatar_iteration_seconds/{name}": value for name, value in iteration.items()},
    }
    facts = {
        "update": f"N = {config.agent.members}, batch 32, {flop / 1e6:.0f} MFLOP",
        "matmul": f"{harness.MATMUL_SIZE}³ float32, {rate / 1e9:.0f} GFLOP/s, {harness.threads()} thread",
        "iteration": f"{config.schedule.iteration_steps:,} agent steps, scaled from {MEASURED_STEPS:,} measured",
    }
    harness.report(f"Training loop, {ENV}", facts, results)
    harness.record(results, "minatar_loop")


if __name__ == "__main__":
    main()
