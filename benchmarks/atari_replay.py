"""The replay of Atari: bytes a row, and the time of one batch of raw frames.

One million transitions are the paper's run; `--transitions 4000000` fills a ring that is larger than the memory of a
24 GB machine, prints what it takes and records nothing.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import harness
from chorus.config.resolution import Request, resolve
from chorus.replay.columns import row_bytes
from chorus.replay.layout import RingLayout
from chorus.replay.ring import Ring
from chorus.replay.samplers import Shared
from chorus.runs.assembly import Assembly
from chorus.runs.resources import allocated_bytes, free_memory_bytes, ring_layout

PAPER_TRANSITIONS = 1_000_000
EPISODE_STEPS, BATCH, ROUNDS, KINDS_OF_FRAMES = 1_000, 32, 2_001, 2_000
# More lanes than the paper's one fill a ring in fewer calls; neither a row's size nor a batch depends on them.
LANES = 8


def fill(ring: Ring) -> None:
    """A full window of episodes of a thousand steps, added as training adds them."""
    rng, layout = np.random.default_rng(0), ring.layout
    lanes, steps = np.arange(layout.lanes), layout.lane_capacity
    frames = rng.integers(0, 256, (KINDS_OF_FRAMES, 1, *layout.observation_shape[1:])).astype(np.uint8)
    zeros, never = np.zeros(layout.lanes, np.int32), np.zeros(layout.lanes, bool)
    ring.begin(frames[lanes], lanes)
    began = told = time.monotonic()
    for step in range(1, steps + 1):
        seen = frames[(step * layout.lanes + lanes) % KINDS_OF_FRAMES]
        over = step % EPISODE_STEPS == 0
        ring.add(zeros, zeros, never | over, never, zeros, seen)
        if over:
            ring.begin(seen, lanes)
        if time.monotonic() - told > 10:
            told = time.monotonic()
            left = (told - began) * (steps / step - 1)
            print(f"  filled {step * layout.lanes:,} of {layout.capacity:,}, about {left:.0f} s left", flush=True)


def resident_gigabytes() -> dict[str, float]:
    """This process's memory: its own, and pages of its files, which make way when others need them."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {kind: int(fields[name].split()[0]) / 1e6 for kind, name in (("own", "RssAnon"), ("of files", "RssFile"))}


def sample_seconds(ring: Ring, steps: int) -> list[float]:
    """Each batch by itself: the median says what a warm one takes, the mean includes what waits for the disk."""
    rng, seconds = np.random.default_rng(steps), []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        Shared().sample(ring, rng, BATCH, steps, members=1)
        seconds.append(time.perf_counter() - began)
    return seconds


def measure(layout: RingLayout, folder: Path) -> tuple[dict[str, float], dict[str, str]]:
    ring, free = Ring(layout, folder), free_memory_bytes()
    began = time.perf_counter()
    fill(ring)
    filled = time.perf_counter()
    ring.columns.flush()
    flushed = time.perf_counter()
    seconds = {steps: sample_seconds(ring, steps) for steps in (1, 3)}
    medians = {steps: 1e3 * statistics.median(values) for steps, values in seconds.items()}
    results = {
        "replay_bytes_a_row": row_bytes(layout.types()),
        "replay_bytes_a_transition": layout.total_bytes / layout.capacity,
        "replay_sample_ms": medians[1],
        "replay_sample_3_step_ms": medians[3],
    }
    memory = ", ".join(f"{size:.2f} GB {kind}" for kind, size in resident_gigabytes().items())
    facts = {
        "ring": f"{len(ring):,} transitions, {layout.rows * layout.lanes:,} rows in {layout.lanes} lane(s), files of "
        f"{layout.total_bytes / 1e9:.1f} GB of which {allocated_bytes(folder) / 1e9:.1f} GB are on disk",
        "filled": f"in {filled - began:.0f} s, flushed in {flushed - filled:.0f} s more",
        "memory": f"{memory} in the process; {(free or 0) / 1e9:.1f} GB were free",
        "batch": f"{BATCH} x (s, s') as raw frames, median of {ROUNDS:,}",
        "mean, slowest of a hundred": f"{1e3 * statistics.mean(seconds[1]):.3g} ms, "
        f"{1e3 * np.percentile(seconds[1], 99):.3g} ms",
    }
    return results, facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transitions", type=int, default=PAPER_TRANSITIONS, help="capacity (default: %(default)s)")
    parser.add_argument("--folder", type=Path, help="where the ring's files are made (default: the temporary folder)")
    args = parser.parse_args()
    config = resolve(Request(preset="bootstrapped-dqn", env="ALE/Breakout-v5", scale="paper")).config
    layout = replace(ring_layout(config, Assembly.of(config).spec), capacity=args.transitions, lanes=LANES)
    folder = Path(tempfile.mkdtemp(prefix="chorus-replay-", dir=args.folder))
    try:
        results, facts = measure(layout, folder)
    finally:
        shutil.rmtree(folder)
    harness.report("Replay of Atari", facts, results)
    if args.transitions == PAPER_TRANSITIONS:
        harness.record(results, "atari_replay")


if __name__ == "__main__":
    main()
