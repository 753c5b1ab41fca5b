"""The data behind a report for other tools: CSV, rliable's score matrices, Dopamine's names and formats."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from chorus.analysis.loading import EVALUATION, Dataset
from chorus.analysis.results import Results
from chorus.analysis.scores import atari_game
from chorus.errors import ChorusError

LONG_COLUMNS = ("run", "env", "algorithm", "seed", "iteration", "step", "frames", "metric", "value")
FINAL_COLUMNS = ("env", "algorithm", "policy", "seed", "run", "score", "evaluations", "last_step", "finished")
# What the authors' Dopamine fork calls the policies of an ensemble.
DOPAMINE_POLICY = {"individual": "Random", "aggregate": "Vote", "active": "Active", "passive": "Passive"}
DOPAMINE_TRAINING = {"charts/episodic_return": "Train/AverageReturns", "losses/td_loss": "Train/Loss"}


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
    """The long table: a row an evaluated or logged number."""
    return _write_csv(path, LONG_COLUMNS, _long_rows(dataset))


def export_final_scores(dataset: Dataset, path: Path) -> Path:
    """A row a run and policy: its final score, and what it is the mean of."""
    results = Results(dataset)
    rows = []
    for series in results.series:
        for env in results.envs:
            final = results.final(series, env)
            if final is None:
                continue
            for score, run, seed in zip(final.values, final.runs, final.seeds, strict=True):
                name = dataset.runs[run].name
                what = (final.evaluations, final.last_step, final.finished)
                rows.append((env, series.variant.label, series.policy, seed, name, float(score), *what))
    return _write_csv(path, FINAL_COLUMNS, rows)


def export_rliable(dataset: Dataset, path: Path) -> Path:
    """A (runs x tasks) matrix a series, under its label, and `environments` naming the columns.

    A seed that is missing in an environment is NaN; returns are raw, not normalised.
    """
    results = Results(dataset)
    matrices = {series.label.replace("/", "-"): results.score_matrix(series, results.envs) for series in results.series}
    with path.open("wb") as file:
        np.savez(file, environments=np.array(results.envs), **matrices)  # type: ignore[arg-type]
    return path


def export_dopamine_metrics(dataset: Dataset, path: Path) -> Path:
    """For each run a list with one object an iteration, under Dopamine's metric names."""
    content = {}
    for position, run in enumerate(dataset.runs):
        members = next(v.traits.members for v in dataset.variants if position in v.runs)
        iterations: dict[int, dict[str, Any]] = {}
        rows, table = dataset.rows_of_run[position], dataset.table
        for number, iteration, value in zip(table.metric[rows], table.iteration[rows], table.value[rows], strict=True):
            name = dopamine_name(dataset.metrics[number], members)
            if name:
                entry = iterations.setdefault(int(iteration), {"iteration": int(iteration)})
                entry[name] = float(value)
        content[run.name] = [iterations[key] for key in sorted(iterations)]
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return path


def dopamine_name(metric: str, members: int) -> str | None:
    """Our metric name as Dopamine's, or None where it has no counterpart."""
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
    """A file an environment in the format of Dopamine's published baselines; iterations count from 0."""
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
        path.write_text(json.dumps(records, indent=1), encoding="utf-8")
        written.append(path)
    return written


def file_stem(env: str) -> str:
    """`ALE/SpaceInvaders-v5` is spaceinvaders, as Dopamine names its files; other ids keep their letters."""
    name = atari_game(env) or env
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
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    return path
