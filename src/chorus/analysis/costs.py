"""What algorithms cost: seconds of training per agent step, from the timings of their runs."""

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from chorus.analysis import figures
from chorus.analysis.bootstrap import FEWEST_RUNS
from chorus.analysis.context import AnalysisContext
from chorus.analysis.figures import Drawing
from chorus.analysis.intervals import INTERVAL, estimate
from chorus.analysis.results import stack_ragged
from chorus.analysis.variants import Variant
from chorus.analysis.wording import seeds_between
from chorus.runs.timings import training_seconds_per_step


class TimedOn(NamedTuple):
    """Where times can be compared: an environment on a kind of processor."""

    env: str
    processor: str


def step_seconds(context: AnalysisContext, variant: Variant, *, cpu: bool = False) -> dict[TimedOn, np.ndarray]:
    """Seconds of training per agent step of each run, by where it ran; those without timings are left out.

    With `cpu`, of processor time: unlike the clock, it does not count other work on the machine. Runs on a GPU and
    those of older versions have none.
    """
    dataset = context.results.dataset
    found = defaultdict[TimedOn, list[float]](list)
    for run in (dataset.runs[position] for position in variant.runs):
        if (seconds := training_seconds_per_step(run.path, cpu=cpu)) is not None:
            found[TimedOn(run.env, str(run.meta.get("processor")))].append(seconds)
    return {place: np.array(found[place]) for place in sorted(found, key=lambda p: (dataset.envs.index(p.env), p))}


def comparable_times(
    context: AnalysisContext, first: Variant, second: Variant
) -> dict[TimedOn, tuple[np.ndarray, np.ndarray]]:
    """Seconds of training per step of both, where both were timed.

    In each environment processor times come first, because other work on the machine hardly changes them, if enough
    runs of both have them; then those by the clock.
    """
    clock, cpu = ([step_seconds(context, variant, cpu=cpu) for variant in (first, second)] for cpu in (False, True))
    found: dict[TimedOn, tuple[np.ndarray, np.ndarray]] = {}
    for env in context.results.dataset.envs:
        for timed, fewest in ((cpu, FEWEST_RUNS), (clock, FEWEST_RUNS), (clock, 1)):
            places = [p for p in timed[0] if p.env == env and all(len(own.get(p, ())) >= fewest for own in timed)]
            if places:
                found |= {place: (timed[0][place], timed[1][place]) for place in places}
                break
    return found


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
