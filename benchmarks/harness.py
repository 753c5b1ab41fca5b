"""What every benchmark needs: fair timing, the matrix-product rate to compare with, and a place for results."""

import json
import math
import os
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp

from chorus.agents.agent import Agent
from chorus.networks.layers import Dense, init_layer
from chorus.networks.torsos import Torso
from chorus.replay.batch import Batch
from chorus.runs.machine import processor

HERE = Path(__file__).parent
LATEST, HISTORY = HERE / "latest.json", HERE / "history.jsonl"
MATMUL_SIZE = 2048


def interleaved(actions: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Seconds of each action in its best turn: what else the machine does only ever adds.

    They take turns, so that all meet the same machine. A turn lasts at least `_TURN_SECONDS` and starts with a call
    that is not timed, because an action that follows another finds the caches full of its data, and in training
    updates follow updates.
    """
    repeats = {name: _repeats(action) for name, action in actions.items()}
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            jax.block_until_ready(action())
            seconds[name].append(_mean_seconds(action, repeats[name]))
    return {name: min(values) for name, values in seconds.items()}


_TURN_SECONDS = 0.1


def _repeats(action: Callable[[], object]) -> int:
    jax.block_until_ready(action())
    return max(1, round(_TURN_SECONDS / _mean_seconds(action, 1)))


def _mean_seconds(action: Callable[[], object], repeats: int) -> float:
    began = time.perf_counter()
    for _ in range(repeats):
        jax.block_until_ready(action())
    return (time.perf_counter() - began) / repeats


class Updating:
    """An agent that makes the next update each time it is called; its old state is donated."""

    def __init__(self, agent: Agent, batch: Batch) -> None:
        self._agent, self._batch = agent, batch
        self._state = agent.init(jax.random.key(0))

    def __call__(self) -> object:
        self._state, _ = self._agent.update(self._state, self._batch)
        return self._state.updates, self._state.params


def matmul() -> Callable[[], object]:
    """One float32 product of two square matrices, `MATMUL_FLOP` operations."""
    x = jax.random.normal(jax.random.key(0), (MATMUL_SIZE, MATMUL_SIZE))
    product = jax.jit(lambda a: a @ a)
    return lambda: product(x)


MATMUL_FLOP = 2 * MATMUL_SIZE**3


def update_flop(torso: Torso, shape: tuple[int, ...], actions: int, members: int, batch: int) -> int:
    """Multiplications and additions of one Double-DQN update.

    Three forward passes (online on s and s', target on s') and one backward pass of twice a forward pass, less the
    gradient of the first layer's input, which nobody needs. Heads beyond the main ones are not counted.
    """
    layers, x = [], jax.ShapeDtypeStruct((*shape[::-1], 1), jnp.float32)
    for layer in (*torso.layers(), Dense(features=actions)):
        params, x = jax.eval_shape(partial(init_layer, layer), jax.random.key(0), x)
        positions = math.prod(x.shape[1:-1])
        layers.append(2 * math.prod(params["kernel"].shape) * positions)
    return batch * members * (5 * sum(layers) - layers[0])


def record(results: dict[str, float], about: str) -> None:
    """Merge into the latest results and append to their history."""
    rounded = {name: float(f"{value:.4g}") for name, value in results.items()}
    latest = json.loads(LATEST.read_text()) if LATEST.exists() else {}
    LATEST.write_text(json.dumps(dict(sorted({**latest, **rounded}.items())), indent=2) + "\n")
    about_run = {"commit": _commit(), "cores": os.cpu_count(), "processor": processor(), "threads": threads()}
    entry = {"benchmark": about, **about_run, **rounded}
    with HISTORY.open("a") as file:
        file.write(json.dumps(entry) + "\n")


def threads() -> int:
    return int(os.environ.get("NPROC", os.cpu_count() or 1))


def _commit() -> str:
    """The commit that was measured, `-dirty` if the sources differ from it; what benchmarks write does not count."""
    written = [f":!{HERE.name}/{path.name}" for path in (LATEST, HISTORY)]
    commit = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", "src", "benchmarks", *written)
    return f"{commit}-dirty" if commit and changed else commit or "unknown"


def _git(*arguments: str) -> str:
    return subprocess.run(["git", "-C", str(HERE.parent), *arguments], capture_output=True, text=True).stdout.strip()


def report(title: str, facts: dict[str, str], results: dict[str, float]) -> None:
    """The numbers, and what is needed to understand them."""
    print(f"\n{title}\n  {'processor':<38} {processor()}")
    for name, fact in facts.items():
        print(f"  {name:<38} {fact}")
    for name, value in results.items():
        print(f"  {name:<38} {value:.4g}")
