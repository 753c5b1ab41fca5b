"""Rates for the cost estimates of `chorus.scheduling.costs`: processor time per agent step, and per member and update.

`python -m benchmarks.rates deep_sea control` prints a line for each family of environments. Two runs at the laptop
scale, of one agent and of an ensemble, without their first iterations, which compile. Processor time counts, so that
other work on the machine disturbs less than by the clock.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import chorus
from chorus.config.resolution import Request, resolve
from chorus.config.schema import RunConfig
from chorus.runs.machine import processor
from chorus.scheduling.costs import Rate


class Pair(NamedTuple):
    """An environment of a family, a single agent and an ensemble."""

    env: str
    single: str
    ensemble: str


PAIRS = {
    "minatar": Pair("MinAtar/Breakout-v1", "double-dqn", "bootstrapped-dqn"),
    "flat": Pair("CartPole-v1", "double-dqn", "bootstrapped-dqn"),
    "deep_sea": Pair("DeepSea-20-v0", "double-dqn", "bootstrapped-dqn"),
    "control": Pair("Hopper-v4", "sac", "ensemble-sac"),
}
ITERATIONS = 3


def measure(preset: str, env: str, out: Path) -> tuple[float, RunConfig]:
    """Seconds per agent step, evaluation and checkpoints included, and the configuration."""
    steps = resolve(Request(preset=preset, env=env)).config.schedule.iteration_steps
    ends: list[float] = []
    chorus.train(
        preset,
        env,
        out=out,
        total_steps=ITERATIONS * steps,
        quiet=True,
        in_process=True,
        on_iteration=lambda _: ends.append(time.process_time()),
    )
    return (ends[-1] - ends[0]) / ((ITERATIONS - 1) * steps), resolve(Request(preset=preset, env=env)).config


def rate(pair: Pair) -> Rate:
    """A line through the costs of one member and of the ensemble."""
    with tempfile.TemporaryDirectory() as folder:
        (one, _), (all_members, config) = (measure(preset, pair.env, Path(folder)) for preset in pair[1:])
    member = (all_members - one) / (config.agent.members - 1)
    return Rate(step=one - member, member=member * config.schedule.update_period_steps)


def main() -> None:
    families = sys.argv[1:] or list(PAIRS)
    print(processor(), flush=True)
    for family in families:
        found = rate(PAIRS[family])
        print(f'"{family}": Rate(step={found.step:.1e}, member={found.member:.1e})', flush=True)


if __name__ == "__main__":
    main()
