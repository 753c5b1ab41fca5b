"""The tables of a page: final scores, runs, coverage, settings, versions."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chorus.analysis.context import describe_windows
from chorus.analysis.intervals import mean_estimate
from chorus.analysis.ledger import Entry
from chorus.analysis.loading import Dataset
from chorus.analysis.results import Results
from chorus.analysis.wording import seed_count, written
from chorus.components import short_number
from chorus.runs.logs import printable


@dataclass(frozen=True)
class Cell:
    """The text of a cell and its key for sorting."""

    text: str
    sort: float | str

    @property
    def number(self) -> bool:
        return not isinstance(self.sort, str)


@dataclass(frozen=True)
class Row:
    """A row; it is hidden with its series or its environment."""

    cells: tuple[Cell, ...]
    series: str | None = None
    env: str | None = None


@dataclass(frozen=True)
class Table:
    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def text_cell(text: str) -> Cell:
    shown = printable(text)
    return Cell(shown, shown)


def number_cell(value: float, text: str | None = None) -> Cell:
    """NaN is sorted last and shown as a dash."""
    missing = value != value
    return Cell("–" if missing else text or f"{value:.4g}", float("-inf") if missing else float(value))


def final_table(results: Results) -> Table:
    """Mean final return of every series in every environment, with Student-t interval and seed count."""
    rows = []
    for env in results.envs:
        for series in results.series:
            final = results.final(series, env)
            if final is None:
                continue
            found = mean_estimate(final.values)
            cells = (
                text_cell(env),
                text_cell(series.label),
                number_cell(found.value),
                number_cell(found.low),
                number_cell(found.high),
                number_cell(found.runs, str(found.runs)),
                number_cell(final.last_step, short_number(final.last_step)),
                number_cell(final.windows[0].last, describe_windows(final.windows)),
                text_cell(_remark(final.finished, final.left_out)),
            )
            rows.append(Row(cells, series.label, env))
    columns = (
        "Environment",
        "Algorithm",
        "Mean return",
        "95 % low",
        "95 % high",
        "Seeds",
        "Steps",
        "Mean of the",
        "Remark",
    )
    return Table("final-scores-table", columns, tuple(rows))


def _remark(finished: bool, left_out: int) -> str:
    if not finished:
        return "no run has finished: score so far"
    return f"{left_out} unfinished left out" if left_out else ""


def run_table(dataset: Dataset) -> Table:
    """One row per run directory, with its state and problems."""
    labels = {run: variant.label for variant in dataset.variants for run in variant.runs}
    rows = []
    for position, run in enumerate(dataset.runs):
        remarks = [*([run.reason] if run.reason else []), *run.problems]
        if run.repeated_lines:
            remarks.append(f"{run.repeated_lines} repeated lines, the last counted")
        cells = (
            text_cell(run.name),
            text_cell(run.env),
            text_cell(labels[position]),
            number_cell(run.seed, str(run.seed)),
            text_cell(run.state),
            number_cell(run.last_step, f"{run.last_step:,}"),
            number_cell(run.damaged_lines, str(run.damaged_lines)),
            text_cell("; ".join(remarks)),
        )
        rows.append(Row(cells, env=run.env))
    for unusable in dataset.unusable:
        blank = text_cell("")
        cells = (
            text_cell(unusable.path.name),
            blank,
            blank,
            blank,
            text_cell(unusable.state),
            blank,
            blank,
            text_cell(f"not used: {unusable.reason}"),
        )
        rows.append(Row(cells))
    columns = ("Run", "Environment", "Algorithm", "Seed", "State", "Last step", "Damaged lines", "Remark")
    return Table("runs-table", columns, tuple(rows))


def coverage_table(dataset: Dataset) -> Table:
    """The seeds of each variant in each environment."""
    rows = []
    for env in dataset.envs:
        cells = [text_cell(env)]
        for variant in dataset.variants:
            seeds = sorted(dataset.runs[run].seed for run in variant.runs if dataset.runs[run].env == env)
            cells.append(number_cell(len(seeds), f"{len(seeds)} ({_ranges(seeds)})" if seeds else "none"))
        rows.append(Row(tuple(cells), env=env))
    return Table("coverage-table", ("Environment", *(v.label for v in dataset.variants)), tuple(rows))


def difference_table(dataset: Dataset) -> Table:
    """The settings in which variants differ; the full configurations hold the others."""
    keys = sorted({key for variant in dataset.variants for key in variant.settings})
    absent = object()
    rows = []
    for key in keys:
        values = [variant.settings.get(key, absent) for variant in dataset.variants]
        if any(value != values[0] for value in values):
            shown = ["" if value is absent else _show(value) for value in values]
            rows.append(Row((text_cell(key), *map(text_cell, shown))))
    return Table("settings-table", ("Setting", *(v.label for v in dataset.variants)), tuple(rows))


def configurations(dataset: Dataset) -> list[tuple[str, str]]:
    """The configuration of the first run of each variant."""
    return [
        (variant.label, json.dumps(dataset.runs[variant.runs[0]].config, indent=2, ensure_ascii=False))
        for variant in dataset.variants
    ]


def version_table(dataset: Dataset) -> Table:
    """Versions and platforms with the number of runs; several rows per name mean that runs used different versions."""
    counts: dict[tuple[str, str], int] = {}
    for run in dataset.runs:
        packages = run.meta.get("packages")
        entries = {k: run.meta.get(k) for k in ("chorus", "python", "platform", "commit")}
        entries |= packages if isinstance(packages, dict) else {}
        for name, value in entries.items():
            if value is not None:
                key = (str(name), _show(value))
                counts[key] = counts.get(key, 0) + 1
    rows = [
        Row((text_cell(name), text_cell(value), number_cell(count, str(count))))
        for (name, value), count in counts.items()
    ]
    return Table("versions-table", ("Name", "Version", "Runs"), tuple(rows))


def _show(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _ranges(numbers: Sequence[int]) -> str:
    """`0-2, 5` for 0, 1, 2, 5."""
    parts: list[list[int]] = []
    for n in numbers:
        if parts and n == parts[-1][-1] + 1:
            parts[-1].append(n)
        else:
            parts.append([n])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)


def claim_table(entries: Sequence[Entry]) -> Table | None:
    """The claims that the runs say something about; None if there are none."""
    rows = []
    for entry in entries:
        outcome = entry.deciding
        if outcome is None:
            continue
        found = outcome.estimate
        value, interval = written(found) if found else ("", "")
        effect = f"{outcome.what}: {value} {outcome.unit}".strip() if found else ""
        rows.append(
            Row(
                (
                    number_cell(entry.claim.number, str(entry.claim.number)),
                    text_cell(entry.claim.text),
                    text_cell(entry.claim.source),
                    text_cell(entry.words),
                    text_cell("; ".join(filter(None, [effect, outcome.note]))),
                    text_cell(interval),
                    number_cell(found.runs, seed_count(found)) if found else text_cell(""),
                    text_cell(outcome.where),
                )
            )
        )
    columns = ("Claim", "", "Source", "Status", "Effect", "95 % interval", "Seeds", "Where")
    return Table("claims-table", columns, tuple(rows)) if rows else None
