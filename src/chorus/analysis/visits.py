"""Where agents have been: maps of visits per algorithm and environment, read from the runs' own files."""

import numpy as np

from chorus.analysis import figures
from chorus.analysis.context import AnalysisContext
from chorus.analysis.figures import Drawing
from chorus.analysis.figures.maps import COLUMNS, in_blocks
from chorus.analysis.variants import Variant
from chorus.analysis.wording import seeds_between
from chorus.runs.logs import read_visits


def visit_maps(context: AnalysisContext, env: str, *, columns: int = COLUMNS) -> Drawing | None:
    """One map per algorithm in this environment; None if no run has one."""
    found = {v: mean for v in context.results.dataset.variants if (mean := _mean_visits(context, v, env)) is not None}
    if not found:
        return None
    blocks = {variant: in_blocks(visits) for variant, (visits, _) in found.items()}
    side = max(side for _, side in blocks.values())
    runs = [count for _, count in found.values()]
    seeds = seeds_between(runs)
    cells = f" A square stands for {side} x {side} cells." if side > 1 else ""
    maps = {
        variant.label: (context.palette.style(variant, "aggregate"), visits) for variant, (visits, _) in blocks.items()
    }
    caption = (
        f"How often training visited each state of {env}, a mean over {seeds}. Each darker shade is ten times as many "
        f"visits; empty cells were never visited. Rows and columns are the first and the second "
        f"number of a state, from the top left.{cells}"
    )
    return figures.visit_maps(maps, caption=caption, most_columns=columns)


def _mean_visits(context: AnalysisContext, variant: Variant, env: str) -> tuple[np.ndarray, int] | None:
    """The mean over runs of the commonest shape, and their number."""
    runs = [run for number in variant.runs if (run := context.results.dataset.runs[number]).env == env]
    maps = [visits for run in runs if (visits := read_visits(run.path)) is not None]
    if not maps:
        return None
    shape = max({visits.shape for visits in maps}, key=lambda one: sum(visits.shape == one for visits in maps))
    alike = [visits for visits in maps if visits.shape == shape]
    return np.mean(alike, axis=0), len(alike)
