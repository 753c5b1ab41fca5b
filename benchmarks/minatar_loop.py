"""Training on MinAtar at laptop scale: compiled programs against the host loop, and the products inside them."""

import time
from dataclasses import replace

import jax
import numpy as np

from benchmarks import harness
from benchmarks.nature_update import make_batch
from chorus.agents.agent import AgentState
from chorus.config.resolution import Request, resolve
from chorus.config.schema import RunConfig
from chorus.randomness import init_key
from chorus.replay.ring import Ring
from chorus.runs.assembly import Assembly
from chorus.runs.resources import ring_layout
from chorus.runs.runtime import prepare
from chorus.runs.training import training_keys
from chorus.training.loop import Collected, Learned, Loop

ENV = "MinAtar/Breakout-v1"
SINGLE, TEN = "Double DQN", "Bootstrapped DQN, L = 0"
VARIANTS = {
    SINGLE: ("double-dqn", {}),
    TEN: ("bootstrapped-dqn", {}),
    "Bootstrapped DQN, L = 1": ("bootstrapped-dqn", {"shared_layers": 1}),
    "CERL": ("cerl", {}),
}
# What else estimates count (chorus/scheduling/costs.py); only their updates are timed.
OTHERS = {
    "Bootstrapped DQN + MH": ("bootstrapped-dqn-mh", {}),
    "Bootstrapped DQN + MICo": ("bootstrapped-dqn-mico", {}),
    "Bootstrapped QR-DQN": ("bootstrapped-qr-dqn", {}),
}
# Hidden units of the networks that are compared: a small one, in which overheads count, and the standard one.
UNITS = (32, 128)
LEARNING_STARTS, TURN_STEPS, TURNS = 1_024, 512, 9


def configuration(name: str, units: int | None = None) -> RunConfig:
    preset, options = (VARIANTS | OTHERS)[name]
    config = resolve(Request(preset=preset, env=ENV, options={**options, "learning_starts": LEARNING_STARTS})).config
    if units is None:
        return config
    torso = replace(config.agent.torso, dense=(units,))  # type: ignore[call-arg]
    return replace(config, agent=replace(config.agent, torso=torso))


class Run:
    """A loop that goes on whenever it is asked to; iterations are endless."""

    def __init__(self, assembly: Assembly, loop: Loop) -> None:
        schedule = replace(loop.schedule, total_steps=10**7, iteration_steps=10**7)
        ring = Ring(ring_layout(assembly.config, assembly.spec))
        self._step = 0
        self._state: AgentState | None = None
        state, rng = assembly.agent.init(init_key(0)), np.random.default_rng(0)
        self._events = replace(loop, schedule=schedule).run(state, ring, 1, training_keys(0, 1), rng)
        self._to(LEARNING_STARTS)

    def seconds(self, steps: int) -> float:
        """Of so many agent steps; a compiled loop must be given whole programs."""
        began = time.perf_counter()
        self._to(self._step + steps)
        return time.perf_counter() - began

    def _to(self, step: int) -> None:
        while self._step < step:
            event = next(self._events)
            if isinstance(event, Learned):
                self._state = event.state
            elif isinstance(event, Collected):
                self._step = event.step
        jax.block_until_ready(self._state)


def in_turns(runs: dict[str, Run]) -> dict[str, float]:
    """Seconds per agent step of each run in its best turn."""
    for run in runs.values():
        run.seconds(TURN_STEPS)
    turns = [{name: run.seconds(TURN_STEPS) for name, run in runs.items()} for _ in range(TURNS)]
    return {name: min(turn[name] for turn in turns) / TURN_STEPS for name in runs}


def compare(name: str, units: int) -> dict[str, float]:
    """Seconds per agent step: compiled, from the host, and compiled without gradient steps."""
    assembly = Assembly.of(configuration(name, units))
    compiled, host = assembly.loop(), assembly.host_loop()
    never = replace(compiled, schedule=replace(compiled.schedule, learning_starts=10**8))
    return in_turns(
        {"compiled": Run(assembly, compiled), "host": Run(assembly, host), "collecting": Run(assembly, never)}
    )


def share_of_matmul(name: str, units: int, seconds: dict[str, float], rate: float) -> float:
    """Of the gradient steps inside a program, of which one is made each `update_period_steps`."""
    assembly = Assembly.of(configuration(name, units))
    config, spec = assembly.config, assembly.spec
    assert config.agent.members > 0
    flop = harness.update_flop(
        config.agent.torso,
        spec.observation_shape,
        spec.actions.count,  # type: ignore[union-attr]
        config.agent.members,
        config.replay.batch_size,
    )
    learning = (seconds["compiled"] - seconds["collecting"]) * config.schedule.update_period_steps
    return flop / learning / rate


def main() -> None:
    prepare(configuration(SINGLE).runtime)
    matmul = harness.matmul()
    results: dict[str, float] = {}
    for label, name in {"single": SINGLE, "n10": TEN}.items():
        for units in UNITS:
            seconds = compare(name, units)
            rate = harness.MATMUL_FLOP / harness.interleaved({"matmul": matmul}, rounds=5)["matmul"]
            results |= {
                f"minatar_{label}_over_host_loop/{units} units": seconds["host"] / seconds["compiled"],
                f"minatar_{label}_steps_per_second/{units} units": 1.0 / seconds["compiled"],
                f"minatar_{label}_share_of_matmul/{units} units": share_of_matmul(name, units, seconds, rate),
            }
    assemblies = {name: Assembly.of(configuration(name)) for name in VARIANTS | OTHERS}
    spec = assemblies[SINGLE].spec
    batch = make_batch(spec.observation_shape, bool, spec.actions.count)  # type: ignore[union-attr]
    updates = harness.interleaved(
        {name: harness.Updating(each.agent, batch) for name, each in assemblies.items()}, rounds=11
    )
    results |= {f"minatar_update_ms/{name}": 1e3 * value for name, value in updates.items()}
    runs = in_turns({name: Run(assemblies[name], assemblies[name].loop()) for name in VARIANTS})
    iteration = assemblies[SINGLE].config.schedule.iteration_steps
    results |= {f"minatar_iteration_seconds/{name}": value * iteration for name, value in runs.items()}
    facts = {
        "host loop": "today's, one call per step and one per update; `benchmarks.before` has the former one",
        "matmul": f"{harness.MATMUL_SIZE}³ float32, {harness.threads()} thread",
        "iteration": f"{iteration:,} agent steps, scaled from {TURN_STEPS:,} measured",
    }
    harness.report(f"Training, {ENV}", facts, results)
    harness.record(results, "minatar_loop")


if __name__ == "__main__":
    main()
