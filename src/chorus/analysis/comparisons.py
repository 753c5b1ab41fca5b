"""Estimates with intervals, made from results: curves, final scores, differences between two series."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chorus.analysis import aggregates
from chorus.analysis.bootstrap import (
    CURVE_RESAMPLES,
    FINAL_RESAMPLES,
    Estimate,
    Rng,
    aggregate_curve_interval,
    estimate,
    mean_curve_interval,
    mean_estimate,
    percentile_interval,
    resampled_pair,
)
from chorus.analysis.normalisation import Normalisation
from chorus.analysis.results import Results, Series, stack_ragged
from chorus.analysis.scores import smooth


@dataclass(frozen=True)
class Band:
    """A curve with its interval; `runs` is the number of runs (in the poorest environment) at each point."""

    steps: np.ndarray
    frames: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    runs: np.ndarray


@dataclass(frozen=True)
class Difference:
    """First minus second; `certainty` is the share of resamples on the side of the point estimate."""

    first: Series
    second: Series
    envs: tuple[str, ...]
    estimate: Estimate
    certainty: float

    @property
    def settled(self) -> bool:
        """Whether the interval excludes zero."""
        return self.estimate.certain and not (self.estimate.low <= 0 <= self.estimate.high)


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
    results: Results, series: Series, envs: Sequence[str], scale: Normalisation, rng: Rng
) -> Band | None:
    """The IQM over runs and environments at each iteration that every environment has reached."""
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
        scale.apply(env, curve.values[:, np.searchsorted(curve.iterations, shared)])
        for env, curve in zip(envs, found, strict=True)
    ]
    runs = max(len(column) for column in columns)
    values = np.full((runs, len(envs), len(shared)), np.nan)
    for task, column in enumerate(columns):
        values[: len(column), task] = column
    low, high = aggregate_curve_interval(values, aggregates.iqm, rng, CURVE_RESAMPLES)
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
    results: Results, series: Series, envs: Sequence[str], scale: Normalisation
) -> np.ndarray:
    """Final scores on one scale: (runs x tasks)."""
    scores = results.score_matrix(series, envs)
    return np.stack([scale.apply(env, scores[:, task]) for task, env in enumerate(envs)], axis=1)


def final_estimate(results: Results, series: Series, env: str, rng: Rng) -> Estimate | None:
    final = results.final(series, env)
    return mean_estimate(final.values, rng, resamples=FINAL_RESAMPLES) if final else None


def metric_estimate(
    results: Results, series: Series, metric: str, envs: Sequence[str], rng: Rng
) -> Estimate | None:
    """The mean over environments of a metric's final value, such as the vote entropy."""
    finals = [results.metric_final(series.variant, env, metric) for env in envs]
    columns = [final.values for final in finals if final is not None]
    return estimate(stack_ragged(columns), aggregates.mean, rng) if columns else None


def difference(
    results: Results,
    first: Series,
    second: Series,
    envs: Sequence[str],
    scale: Normalisation | None,
    rng: Rng,
    *,
    aggregate: aggregates.Aggregate = aggregates.iqm,
) -> Difference:
    """The difference of an aggregate; two policies of the same runs are resampled together."""
    matrices = [
        results.score_matrix(series, envs)
        if scale is None
        else normalised_matrix(results, series, envs, scale)
        for series in (first, second)
    ]
    x, y = matrices
    paired = (
        first.variant is second.variant and x.shape == y.shape and bool((np.isnan(x) == np.isnan(y)).all())
    )
    value = float(aggregate(x) - aggregate(y))
    runs = int(min(np.isfinite(x).sum(axis=0).min(), np.isfinite(y).sum(axis=0).min()))
    if max(len(x), len(y)) < 2 or runs < 1:
        return Difference(first, second, tuple(envs), Estimate(value, np.nan, np.nan, runs), np.nan)
    samples = resampled_pair(
        x, y, lambda a, b: aggregate(a) - aggregate(b), rng, FINAL_RESAMPLES, paired=paired
    )
    low, high = percentile_interval(samples)
    same_side = np.mean(np.sign(samples) == np.sign(value)) if value else 0.5
    return Difference(
        first, second, tuple(envs), Estimate(value, float(low), float(high), runs), float(same_side)
    )


def env_differences(
    results: Results,
    first: Series,
    second: Series,
    envs: Sequence[str],
    scale: Normalisation | None,
    rng: Rng,
) -> dict[str, Estimate]:
    """The difference of mean final scores in each environment."""
    return {
        env: difference(results, first, second, (env,), scale, rng, aggregate=aggregates.mean).estimate
        for env in envs
    }
