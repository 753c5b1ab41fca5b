"""Data for other tools, and curves from them: CSV files, rliable's score matrices, Dopamine's names and formats.

Imported curves have the role `published`: they are drawn and tabulated, and nothing is compared with them. Dopamine's
published values are returns during training; ours are evaluations. `chorus.analysis.beside` shows whole runs so.
"""

import codecs
import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from chorus.analysis.loading import Dataset, assemble
from chorus.analysis.results import Results
from chorus.analysis.wording import spreadsheet_cell
from chorus.envs.atari_games import find_game
from chorus.errors import ChorusError
from chorus.files import parse_json, replacing, write_text
from chorus.runs.logs import EVALUATION, LARGEST_COUNT, LARGEST_VALUE, MetricColumns, Run

LONG_COLUMNS = ("run", "env", "algorithm", "seed", "iteration", "step", "frames", "metric", "value")
# A score is the mean of the last `averaged` of a run's `evaluations`.
FINAL_COLUMNS = (
    "env",
    "algorithm",
    "policy",
    "seed",
    "run",
    "score",
    "averaged",
    "evaluations",
    "last_step",
    "finished",
)
# Names of an ensemble's policies in the authors' fork of Dopamine.
DOPAMINE_POLICY = {"individual": "Random", "aggregate": "Vote", "active": "Active", "passive": "Passive"}
DOPAMINE_TRAINING = {"charts/episodic_return": "Train/AverageReturns", "losses/td_loss": "Train/Loss"}
_IMPORTED_METRIC = "eval/individual/episodic_return"
DOPAMINE_ITERATION_STEPS = 250_000
DOPAMINE_ACTION_REPEAT = 4
# Names that an array cannot have: NumPy's own arguments, and the columns' names.
_TAKEN_BY_SAVEZ = ("file", "args", "allow_pickle", "environments")
_CSV_COLUMNS = ("env", "algorithm", "return")


def export_all(dataset: Dataset, folder: Path) -> list[Path]:
    """Writes every export and returns the files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [
            export_long(dataset, folder / "long.csv"),
            export_final_scores(dataset, folder / "final_scores.csv"),
            export_rliable(dataset, folder / "scores.npz"),
            export_dopamine_metrics(dataset, folder / "dopamine_metrics.json"),
            *export_dopamine_baselines(dataset, folder / "dopamine"),
        ]
    except OSError as error:
        raise ChorusError(f"{folder} could not be written ({error.strerror}); choose another --export.") from error


def export_long(dataset: Dataset, path: Path) -> Path:
    """One row per logged number."""
    return _write_csv(path, LONG_COLUMNS, _long_rows(dataset))


def export_final_scores(dataset: Dataset, path: Path) -> Path:
    """One row per run and policy."""
    results = Results(dataset)
    rows = []
    for series in results.series:
        for env in results.envs:
            final = results.final(series, env)
            if final is None:
                continue
            for score, run, seed, window in zip(final.values, final.runs, final.seeds, final.windows, strict=True):
                name = dataset.runs[run].name
                end = (window.last, window.of, final.last_step, final.finished)
                rows.append((env, series.variant.label, series.policy, seed, name, float(score), *end))
    return _write_csv(path, FINAL_COLUMNS, rows)


def export_rliable(dataset: Dataset, path: Path) -> Path:
    """One (runs x tasks) matrix of raw returns per series, under its label; `environments` names the columns.

    Missing runs are NaN.
    """
    results = Results(dataset)
    matrices: dict[str, np.ndarray] = {}
    for series in results.series:
        name = series.label.replace("/", "-")
        while name in matrices or name in _TAKEN_BY_SAVEZ:
            name += "_"
        matrices[name] = results.score_matrix(series, results.envs)
    with replacing(path) as file:
        np.savez(file, environments=np.array(results.envs), **matrices)  # type: ignore[arg-type]
    return path


def export_dopamine_metrics(dataset: Dataset, path: Path) -> Path:
    """One list per run with one object per iteration, under Dopamine's metric names."""
    content = {}
    for position, run in enumerate(dataset.runs):
        members = next(v.members for v in dataset.variants if position in v.runs)
        iterations: dict[int, dict[str, Any]] = {}
        rows, table = dataset.rows_of_run[position], dataset.table
        for number, iteration, value in zip(table.metric[rows], table.iteration[rows], table.value[rows], strict=True):
            name = dopamine_name(dataset.metrics[number], members)
            if name:
                entry = iterations.setdefault(int(iteration), {"iteration": int(iteration)})
                entry[name] = float(value)
        content[run.name] = [iterations[key] for key in sorted(iterations)]
    write_text(path, json.dumps(content, indent=1))
    return path


def dopamine_name(metric: str, members: int) -> str | None:
    """Dopamine's name of a metric; None if it has no such metric."""
    if metric in DOPAMINE_TRAINING:
        return DOPAMINE_TRAINING[metric]
    match = EVALUATION.fullmatch(metric)
    if match and match[1] in DOPAMINE_POLICY:
        return "Eval/AverageReturns" if members == 1 else f"Eval/{DOPAMINE_POLICY[match[1]]}/AverageReturns"
    kind, _, policy = metric.rpartition("/")
    if kind == "diversity/vote_entropy" and policy in DOPAMINE_POLICY:
        return f"Eval/{DOPAMINE_POLICY[policy]}/Entropy"
    return None


