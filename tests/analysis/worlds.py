"""Synthetic runs of every study, in which each claim of the paper is true, false, or nothing differs.

A world gives each variant a level relative to the single agent. Runs are written once; simulations redraw their noise.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from synthetic_runs import MINATAR, SyntheticRun

from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.loading import Dataset, load_runs
from chorus.analysis.normalisation import Reference

SEEDS, BASE, SPREAD = 5, 100.0, 0.02
TASKS = ("HalfCheetah-v4", "Hopper-v4", "Walker2d-v4", "Ant-v4")
INDIVIDUAL, AGGREGATE = "individual", "aggregate"


@dataclass(frozen=True)
class Arm:
    """One variant: how it is trained, and its levels by policy in the world in which the paper is right."""

    preset: str
    levels: Mapping[str, float]
    options: Mapping[str, Any] = field(default_factory=dict)
    entropy: float | None = None
    envs: tuple[str, ...] = MINATAR


def both(individual: float, aggregate: float) -> dict[str, float]:
    return {INDIVIDUAL: individual, AGGREGATE: aggregate}


def _discrete() -> Iterator[Arm]:
    yield Arm("double-dqn", {INDIVIDUAL: 1.0})
    yield Arm("bootstrapped-dqn", both(0.7, 1.2), entropy=0.9)
    yield Arm("cerl", both(0.9, 1.4), entropy=0.85)
    yield Arm("tandem", {"active": 1.0, "passive": 0.5})
    for share, passive in ((0.3, 0.7), (0.5, 0.95)):
        yield Arm("tandem", {"active": 1.0, "passive": passive}, {"passive_share": share})
    # Fewer members and more shared layers: better members, less gain by voting, less diversity.
    yield Arm("bootstrapped-dqn", both(0.9, 1.0), {"members": 2}, 0.3)
    yield Arm("bootstrapped-dqn", both(0.85, 1.1), {"shared_layers": 1}, 0.3)
    yield Arm("cerl", both(0.75, 1.15), {"members": 2}, 0.3)
    yield Arm("cerl", both(0.85, 1.1), {"shared_layers": 1}, 0.3)
    for size in (25_000, 500_000):
        yield Arm("double-dqn", {INDIVIDUAL: 1.0}, {"buffer_size": size})
        yield Arm("bootstrapped-dqn", both(0.75, 1.25), {"buffer_size": size}, 0.9)
    yield Arm("bootstrapped-dqn", both(0.9, 1.1), {"buffer_size": 500_000, "shared_layers": 1}, 0.3)
    yield Arm("cerl-self-target", both(0.9, 1.4), entropy=0.85)
    yield Arm("self-oversampled", both(0.6, 1.1), entropy=0.9)
    yield Arm("per-step", both(0.6, 1.1), entropy=0.9)
    yield Arm("data-bootstrapped", both(0.5, 1.0), entropy=0.9)
    yield Arm("wide", both(0.7, 1.2), entropy=0.9)
    yield Arm("bootstrapped-dqn-mh", both(0.65, 1.15), entropy=0.9)
    yield Arm("bootstrapped-dqn-mico", both(0.65, 1.15), entropy=0.9)
    yield Arm("double-dqn-mico", {INDIVIDUAL: 0.8})
    yield Arm("qr-dqn", {INDIVIDUAL: 1.0})
    yield Arm("bootstrapped-qr-dqn", both(0.7, 1.2), entropy=0.9)
    yield Arm("double-dqn", {INDIVIDUAL: 1.0}, {"epsilon_decay": 16_000})
    yield Arm("bootstrapped-dqn", both(0.9, 1.2), {"epsilon_decay": 16_000}, 0.9)
    yield Arm("double-dqn", {INDIVIDUAL: 1.0}, {"optimizer_epsilon": 1.5e-2})
    yield Arm("bootstrapped-dqn", both(0.9, 1.2), {"optimizer_epsilon": 1.5e-2}, 0.9)


def _continuous() -> Iterator[Arm]:
    modes = {"individual-mode": 0.9, "aggregate-mode": 0.95}
    yield Arm("sac", {INDIVIDUAL: 1.0, "individual-mode": 1.0}, envs=TASKS)
    yield Arm("ensemble-sac", {**both(0.6, 0.8), **modes}, envs=TASKS[:2])
    yield Arm("ensemble-sac", {**both(0.6, 1.1), **modes}, envs=TASKS[2:])
    yield Arm("ensemble-sac-cerl", both(0.95, 1.3), envs=TASKS)
    yield Arm("ensemble-sac-cerl-self-target", both(0.4, 0.5), envs=TASKS)
    yield Arm("sac-tandem", {"active": 1.0, "passive": 0.3}, envs=TASKS)
    yield Arm("sac", {INDIVIDUAL: 1.0}, {"buffer_size": 400_000}, envs=TASKS)
    yield Arm("ensemble-sac", both(1.0, 1.1), {"buffer_size": 400_000}, envs=TASKS)


ARMS = (*_discrete(), *_continuous())


def write_world(folder: Path) -> None:
    """The runs of every arm, with one evaluation each."""
    for number, arm in enumerate(ARMS):
        for env in arm.envs:
            for seed in range(SEEDS):
                SyntheticRun(
                    preset=arm.preset,
                    env=env,
                    seed=seed,
                    level={policy: BASE * level for policy, level in arm.levels.items()},
                    options=dict(arm.options),
                    entropy=arm.entropy,
                    iterations=1,
                    planned_iterations=25,
                    name=f"{number:02d}-{env.replace('/', '-')}-{seed}",
                ).write(folder)


class World:
    """The dataset of all arms; `simulate` redraws the noise of every run."""

    def __init__(self, folder: Path) -> None:
        write_world(folder)
        self.dataset = load_runs([folder])
        self._references = {env: Reference(0.0, None) for env in self.dataset.envs}

    def simulate(self, kind: str, rng: np.random.Generator, spread: float = SPREAD) -> AnalysisContext:
        """`paper` as it is, `reverse` with every difference of the opposite sign, `null` without differences."""
        table = self.dataset.table
        scores = np.array([name.startswith("eval/") for name in self.dataset.metrics])[table.metric]
        middle = np.where(scores, BASE, 0.6)
        sign = {"paper": 1.0, "reverse": -1.0, "null": 0.0}[kind]
        level = middle + sign * (table.value - middle)
        noise = rng.normal(size=len(level)) * np.where(scores, spread * BASE, spread)
        drawn: Dataset = replace(self.dataset, table=replace(table, value=level + noise))
        return make_context(drawn, references=self._references, normalisation="single")
