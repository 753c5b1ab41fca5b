"""What algorithms cost: seconds of training per agent step, from the timings of their runs."""

import numpy as np

from chorus.analysis import figures
from chorus.analysis.context import AnalysisContext
from chorus.analysis.figures import Drawing
from chorus.analysis.intervals import INTERVAL, estimate
from chorus.analysis.results import stack_ragged
from chorus.analysis.variants import Variant
from chorus.analysis.wording import seeds_between
from chorus.runs.timings import training_seconds_per_step


def step_seconds(context: AnalysisContext, variant: Variant, *, cpu: bool = False) -> dict[str, np.ndarray]:
    """Seconds of training per agent step of each run, by environment; those without timings are left out.

    With `cpu`, of processor time: unlike the clock, it does not count other work on the machine. Runs on a GPU and
    those of older versions have none.
    """
    dataset = context.results.dataset
    own = [dataset.runs[position] for position in variant.runs]
    columns = {}
    for env in dataset.envs:
        found = [training_seconds_per_step(run.path, cpu=cpu) for run in own if run.env == env]
        columns[env] = np.array([seconds for seconds in found if seconds is not None])
    return {env: column for env, column in columns.items() if len(column)}


def _runs_timed(context: AnalysisContext, variant: Variant, *, cpu: bool = False) -> int:
    return sum(map(len, step_seconds(context, variant, cpu=cpu).values()))


def training_time(context: AnalysisContext) -> Drawing | None:
    """One bar per algorithm: milliseconds of training per agent step."""
    variants = context.results.dataset.variants
    cpu = all(_runs_timed(context, variant, cpu=True) == _runs_timed(context, variant) for variant in variants)
    measured = {variant: stack_ragged(list(step_seconds(context, variant, cpu=cpu).values())) for variant in variants}
    bars = [
        figures.LabelledEstimate(variant.label, context.palette.style(variant, "individual"), estimate(1_000 * seconds))
        for variant, seconds in measured.items()
        if seconds.size
    ]
    if not bars:
        return None
    counts = [len(seconds) for seconds in measured.values() if seconds.size]
    seeds = seeds_between(counts)
    caption = (
        f"Milliseconds of training per agent step in {', '.join(context.results.envs)}, {seeds} each: acting, the "
        "environment and the updates, without evaluation, checkpoints and compilation (the median over a run's "
        f"iterations after the first). Lines: {INTERVAL}. "
        + ("Processor time." if cpu else "By the clock: other work on the machine makes times longer.")
    )
    return figures.score_bars(bars, x_label="milliseconds of training per agent step", caption=caption)
