"""Run directories with known means, in the format of docs/run-directory.md, for tests that must not train anything."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

MINATAR = ("MinAtar/Asterix-v1", "MinAtar/Breakout-v1", "MinAtar/SpaceInvaders-v1")
ATARI4 = ("ALE/Amidar-v5", "ALE/SpaceInvaders-v5", "ALE/Breakout-v5", "ALE/Seaquest-v5")

AGENTS: dict[str, dict[str, Any]] = {
    "double-dqn": {"members": 1},
    "bootstrapped-dqn": {"members": 10},
    "cerl": {"members": 10, "value_map": {"kind": "cross"}},
    "cerl-self-target": {"members": 10, "value_map": {"kind": "cross_own"}},
    "tandem": {"members": 2},
    "double-dqn-mh": {"members": 1, "value_map": {"kind": "horizons", "horizons": [100, 50, 10]}},
    "bootstrapped-dqn-mh": {"members": 10, "value_map": {"kind": "horizons", "horizons": [100, 50, 10]}},
    "double-dqn-mico": {"members": 1, "auxiliary": {"kind": "mico"}},
    "bootstrapped-dqn-mico": {"members": 10, "auxiliary": {"kind": "mico"}},
    "qr-dqn": {"members": 1, "estimate": {"kind": "quantile"}},
    "bootstrapped-qr-dqn": {"members": 10, "estimate": {"kind": "quantile"}},
    "sac": {"members": 1, "kind": "sac"},
    "ensemble-sac": {"members": 10, "kind": "sac"},
    "ensemble-sac-cerl": {"members": 10, "kind": "sac", "value_map": {"kind": "cross"}},
}

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
    overrides: dict[str, Any] = field(default_factory=dict)
    name: str | None = None
    entropy: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)

    def write(self, parent: Path) -> Path:
        name = self.name or f"{self.env.replace('/', '-')}__{self.preset}__s{self.seed}"
        path = parent / name
        path.mkdir(parents=True)
        _write_json(path / "config.json", self.config())
        _write_json(path / "meta.json", META)
        status = {"state": self.state, "reason": self.reason, "iteration": self.iterations}
        _write_json(path / "status.json", status)
        rows = list(self.rows())
        (path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (path / "episodes.jsonl").write_text("")
        (path / "timings.jsonl").write_text("")
        return path

    def config(self) -> dict[str, Any]:
        planned = self.planned_iterations or self.iterations
        config: dict[str, Any] = {
            "preset": self.preset,
            "scale": "laptop",
            "hyperparameters": "code",
            "seed": self.seed,
            "env": {"id": self.env, "num_envs": 8, "max_episode_steps": None},
            "agent": {
                "shared_layers": 0,
                "value_map": {"kind": "members"},
                "estimate": {"kind": "scalar"},
                "auxiliary": {"kind": "no_auxiliary"},
                "prior_scale": 0.0,
                "discount": 0.99,
            }
            | AGENTS.get(self.preset, {"members": 3}),
            "acting": {"kind": "uniform"},
            "replay": {"capacity": 100_000, "batch_size": 32, "n_step": 1, "sampler": {"kind": "shared"}},
            "evaluation": {"episodes": 40, "policies": {policy: {"kind": "any"} for policy in self.level}},
            "runtime": {"threads": 1, "device": "cpu"},
            "schedule": {
                "total_steps": planned * self.iteration_steps,
                "iteration_steps": self.iteration_steps,
            },
        }
        if self.preset == "tandem":
            config["acting"] = {"kind": "tandem", "passive_share": 0.1}
        for dotted, value in self.overrides.items():
            *parents, last = dotted.split(".")
            part = config
            for parent in parents:
                part = part.setdefault(parent, {})
            part[last] = value
        return config

    def rows(self) -> Any:
        """Returns rise along 1 - exp(-5t) and are level for the last ten evaluations, so finals are known
        exactly.
        """
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


META = {
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
                    {"individual": 1.0} if AGENTS[preset]["members"] == 1 else {"individual": 0.8, "aggregate": 1.1}
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
