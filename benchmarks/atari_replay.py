"""The replay of Atari at one million transitions: bytes a row, and the time of one batch of raw frames."""

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks import harness
from chorus.experiments.assemble import Assembly
from chorus.experiments.resolve import Request, resolve
from chorus.replay.columns import row_bytes
from chorus.replay.ring import TERMINATED, TRANSITION, Cursor, Ring
from chorus.replay.samplers import Shared

EPISODE_STEPS, BATCH, ROUNDS, ROWS_AT_ONCE = 1_000, 32, 2_001, 2_000


def fill(ring: Ring) -> None:
    """A full window of episodes of a thousand steps, written row after row into the mapped files."""
    rng, layout = np.random.default_rng(0), ring.layout
    rows = layout.capacity + layout.capacity // EPISODE_STEPS
    frames = rng.integers(0, 256, (ROWS_AT_ONCE, *layout.observation_shape[1:])).astype(np.uint8)
    for start in range(0, rows, ROWS_AT_ONCE):
        piece = ring.columns.arrays["observation"][0, start : min(start + ROWS_AT_ONCE, rows)]
        piece[:] = frames[: len(piece)]
    place = np.arange(rows) % (EPISODE_STEPS + 1)
    flags = np.where(place == EPISODE_STEPS, 0, TRANSITION) + np.where(place == EPISODE_STEPS - 1, TERMINATED, 0)
    ring.columns.arrays["flags"][0, :rows] = flags
    ring.cursor = Cursor(*(np.array([value], np.int64) for value in (rows, 0, layout.capacity)))


def main() -> None:
    config = resolve(Request(preset="bootstrapped-dqn", env="ALE/Breakout-v5", scale="paper")).config
    layout = Assembly.of(config).ring_layout()
    folder = Path(tempfile.mkdtemp(prefix="chorus-replay-"))
    try:
        ring, rng = Ring(layout, folder), np.random.default_rng(1)
        began = time.perf_counter()
        fill(ring)
        filling = time.perf_counter() - began
        seconds = harness.interleaved(
            {f"n = {n}": lambda n=n: Shared().sample(ring, rng, BATCH, n, members=1).batch.observation for n in (1, 3)},
            rounds=ROUNDS,
        )
    finally:
        shutil.rmtree(folder)
    results = {
        "replay_bytes_a_row": row_bytes(layout.types()),
        "replay_bytes_a_transition": layout.total_bytes / layout.capacity,
        "replay_sample_ms": 1e3 * seconds["n = 1"],
        "replay_sample_3_step_ms": 1e3 * seconds["n = 3"],
    }
    facts = {
        "ring": f"{layout.capacity:,} transitions, {layout.rows:,} rows, {layout.total_bytes / 1e9:.1f} GB of files",
        "filled": f"{layout.capacity * row_bytes(layout.types()) / 1e9:.1f} GB in {filling:.0f} s",
        "batch": f"{BATCH} x (s, s') as raw frames, median of {ROUNDS:,}",
    }
    harness.report("Replay of Atari", facts, results)
    harness.record(results, "atari_replay")


if __name__ == "__main__":
    main()
