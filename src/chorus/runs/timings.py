"""The reader of `timings.jsonl`, which holds all that depends on the clock. Free of JAX."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from chorus.runs.logs import read_records


def disk_use(path: Path) -> tuple[float, float] | None:
    """The peak disk use of a run and the mean size of a checkpoint, in megabytes; None if they were not logged."""
    peak, checkpoints = (read_timings(path, f"system/{name}_megabytes") for name in ("disk", "checkpoint"))
    if not (peak and checkpoints):
        return None
    return max(value for _, value in peak), float(np.mean([value for _, value in checkpoints]))


def training_seconds_per_step(path: Path) -> float | None:
    """Seconds of training per agent step of a run: the median over its iterations.

    Evaluation, diagnostics and checkpoints are timed apart and not counted. The first iteration is left out, because
    programs are compiled in it and learning has yet to start. None if no later one was timed.
    """
    rates = dict(read_timings(path, "charts/SPS"))
    later = [1.0 / rate for iteration, rate in rates.items() if iteration != 1 and rate > 0]
    return float(np.median(later)) if later else None


def read_timings(path: Path, metric: str) -> list[tuple[Any, float]]:
    """One metric of a run's timings, in file order: the iteration and the value."""
    return [
        (record.get("iteration"), record["value"])
        for record in read_records(path / "timings.jsonl")
        if record.get("metric") == metric and isinstance(record.get("value"), int | float)
    ]


def recorded_seconds(path: Path) -> float | None:
    """The seconds that a run spent in training, evaluation, measurements and checkpoints; None if not recorded."""
    found: dict[tuple[object, str], float] = {}  # a resumed run may repeat an iteration: the last one counts
    for record in read_records(path / "timings.jsonl"):
        name, value = record.get("metric"), record.get("value")
        if isinstance(name, str) and name.startswith("time/") and isinstance(value, int | float):
            found[str(record.get("iteration")), name] = float(value)
    total = sum(found.values())
    return total if found and math.isfinite(total) else None
