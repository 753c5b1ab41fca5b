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
    """Where times can be compared: an environment on a kind of processor (None: not recorded)."""

    env: str
    processor: str | None


def step_seconds(context: AnalysisContext, variant: Variant, *, cpu: bool = False) -> dict[TimedOn, np.ndarray]:
    """Seconds of training per agent step of each run, by where it ran; those without timings are left out.

    With `cpu`, of processor time: unlike the clock, it does not count other work on the machine. Runs on a GPU and
    those of older versions have none.
    """
    dataset = context.results.dataset
    found = defaultdict[TimedOn, list[float]](list)
    for run in (dataset.runs[position] for position in variant.runs):
        if (seconds := training_seconds_per_step(run.path, cpu=cpu)) is not None:
            found[TimedOn(run.env, run.meta.get("processor"))].append(seconds)
    places = sorted(found, key=lambda place: (dataset.envs.index(place.env), place.processor or ""))
    return {place: np.array(found[place]) for place in places}


def comparable_times(
    context: AnalysisContext, first: Variant, second: Variant
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Seconds of training per step of both by environment, on the kind of processor with the most runs of both.

    Processor times, which other work on the machine hardly changes, come before those by the clock. Environments with
    fewer than three runs count only if there are no others, and runs without a recorded processor never.
    """
    clock, cpu = ([step_seconds(context, variant, cpu=cpu) for variant in (first, second)] for cpu in (False, True))
    for fewest in (FEWEST_RUNS, 1):
        found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for x, y in (clock, cpu):
            both = {place: min(len(x[place]), len(y[place])) for place in x if place in y and place.processor}
            enough = [place for place, runs in both.items() if runs >= fewest]
            # The place with the most runs of an environment comes last, and processor times after the clock.
            found |= {place.env: (x[place], y[place]) for place in sorted(enough, key=lambda place: both[place])}
        if found:
            return {env: found[env] for env in context.results.dataset.envs if env in found}
    return {}


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
