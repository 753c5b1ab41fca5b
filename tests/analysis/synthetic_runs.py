"""Run directories with known means, in the format of docs/run-directory.md, for tests that must not train anything.

Configurations come from the resolver, so each config.json is one that a run could have.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from chorus.config.identity import identity
from chorus.config.presets import PRESETS
from chorus.config.resolution import Request, Resolved, option_applies, resolve
from chorus.config.schema import Scale
from chorus.errors import ChorusError

MINATAR = ("MinAtar/Asterix-v1", "MinAtar/Breakout-v1", "MinAtar/SpaceInvaders-v1")
ATARI4 = ("ALE/Amidar-v5", "ALE/SpaceInvaders-v5", "ALE/Breakout-v5", "ALE/Seaquest-v5")

# Level of each policy relative to the single agent, shaped like the paper's finding.
LEVELS: dict[str, dict[str, float]] = {
    "double-dqn": {"individual": 1.0},
    "bootstrapped-dqn": {"individual": 0.7, "aggregate": 1.2},
    "cerl": {"individual": 0.95, "aggregate": 1.5},
    "cerl-self-target": {"individual": 0.92, "aggregate": 1.4},
    "tandem": {"active": 0.97, "passive": 0.5},
    "sac": {"individual": 1.0},
    "ensemble-sac": {"individual": 0.7, "aggregate": 0.9},
}


@dataclass
class SyntheticRun:
    """One run directory to write; `level` gives each policy's final return."""

    preset: str = "double-dqn"
    env: str = "MinAtar/Breakout-v1"
    seed: int = 0
    level: dict[str, float] = field(default_factory=lambda: {"individual": 10.0})
    noise: float = 0.0
    iterations: int = 12
    planned_iterations: int | None = None
    iteration_steps: int = 40_000
    action_repeat: int = 1
    state: str = "finished"
    reason: str | None = None
    scale: Scale = "laptop"
    options: dict[str, Any] = field(default_factory=dict)
    swept: Sequence[str] = ()
    identity: dict[str, Any] | None = field(default_factory=dict)
    """Replaces parts of the run's identity; None leaves it out, as older versions did."""
    name: str | None = None
    entropy: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)

    def write(self, parent: Path) -> Path:
        name = self.name or f"{self.env.replace('/', '-')}__{self.preset}__s{self.seed}"
        path = parent / name
        path.mkdir(parents=True)
        _write_json(path / "config.json", self.config())
        _write_json(path / "meta.json", self.meta())
        status = {"state": self.state, "reason": self.reason, "iteration": self.iterations}
        _write_json(path / "status.json", status)
        rows = list(self.rows())
        (path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (path / "episodes.jsonl").write_text("")
        (path / "timings.jsonl").write_text("")
        return path

    def resolved(self) -> Resolved:
        """A preset or an environment that the resolver does not know is replaced by one that it knows."""
        preset = self.preset if self.preset in PRESETS else "bootstrapped-dqn"
        planned = self.planned_iterations or max(self.iterations, 1)
        options: dict[str, Any] = {
            "total_steps": planned * self.iteration_steps,
            "iteration_steps": self.iteration_steps,
            "buffer_size": 100_000,
        }
        if option_applies("members", preset):
            options["members"] = 10
        return resolved(preset, self.env, self.scale, json.dumps(options | self.options), tuple(self.swept))

    def config(self) -> dict[str, Any]:
        config = self.resolved().config.to_json()
        return config | {"preset": self.preset, "seed": self.seed, "env": config["env"] | {"id": self.env}}

    def meta(self) -> dict[str, Any]:
        if self.identity is None:
            return META
        known = {} if self.preset in PRESETS else {"title": self.preset, "preset": self.preset, "role": "ablation"}
        return META | {"identity": identity(self.resolved()) | known | self.identity}

    def rows(self) -> Any:
        """Returns rise along 1 - exp(-5t) and are level for the last ten evaluations: finals are known exactly."""
        rng = np.random.default_rng([self.seed, *self.env.encode(), *self.preset.encode()])
        shift = {policy: rng.normal(0, self.noise) for policy in self.level}
        rise = max(self.iterations - 10, 1)
        for iteration in range(1, self.iterations + 1):
            step = iteration * self.iteration_steps
            share = 1.0 if iteration > self.iterations - 10 else float(1 - np.exp(-5 * iteration / rise))
            for policy, level in self.level.items():
                value = level * share + shift[policy]
                yield self._row(iteration, step, f"eval/{policy}/episodic_return", value)
            if self.entropy is not None:
                for policy in ("individual", "aggregate"):
                    yield self._row(iteration, step, f"diversity/vote_entropy/{policy}", self.entropy)
            yield self._row(iteration, step, "losses/td_loss", 1.0 / iteration)
            for metric, value in self.metrics.items():
                yield self._row(iteration, step, metric, value)

    def _row(self, iteration: int, step: int, metric: str, value: float) -> dict[str, Any]:
        return {
            "iteration": iteration,
            "step": step,
            "frames": step * self.action_repeat,
            "metric": metric,
            "value": value,
        }


@cache
def resolved(preset: str, env: str, scale: Scale, options: str, swept: tuple[str, ...]) -> Resolved:
    request = Request(preset=preset, env=env, scale=scale, options=json.loads(options), swept=swept)
    try:
        return resolve(request)
    except ChorusError:
        return resolve(replace(request, env=PRESETS[preset].home))


META = {
    "processor": "a processor",
    "chorus": "0.1.0",
    "python": "3.11.7",
    "platform": "Linux-test",
    "packages": {"jax": "0.10.2", "numpy": "2.4.6"},
    "command": ["chorus", "train"],
    "commit": None,
}


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content))


def write_study(
    parent: Path,
    *,
    presets: Sequence[str] = ("double-dqn", "bootstrapped-dqn", "cerl", "tandem"),
    envs: Sequence[str] = MINATAR,
    seeds: int = 5,
    base: Callable[[str], float] = lambda env: 10.0,
    noise: float = 0.3,
    **fields: Any,
) -> Path:
    """Every preset x environment x seed, each policy at its level times the environment's base return."""
    for preset in presets:
        for env in envs:
            for seed in range(seeds):
                levels = LEVELS.get(preset) or (
                    {"individual": 0.8, "aggregate": 1.1} if option_applies("members", preset) else {"individual": 1.0}
                )
                entropy = {"bootstrapped-dqn": 0.9, "cerl": 0.8}.get(preset)
                SyntheticRun(
                    preset=preset,
                    env=env,
                    seed=seed,
                    level={policy: level * base(env) for policy, level in levels.items()},
                    noise=noise,
                    entropy=entropy,
                    **fields,
                ).write(parent)
    return parent
