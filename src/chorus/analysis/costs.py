"""What algorithms cost: seconds of training per agent step, from the timings of their runs."""

import numpy as np

from chorus.analysis import figures
from chorus.analysis.context import AnalysisContext
from chorus.analysis.figures import Drawing
from chorus.analysis.intervals import INTERVAL, estimate
from chorus.analysis.results import stack_ragged
from chorus.analysis.variants import Variant
from chorus.analysis.wording import plural
from chorus.runs.logs import training_seconds_per_step


def step_seconds(context: AnalysisContext, variant: Variant) -> np.ndarray:
    """Seconds of training per agent step, [runs, environments]; environments without timings are left out."""
    dataset = context.results.dataset
    columns = []
    for env in dataset.envs:
        own = [dataset.runs[position] for position in variant.runs]
        found = [training_seconds_per_step(run.path) for run in own if run.env == env]
        columns.append(np.array([seconds for seconds in found if seconds is not None]))
    return stack_ragged([column for column in columns if len(column)])


def training_time(context: AnalysisContext) -> Drawing | None:
    """One bar per algorithm: milliseconds of training per agent step."""
    measured = {variant: step_seconds(context, variant) for variant in context.results.dataset.variants}
    bars = [
        figures.LabelledEstimate(variant.label, context.palette.style(variant, "individual"), estimate(1_000 * seconds))
        for variant, seconds in measured.items()
        if seconds.size
    ]
    if not bars:
        return None
    counts = [len(seconds) for seconds in measured.values() if seconds.size]
    seeds = plural(min(counts), "seed") if min(counts) == max(counts) else f"{min(counts)} to {max(counts)} seeds"
    caption = (
        f"Milliseconds of training per agent step in {', '.join(context.results.envs)}, {seeds} each: acting, the "
        "environment and the updates, without evaluation, checkpoints and compilation (the median over a run's "
        f"iterations after the first). Lines: {INTERVAL}. Other work on the machine makes times longer."
    )
    return figures.score_bars(bars, x_label="milliseconds of training per agent step", caption=caption)
