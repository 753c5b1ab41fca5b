"""Published curves beside one's own: Dopamine's baseline JSON files and plain CSV files.

Imported curves get the role `published`: they are drawn and tabulated, and never serve as the reference
that answers are measured against. Dopamine's published values are returns during training, ours are
evaluations.
"""

import csv
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from chorus.analysis.exports import file_stem
from chorus.analysis.loading import Dataset, assemble
from chorus.analysis.runs import Rows, Run
from chorus.errors import ChorusError

METRIC = "eval/individual/episodic_return"
DOPAMINE_ITERATION_STEPS = 250_000
DOPAMINE_ACTION_REPEAT = 4
CSV_NEEDS = ("env", "algorithm", "return")


@dataclass
class ImportedCurve:
    """One run's curve, as read."""

    env: str
    algorithm: str
    seed: int
    source: Path
    points: list[tuple[int, int, int, float]] = field(default_factory=list)  # iteration, step, frames, return


def load_curves(paths: Sequence[Path | str], envs: Sequence[str] = ()) -> Dataset:
    """Reads published curves; `envs` are one's own environments, which file names are matched with."""
    curves: list[ImportedCurve] = []
    for path in map(Path, paths):
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise ChorusError(f"{path} could not be read ({error}); pass a JSON or a CSV file.") from error
        curves += read_csv(path, text) if path.suffix.lower() == ".csv" else read_dopamine(path, text, envs)
    if not curves:
        raise ChorusError(f"{', '.join(map(str, paths))} holds no curve; check that the files are not empty.")
    runs = [_run(curve) for curve in curves]
    return assemble(runs, [_rows(curve) for curve in curves], (METRIC,))


def read_dopamine(path: Path, text: str, envs: Sequence[str]) -> list[ImportedCurve]:
    """A list of {Iteration, Value, Agent}, runs one after the other: a run ends where the iteration falls
    back.
    """
    try:
        records = json.loads(text)
        entries = [(str(r["Agent"]), int(r["Iteration"]), _finite(r["Value"])) for r in records]
    except (ValueError, TypeError, KeyError) as error:
        raise ChorusError(
            f"{path} is no Dopamine baseline file ({error}); it must be a JSON list of objects with Agent, "
            "Iteration "
            "and Value."
        ) from error
    env = next((env for env in envs if file_stem(env) == file_stem(path.stem)), f"ALE/{path.stem}")
    curves: list[ImportedCurve] = []
    latest: dict[str, ImportedCurve] = {}
    for agent, iteration, value in entries:
        curve = latest.get(agent)
        if curve is None or iteration <= curve.points[-1][0]:
            seed = sum(c.algorithm == agent for c in curves)
            curve = latest[agent] = ImportedCurve(env, agent, seed, path)
            curves.append(curve)
        step = (iteration + 1) * DOPAMINE_ITERATION_STEPS
        curve.points.append((iteration, step, step * DOPAMINE_ACTION_REPEAT, value))
    return curves


def read_csv(path: Path, text: str) -> list[ImportedCurve]:
    """Columns env, algorithm, return and step (or frames); seed is optional."""
    rows = list(csv.DictReader(text.splitlines()))
    columns = set(rows[0]) if rows else set()
    if missing := [name for name in CSV_NEEDS if name not in columns]:
        raise ChorusError(f"{path} lacks the column {', '.join(missing)}; it needs env,algorithm,step,return.")
    if not columns & {"step", "frames"}:
        raise ChorusError(f"{path} lacks the column step (or frames); it needs env,algorithm,step,return.")
    found: dict[tuple[str, str, int], ImportedCurve] = {}
    for line, row in enumerate(rows, start=2):
        try:
            seed = int(row.get("seed") or 0)
            step = int(float(row.get("step") or row["frames"]))
            frames = int(float(row.get("frames") or step))
            value = _finite(row["return"])
        except (ValueError, TypeError, KeyError) as error:
            raise ChorusError(f"{path}, line {line}: {error}; every field must be a number.") from error
        key = (row["env"], row["algorithm"], seed)
        curve = found.setdefault(key, ImportedCurve(*key, path))
        curve.points.append((len(curve.points), step, frames, value))
    for curve in found.values():
        curve.points = _numbered(sorted(curve.points, key=lambda point: point[1]))
    return list(found.values())


def _numbered(points: Iterable[tuple[int, int, int, float]]) -> list[tuple[int, int, int, float]]:
    return [(number, *rest) for number, (_, *rest) in enumerate(points)]  # type: ignore[misc]


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not finite")
    return number


def _run(curve: ImportedCurve) -> Run:
    config = {
        "preset": curve.algorithm,
        "seed": curve.seed,
        "env": {"id": curve.env},
        "agent": {"members": 1, "value_map": {"kind": "published"}},
        "source": curve.source.name,
    }
    return Run(
        path=curve.source,
        env=curve.env,
        preset=f"{curve.algorithm}, published",
        seed=curve.seed,
        config=config,
        meta={},
        state="finished",
        reason=None,
        last_step=max(step for _, step, _, _ in curve.points),
        last_iteration=curve.points[-1][0],
        damaged_lines=0,
        repeated_lines=0,
        problems=(),
    )


def _rows(curve: ImportedCurve) -> Rows:
    iteration, step, frames, value = (np.array(column) for column in zip(*curve.points, strict=True))
    return Rows(np.zeros(len(value), np.int32), iteration, step, frames, value.astype(np.float64))
