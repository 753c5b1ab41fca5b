"""Learning curves as text: one character per evaluation, for a terminal."""

import math
from collections.abc import Sequence
from pathlib import Path

from chorus.runs.logs import EVALUATION, read_records

_LEVELS = "▁▂▃▄▅▆▇█"
# Longer curves are thinned out, so that two policies fit into a line.
_WIDTH = 24
_POLICIES = 2


def sparkline(values: Sequence[float], low: float, high: float) -> str:
    """One block per value, its height the value's place between `low` and `high`; a point where it is not finite."""
    steps = len(_LEVELS) - 1
    height = high - low
    return "".join(
        _LEVELS[round(steps * (value - low) / height) if height > 0 else 0] if math.isfinite(value) else "·"
        for value in values
    )


def learning_curves(run: Path) -> str:
    """The mean returns of a run's first two policies at each evaluation, on one scale, with the first and the last one;
    empty if it has none."""
    returns: dict[str, list[float]] = {}
    for record in read_records(run / "metrics.jsonl"):
        match = EVALUATION.fullmatch(str(record.get("metric")))
        if match and isinstance(value := record.get("value"), int | float):
            returns.setdefault(match[1], []).append(value)
    shown = {policy: _thinned(values) for policy, values in list(returns.items())[:_POLICIES]}
    finite = [value for values in shown.values() for value in values if math.isfinite(value)]
    if not finite:
        return ""
    return ", ".join(
        f"{policy} {sparkline(values, min(finite), max(finite))} {values[0]:.1f} → {values[-1]:.1f}"
        for policy, values in shown.items()
    )


def _thinned(values: Sequence[float]) -> list[float]:
    """At most `_WIDTH` values at equal distances, the first and the last among them."""
    if len(values) <= _WIDTH:
        return list(values)
    return [values[round(i * (len(values) - 1) / (_WIDTH - 1))] for i in range(_WIDTH)]
