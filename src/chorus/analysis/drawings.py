"""From runs to drawings: the numbers, their intervals and the caption of each figure, for any choice
of series.
"""

from collections.abc import Sequence

import numpy as np

from chorus.analysis import aggregates, figures
from chorus.analysis.basis import Basis, final_meaning, x_label
from chorus.analysis.bootstrap import (
    CURVE_RESAMPLES,
    FINAL_RESAMPLES,
    estimates,
    percentile_interval,
    resampled,
)
from chorus.analysis.comparisons import aggregate_band, env_band, normalised_matrix
from chorus.analysis.figures import Drawing
from chorus.analysis.results import Series
from chorus.analysis.scores import SMOOTHING_WINDOW

# Long enough runs are smoothed as the paper does for games; short ones would lose their shape.
SMOOTH_FROM = 50
PROFILE_RESAMPLES = 200
PROFILE_POINTS = 81
BANDS = f"95 % bootstrap intervals over seeds, {CURVE_RESAMPLES:,} resamples"
ARROWS = dict.fromkeys(aggregates.AGGREGATES, "▲") | {"Optimality gap": "▼"}


def learning(basis: Basis, series: Sequence[Series], *, title: str = "", legend: bool = True) -> Drawing | None:
    """The IQM over environments as training goes on."""
    shown = basis.everywhere(series)
    bands = [(s, aggregate_band(basis.results, s, basis.envs, basis.scale, basis.rng)) for s in shown]
    lines = [basis.line(s, band, basis.envs) for s, band in bands if band is not None]
    if not lines:
        return None
    caption = (
        f"Interquartile mean over {len(basis.envs)} environments; {basis.scale.meaning}. "
        f"{basis.seeds(shown, basis.envs)} an environment; bands: 95 % stratified bootstrap intervals, "
        f"{CURVE_RESAMPLES:,} resamples.{basis.absent()}"
    )
    return figures.learning_curves(
        lines,
        title=title,
        x_label=x_label(basis.envs),
        y_label=f"IQM of {basis.scale.axis}",
        caption=caption,
        legend=legend,
    )


def learning_in(basis: Basis, series: Sequence[Series], env: str, *, legend: bool = True) -> Drawing | None:
    """Mean returns in one environment as training goes on."""
    shown = [s for s in series if basis.results.curve(s, env)]
    if not shown:
        return None
    window = smoothing(basis, shown, env)
    lines = env_lines(basis, shown, env, window)
    return figures.learning_curves(
        lines,
        title=env,
        x_label=x_label((env,)),
        y_label="episodic return",
        caption=f"Mean over {basis.seeds(shown, (env,))}; bands: {BANDS}.{_smoothed(window)}",
        legend=legend,
    )


def learning_grid(basis: Basis, series: Sequence[Series]) -> Drawing | None:
    """All environments on one page."""
    panels = {}
    windows = set()
    for env in basis.results.envs:
        shown = [s for s in series if basis.results.curve(s, env)]
        if shown:
            windows.add(smoothing(basis, shown, env))
            panels[env] = env_lines(basis, shown, env, max(windows))
    if not panels:
        return None
    return figures.curve_grid(
        panels,
        x_label=x_label(tuple(panels)),
        y_label="episodic return",
        caption=f"Mean over {basis.seeds(series, tuple(panels))}; bands: {BANDS}.{_smoothed(max(windows))}",
    )


def env_lines(basis: Basis, series: Sequence[Series], env: str, window: int) -> list[figures.Line]:
    bands = [(s, env_band(basis.results, s, env, basis.rng, window)) for s in series]
    return [basis.line(s, band, (env,)) for s, band in bands if band is not None]


def smoothing(basis: Basis, series: Sequence[Series], env: str) -> int:
    lengths = [len(curve.iterations) for s in series if (curve := basis.results.curve(s, env))]
    return SMOOTHING_WINDOW if max(lengths, default=0) >= SMOOTH_FROM else 1


def final_aggregates(basis: Basis, series: Sequence[Series]) -> Drawing | None:
    """Four aggregates of the final scores, with intervals."""
    shown = basis.everywhere(series)
    if not shown:
        return None
    matrices = {s: normalised_matrix(basis.results, s, basis.envs, basis.scale) for s in shown}
    found = {s: estimates(matrix, aggregates.AGGREGATES, basis.rng) for s, matrix in matrices.items()}
    panels = {
        name: [figures.Labelled(s.label, basis.look(s), found[s][name]) for s in shown]
        for name in aggregates.AGGREGATES
    }
    many = "environments" if len(basis.envs) > 1 else "environment"
    caption = (
        f"{len(basis.envs)} {many}, {basis.seeds(shown, basis.envs)} each; {basis.scale.meaning}; "
        f"{final_meaning(basis.envs)}. ▲ higher is better, ▼ lower is better. "
        f"Lines: 95 % stratified bootstrap intervals, {FINAL_RESAMPLES:,} resamples.{basis.absent()}"
    )
    return figures.interval_estimates(panels, caption=caption, direction=ARROWS)


def profiles(basis: Basis, series: Sequence[Series], *, legend: bool = True) -> Drawing | None:
    """Performance profiles of the final scores."""
    shown = basis.everywhere(series)
    if not shown:
        return None
    matrices = {s: normalised_matrix(basis.results, s, basis.envs, basis.scale) for s in shown}
    top = max(float(np.nanmax(matrix)) for matrix in matrices.values())
    bottom = min(0.0, *(float(np.nanmin(matrix)) for matrix in matrices.values()))
    thresholds = np.linspace(bottom, top, PROFILE_POINTS)

    def profile(scores: np.ndarray, counts: np.ndarray | None = None) -> np.ndarray:
        return aggregates.performance_profile(scores, thresholds, counts)

    lines = []
    for s, matrix in matrices.items():
        low, high = np.full((2, len(thresholds)), np.nan)
        if len(matrix) > 1:
            low, high = percentile_interval(resampled(matrix, profile, basis.rng, PROFILE_RESAMPLES))
        runs = np.full(len(thresholds), np.isfinite(matrix).sum())
        lines.append(figures.Line(s.label, basis.look(s), thresholds, profile(matrix), low, high, runs))
    caption = (
        "Share of runs whose final score is higher than the value on the axis, averaged over environments; "
        f"{basis.scale.meaning}. Bands: 95 % stratified bootstrap intervals, {PROFILE_RESAMPLES} resamples."
    )
    return figures.performance_profiles(lines, x_label=basis.scale.axis, caption=caption, legend=legend)


def _smoothed(window: int) -> str:
    return f" Each run smoothed over {window} evaluations." if window > 1 else ""
