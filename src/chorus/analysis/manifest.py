"""The manifest of a folder of runs: their seeds, processors, versions, commits and hours."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from chorus.analysis.loading import Dataset
from chorus.runs.logs import Run
from chorus.runs.timings import recorded_seconds


def make_manifest(dataset: Dataset, folder: Path) -> dict[str, Any]:
    """One entry per folder of runs below `folder`; plain values, the same for the same runs."""
    below: dict[str, list[Run]] = {}
    for run in sorted(dataset.runs, key=lambda run: run.path):
        below.setdefault(run.path.parent.relative_to(folder).as_posix(), []).append(run)
    folders = {name: _entry(runs) for name, runs in below.items()}
    return {
        "runs": sum(entry["runs"] for entry in folders.values()),
        "hours": round(sum(entry["hours"] for entry in folders.values()), 2),
        "folders": folders,
    }


def _entry(runs: Sequence[Run]) -> dict[str, Any]:
    packages = [found for run in runs if isinstance(found := run.meta.get("packages"), dict)]
    names = sorted({name for found in packages for name in found})
    return {
        "runs": len(runs),
        "states": dict(sorted(Counter(run.state for run in runs).items())),
        "environments": sorted({run.env for run in runs}),
        "algorithms": sorted({run.preset for run in runs}),
        "seeds": _ranges({run.seed for run in runs}),
        "hours": round(sum(recorded_seconds(run.path) or 0.0 for run in runs) / 3_600, 2),
        "processors": _counted(run.meta.get("processor") for run in runs),
        "chorus": _counted(run.meta.get("chorus") for run in runs),
        "commits": _counted(run.meta.get("commit") for run in runs),
        "python": _counted(run.meta.get("python") for run in runs),
        "packages": {name: sorted({str(found[name]) for found in packages if name in found}) for name in names},
    }


def _counted(values: Iterable[object]) -> dict[str, int]:
    """How many runs have each value; what was not recorded is called unknown."""
    return dict(sorted(Counter(str(value or "unknown") for value in values).items()))


def _ranges(numbers: Iterable[int]) -> str:
    """`0-4, 100`."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in found)
