"""Curves, final scores and differences of series with their intervals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from chorus.analysis import aggregates, intervals
from chorus.analysis.bootstrap import (
    CURVE_RESAMPLES,
    IntervalEstimate,
    Rng,
    iqm_curve_interval,
    mean_curve_interval,
)
from chorus.analysis.normalisation import Normalisation
from chorus.analysis.results import Results, Series, smooth, stack_ragged


@dataclass(frozen=True)
class Centre:
    """The aggregate that stands for many final scores."""

    name: str
    of: aggregates.Aggregate
    influence: Callable[[np.ndarray], intervals.Influence]


IQM = Centre("IQM", aggregates.iqm, intervals.iqm_influence)
MEAN = Centre("mean", aggregates.mean, intervals.mean_influence)


def centre(envs: Sequence[str]) -> Centre:
    """The IQM over several environments, as in the paper; the mean of the runs in a single one, as in its curves."""
    return IQM if len(envs) > 1 else MEAN


@dataclass(frozen=True)
class Band:
    """A curve with its interval; `runs` is the smallest number of runs of any environment at each point."""

    steps: np.ndarray
    frames: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    runs: np.ndarray


def env_band(results: Results, series: Series, env: str, rng: Rng, window: int = 1) -> Band | None:
    """The mean over runs in one environment, after smoothing each run."""
    curve = results.curve(series, env)
    if curve is None:
        return None
    values = smooth(curve.values, window)
    low, high = mean_curve_interval(values, rng, CURVE_RESAMPLES)
    runs = np.isfinite(values).sum(axis=0)
    return Band(curve.steps, curve.frames, np.nanmean(values, axis=0), low, high, runs)


def aggregate_band(
    results: Results, series: Series, envs: Sequence[str], normalisation: Normalisation, rng: Rng
) -> Band | None:
    """The IQM over runs and environments at each iteration that all environments have reached."""
    curves = [results.curve(series, env) for env in envs]
    found = [curve for curve in curves if curve is not None]
    if not found or len(found) < len(envs):
        return None
    shared = found[0].iterations
    for curve in found[1:]:
        shared = np.intersect1d(shared, curve.iterations)
    if len(shared) == 0:
        return None
    columns = [
        normalisation.apply(env, curve.values[:, np.searchsorted(curve.iterations, shared)])
        for env, curve in zip(envs, found, strict=True)
    ]
    runs = max(len(column) for column in columns)
    values = np.full((runs, len(envs), len(shared)), np.nan)
    for task, column in enumerate(columns):
        values[: len(column), task] = column
    low, high = iqm_curve_interval(values, rng, CURVE_RESAMPLES)
    at = [np.searchsorted(curve.iterations, shared) for curve in found]
    return Band(
        steps=np.median([c.steps[a] for c, a in zip(found, at, strict=True)], axis=0),
        frames=np.median([c.frames[a] for c, a in zip(found, at, strict=True)], axis=0),
        value=np.array([float(aggregates.iqm(values[:, :, point])) for point in range(len(shared))]),
        low=low,
        high=high,
        runs=np.isfinite(values).sum(axis=0).min(axis=0),
    )


def normalised_matrix(
    results: Results, series: Series, envs: Sequence[str], normalisation: Normalisation
) -> np.ndarray:
    """Normalised final scores: (runs x tasks)."""
    scores = results.score_matrix(series, envs)
    return np.stack([normalisation.apply(env, scores[:, task]) for task, env in enumerate(envs)], axis=1)


def metric_estimate(results: Results, series: Series, metric: str, envs: Sequence[str]) -> IntervalEstimate | None:
    """The mean over environments of a metric's final value, such as the vote entropy."""
    finals = [results.metric_final(series.variant, env, metric) for env in envs]
    columns = [final.values for final in finals if final is not None]
    return intervals.estimate(stack_ragged(columns)) if columns else None


def env_differences(
    results: Results, first: Series, second: Series, envs: Sequence[str], normalisation: Normalisation
) -> dict[str, IntervalEstimate]:
    """The difference of mean final scores in each environment."""
    found = {}
    for env in envs:
        x, y = (normalised_matrix(results, series, (env,), normalisation)[:, 0] for series in (first, second))
        found[env] = intervals.mean_difference(x, y, paired=same_runs(results, first, second, (env,)))
    return found


def same_runs(results: Results, first: Series, second: Series, envs: Sequence[str]) -> bool:
    """Whether two series are policies of the same runs in all environments, so that their scores are paired."""
    finals = [(results.final(first, env), results.final(second, env)) for env in envs]
    return first.variant is second.variant and all(x and y and x.runs == y.runs for x, y in finals)
