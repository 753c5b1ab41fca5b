"""Which runs solved their environment, and after how many training episodes (`exploration/solved_episode`)."""

import re
from dataclasses import dataclass
from math import sqrt

import numpy as np

from chorus.analysis import figures
from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.context import AnalysisContext
from chorus.analysis.figures import Drawing, SolvedLine
from chorus.analysis.variants import Variant
from chorus.analysis.wording import seeds_between

_METRIC, _STEP, _LENGTH = "exploration/solved_episode", "exploration/solved_step", "charts/episodic_length"
# Every run that counts states writes the first; the second needs a known best return, with which there is a threshold.
_COUNTED, _REGRET = "exploration/states_visited", "exploration/regret"
_Z = 1.959964  # of a 95 % interval


@dataclass(frozen=True)
class Outcome:
    """The runs of one variant in one environment: the episode and the agent step at which each was solved.

    NaN where it never was, or where the step is not known.
    """

    episodes: np.ndarray
    steps: np.ndarray

    @property
    def share(self) -> IntervalEstimate:
        return wilson(int(np.isfinite(self.episodes).sum()), len(self.episodes))

    @property
    def median(self) -> float:
        """The median number of episodes; infinite if half of the runs or more never solved the environment."""
        return _median(self.episodes)

    @property
    def median_steps(self) -> float:
        """The same in agent steps; infinite, too, if a run was solved at a step that is not known."""
        known = np.isfinite(self.steps).sum() == np.isfinite(self.episodes).sum()
        return _median(self.steps) if known else np.inf


def _median(values: np.ndarray) -> float:
    return float(np.median(np.where(np.isfinite(values), values, np.inf)))


def wilson(successes: int, tries: int) -> IntervalEstimate:
    """A share with Wilson's 95 % score interval."""
    share, extra = successes / tries, _Z**2 / tries
    centre = (share + extra / 2) / (1 + extra)
    half = _Z / (1 + extra) * sqrt(share * (1 - share) / tries + extra / (4 * tries))
    return IntervalEstimate(share, max(0.0, centre - half), min(1.0, centre + half), tries)


def outcome(context: AnalysisContext, variant: Variant, env: str) -> Outcome | None:
    """Of the runs that have ended, or of all if none has; None if no run of the variant counts states there."""
    counted = context.results.metric_curve(variant, env, _COUNTED)
    if counted is None:
        return None
    ended = [run for run in counted.runs if context.results.dataset.runs[run].has_ended]
    runs = ended or counted.runs
    episodes, steps = (_largest(context, variant, env, metric) for metric in (_METRIC, _STEP))
    # Runs of older versions do not say the step. It is known all the same where all episodes have the same length.
    lengths = _largest(context, variant, env, _LENGTH), _smallest(context, variant, env, _LENGTH)
    for run in set(episodes) - set(steps):
        if run in lengths[0] and lengths[0][run] == lengths[1][run]:
            steps[run] = episodes[run] * lengths[0][run]
    return Outcome(*(np.array([found.get(run, np.nan) for run in runs]) for found in (episodes, steps)))


def _largest(context: AnalysisContext, variant: Variant, env: str, metric: str) -> dict[int, float]:
    """By run, over its iterations."""
    curve = context.results.metric_curve(variant, env, metric)
    return {} if curve is None else dict(zip(curve.runs, np.nanmax(curve.values, axis=1).tolist(), strict=True))


def _smallest(context: AnalysisContext, variant: Variant, env: str, metric: str) -> dict[int, float]:
    curve = context.results.metric_curve(variant, env, metric)
    return {} if curve is None else dict(zip(curve.runs, np.nanmin(curve.values, axis=1).tolist(), strict=True))


def _can_be_solved(context: AnalysisContext, env: str) -> bool:
    """Whether the environment is known to have a threshold; without one, no run could ever reach it."""
    variants = context.results.dataset.variants
    return any(
        context.results.metric_curve(one, env, name) is not None for one in variants for name in (_METRIC, _REGRET)
    )


def solved(context: AnalysisContext) -> Drawing | None:
    """The share of runs that solved each environment, and their agent steps, one line per algorithm."""
    envs = sorted((env for env in context.results.envs if _can_be_solved(context, env)), key=in_natural_order)
    lines = []
    for variant in context.results.dataset.variants:
        outcomes = {env: found for env in envs if (found := outcome(context, variant, env))}
        if outcomes:
            style = context.palette.style(variant, "aggregate")
            shares = {env: one.share for env, one in outcomes.items()}
            medians = {env: one.median for env, one in outcomes.items()}
            steps = {env: one.median_steps for env, one in outcomes.items()}
            lines.append(SolvedLine(variant.label, style, shares, medians, steps))
    shown = [env for env in envs if any(env in line.shares for line in lines)]
    if not any(share.value for line in lines for share in line.shares.values()):
        return None
    counts = [share.runs for line in lines for share in line.shares.values()]
    seeds = seeds_between(counts)
    caption = (
        f"Above: share of {seeds} that solved each environment within the budget; bars are Wilson's 95 % intervals. "
        "Below: median over seeds of the agent step at which the mean return of the last 100 training episodes reached "
        "the environment's threshold; there is no point where half of the seeds or more never solved it."
    )
    if not any(run.has_ended for run in context.results.dataset.runs):
        caption += " No run has ended yet: shares are those so far."
    return figures.solved_by_environment(lines, shown, caption=caption)


def in_natural_order(text: str) -> list[tuple[int, str]]:
    """Sorts numbers within names by their size: DeepSea-5 before DeepSea-10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text)]