def export_dopamine_baselines(dataset: Dataset, folder: Path) -> list[Path]:
    """One file per environment in the format of Dopamine's published baselines; iterations count from 0."""
    folder.mkdir(parents=True, exist_ok=True)
    results = Results(dataset)
    written = []
    for env in results.envs:
        records = []
        for series in results.series:
            curve = results.curve(series, env)
            for run in curve.values if curve else ():
                present = run[np.isfinite(run)]
                records += [
                    {"Iteration": number, "Value": float(value), "Agent": series.label}
                    for number, value in enumerate(present)
                ]
        path = folder / f"{file_stem(env)}.json"
        write_text(path, json.dumps(records, indent=1))
        written.append(path)
    return written


def file_stem(env: str) -> str:
    """`ALE/SpaceInvaders-v5` becomes `spaceinvaders`, as in Dopamine; of other ids the letters and digits remain."""
    name = find_game(env) or env
    return "".join(c for c in name.lower() if c.isalnum()) or "environment"


def _long_rows(dataset: Dataset) -> Iterator[tuple[Any, ...]]:
    labels = {run: variant.label for variant in dataset.variants for run in variant.runs}
    table = dataset.table
    for position, run in enumerate(dataset.runs):
        rows = dataset.rows_of_run[position]
        head = (run.name, run.env, labels[position], run.seed)
        columns = (table.iteration, table.step, table.frames, table.metric, table.value)
        for iteration, step, frames, metric, value in zip(*(c[rows].tolist() for c in columns), strict=True):
            yield (*head, iteration, step, frames, dataset.metrics[metric], value)


def _write_csv(path: Path, columns: tuple[str, ...], rows: Any) -> Path:
    with replacing(path) as file:
        writer = csv.writer(codecs.getwriter("utf-8")(file), lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(map(spreadsheet_cell, row) for row in rows)
    return path


@dataclass
class ImportedCurve:
    """The curve of one run."""

    env: str
    algorithm: str
    seed: int
    source: Path
    points: list[tuple[int, int, int, float]] = field(default_factory=list)  # iteration, step, frames, return


def load_curves(paths: Sequence[Path | str], envs: Sequence[str] = ()) -> Dataset:
    """Reads published curves; the names of Dopamine files are matched with `envs`."""
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
    return assemble(runs, [_columns(curve) for curve in curves], (_IMPORTED_METRIC,))


def read_dopamine(path: Path, text: str, envs: Sequence[str]) -> list[ImportedCurve]:
    """Curves of a list of {Iteration, Value, Agent}; a new run starts where the iteration does not increase."""
    try:
        records = parse_json(text)
        entries = [(str(r["Agent"]), _count(r["Iteration"]), _finite(r["Value"])) for r in records]
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise ChorusError(
            f"{path} is not a Dopamine baseline file ({error}); it must be a JSON list of objects with Agent, "
            "Iteration and Value."
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
    """Curves of a table with the columns env, algorithm, return and step (or frames); seed is optional."""
    try:
        rows = list(csv.DictReader(text.splitlines()))
    except csv.Error as error:
        raise ChorusError(f"{path} is not a CSV file ({error}); it needs env,algorithm,step,return.") from error
    columns = set(rows[0]) if rows else set()
    if missing := [name for name in _CSV_COLUMNS if name not in columns]:
        raise ChorusError(f"{path} lacks the column {', '.join(missing)}; it needs env,algorithm,step,return.")
    if not columns & {"step", "frames"}:
        raise ChorusError(f"{path} lacks the column step (or frames); it needs env,algorithm,step,return.")
    found: dict[tuple[str, str, int], ImportedCurve] = {}
    for line, row in enumerate(rows, start=2):
        try:
            seed = _count(row.get("seed") or 0)
            step = _count(row.get("step") or row["frames"])
            frames = _count(row.get("frames") or step)
            value = _finite(row["return"])
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise ChorusError(f"{path}, line {line}: {error}; every field must be a number.") from error
        if not (row["env"] and row["algorithm"]):
            raise ChorusError(f"{path}, line {line} names no environment or no algorithm; it needs both.")
        key = (row["env"], row["algorithm"], seed)
        curve = found.setdefault(key, ImportedCurve(*key, path))
        curve.points.append((len(curve.points), step, frames, value))
    for curve in found.values():
        curve.points = _numbered(sorted(curve.points, key=lambda point: point[1]))
    return list(found.values())


def _numbered(points: Iterable[tuple[int, int, int, float]]) -> list[tuple[int, int, int, float]]:
    return [(number, *rest) for number, (_, *rest) in enumerate(points)]  # type: ignore[misc]


def _count(value: Any) -> int:
    number = int(float(value))
    if not 0 <= number <= LARGEST_COUNT:
        raise ValueError(f"{value!r} is not a count between 0 and {LARGEST_COUNT}")
    return number


def _finite(value: Any) -> float:
    number = float(value)
    if not abs(number) <= LARGEST_VALUE:
        raise ValueError(f"{value!r} is not finite, or too large")
    return number


def _run(curve: ImportedCurve) -> Run:
    title = f"{curve.algorithm}, published"
    return Run(
        path=curve.source,
        env=curve.env,
        preset=title,
        seed=curve.seed,
        config={"preset": curve.algorithm, "seed": curve.seed, "env": {"id": curve.env}, "agent": {"members": 1}},
        meta={"identity": {"title": title, "role": "published", "group": "published"}},
        state="finished",
        last_step=max(step for _, step, _, _ in curve.points),
    )


def _columns(curve: ImportedCurve) -> MetricColumns:
    iteration, step, frames, value = (np.array(column) for column in zip(*curve.points, strict=True))
    return MetricColumns(np.zeros(len(value), np.int32), iteration, step, frames, value.astype(np.float64))
