"""The reader of `timings.jsonl`, which holds all that depends on the clock. Free of JAX."""

import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from chorus.runs.logs import read_records


def disk_use(path: Path) -> tuple[float, float] | None:
    """The peak disk use of a run and the mean size of a checkpoint, in megabytes; None if they were not logged."""
    peak, checkpoints = (read_timings(path, f"system/{name}_megabytes") for name in ("disk", "checkpoint"))
    if not (peak and checkpoints):
        return None
    return max(value for _, value in peak), float(np.mean([value for _, value in checkpoints]))


CPU_SECONDS = "system/train_cpu_seconds"


def training_seconds_per_step(path: Path, *, cpu: bool = False) -> float | None:
    """Seconds of training per agent step of a run: the median over its iterations; with `cpu`, of processor time.

    Evaluation, diagnostics and checkpoints are timed apart and not counted. The first iteration is left out, because
    programs are compiled in it and learning has yet to start. None if no later one was timed.
    """
    rates, spent = dict(read_timings(path, "charts/SPS")), dict(read_timings(path, "time/train_seconds"))
    seconds = {iteration: 1.0 / rate for iteration, rate in rates.items() if iteration != 1 and rate > 0}
    if cpu:
        busy = dict(read_timings(path, CPU_SECONDS))
        both = [iteration for iteration in seconds if iteration in busy and spent.get(iteration, 0.0) > 0]
        seconds = {iteration: seconds[iteration] * busy[iteration] / spent[iteration] for iteration in both}
    return float(np.median(list(seconds.values()))) if seconds else None


def read_timings(path: Path, metric: str) -> list[tuple[int, float]]:
    """One metric of a run's timings, in file order: the iteration and the value."""
    return [(iteration, value) for iteration, name, value in _timings(path) if name == metric]


def _timings(path: Path) -> Iterator[tuple[int, str, float]]:
    """Iteration, metric and value of every record that has them; damaged ones are left out."""
    for record in read_records(path / "timings.jsonl"):
        iteration, metric, value = (record.get(name) for name in ("iteration", "metric", "value"))
        if type(iteration) is int and isinstance(metric, str) and isinstance(value, int | float):
            with suppress(OverflowError):
                if math.isfinite(number := float(value)):
                    yield iteration, metric, number


def recorded_seconds(path: Path) -> float | None:
    """The seconds that a run spent in training, evaluation, measurements and checkpoints; None if not recorded."""
    # A resumed run may repeat an iteration: the last one counts.
    found = {(iteration, name): value for iteration, name, value in _timings(path) if name.startswith("time/")}
    total = sum(found.values())
    return total if found and math.isfinite(total) else None
