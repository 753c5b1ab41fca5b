"""Learning curves, aggregates and profiles of any choice of series: numbers, intervals and captions."""

from collections.abc import Sequence

import numpy as np

from chorus.analysis import aggregates, figures
from chorus.analysis.bootstrap import (
    CURVE_RESAMPLES,
    percentile_interval,
    resampled,
)
from chorus.analysis.comparisons import aggregate_band, env_band, normalised_matrix
from chorus.analysis.context import AnalysisContext, x_label
from chorus.analysis.figures import Drawing
from chorus.analysis.intervals import INFLUENCES, INTERVAL, estimate
from chorus.analysis.results import SMOOTHING_WINDOW, Series
from chorus.analysis.wording import plural
from chorus.envs.atari_games import find_game

# Curves with as many points are smoothed, as the paper does for games; shorter ones would lose their shape.
SMOOTH_FROM = 50
PROFILE_RESAMPLES = 200
PROFILE_POINTS = 81
NARROW = "which cover only about 80 to 85 % with 5 seeds"
NARROW_AGGREGATE = "which cover only about 90 % with 5 seeds"
BANDS = f"95 % percentile bootstrap intervals over seeds, {CURVE_RESAMPLES:,} resamples, {NARROW}"
ARROWS = dict.fromkeys(aggregates.AGGREGATES, "▲") | {"Optimality gap": "▼"}


def learning_curves(
    context: AnalysisContext, series: Sequence[Series], *, title: str = "", legend: bool = True
) -> Drawing | None:
    """Learning curves of the IQM over environments."""
    shown = context.complete_series(series)
    bands = [(s, aggregate_band(context.results, s, context.envs, context.normalisation, context.rng)) for s in shown]
    lines = [context.line(s, band, context.envs) for s, band in bands if band is not None]
    if not lines:
        return None
    caption = (
        f"Interquartile mean over {len(context.envs)} environments; {context.normalisation.meaning}. "
        f"{context.seeds(shown, context.envs)} per environment; bands: 95 % stratified percentile bootstrap "
        f"intervals, {CURVE_RESAMPLES:,} resamples, {NARROW_AGGREGATE}.{_scored(context, shown)}"
        f"{context.incomplete_note()}"
    )
    return figures.learning_curves(
        lines,
        title=title,
        x_label=x_label(context.envs),
        y_label=f"IQM of {context.normalisation.axis}",
        caption=caption,
        legend=legend,
    )


def env_learning_curves(context: AnalysisContext, series: Sequence[Series], env: str) -> Drawing | None:
    """Learning curves of the mean return in one environment."""
    shown = [s for s in series if context.results.curve(s, env)]
    if not shown:
        return None
    window = smoothing(context, shown, env)
    lines = env_lines(context, shown, env, window)
    return figures.learning_curves(
        lines,
        title=env,
        x_label=x_label((env,)),
        y_label="episodic return",
        caption=f"Mean over {context.seeds(shown, (env,))}; bands: {BANDS}.{_smoothed(window)}",
        legend=False,
    )


def learning_curve_grid(context: AnalysisContext, series: Sequence[Series]) -> Drawing | None:
    """Learning curves with one panel per environment."""
    panels = {}
    windows = set()
    for env in context.results.envs:
        shown = [s for s in series if context.results.curve(s, env)]
        if shown:
            windows.add(smoothing(context, shown, env))
            panels[env] = env_lines(context, shown, env, max(windows))
    if not panels:
        return None
    return figures.curve_grid(
        panels,
        x_label=x_label(tuple(panels)),
        y_label="episodic return",
        caption=f"Mean over {context.seeds(series, tuple(panels))}; bands: {BANDS}.{_smoothed(max(windows))}",
    )


def env_lines(context: AnalysisContext, series: Sequence[Series], env: str, window: int) -> list[figures.Line]:
    bands = [(s, env_band(context.results, s, env, context.rng, window)) for s in series]
    return [context.line(s, band, (env,)) for s, band in bands if band is not None]


def smoothing(context: AnalysisContext, series: Sequence[Series], env: str) -> int:
    """The window in evaluations; the paper smooths games and does not smooth MuJoCo tasks."""
    if not (find_game(env) or env.startswith("MinAtar/")):
        return 1
    lengths = [len(curve.iterations) for s in series if (curve := context.results.curve(s, env))]
    return SMOOTHING_WINDOW if max(lengths, default=0) >= SMOOTH_FROM else 1


def final_aggregates(context: AnalysisContext, series: Sequence[Series]) -> Drawing | None:
    """Four aggregates of the final scores with their intervals."""
    shown = context.complete_series(series)
    if not shown:
        return None
    matrices = {s: normalised_matrix(context.results, s, context.envs, context.normalisation) for s in shown}
    panels = {
        name: [figures.LabelledEstimate(s.label, context.style(s), estimate(matrices[s], influence)) for s in shown]
        for name, influence in INFLUENCES.items()
    }
    caption = (
        f"{plural(len(context.envs), 'environment')}, {context.seeds(shown, context.envs)} each; "
        f"{context.normalisation.meaning}; "
        f"{context.final_meaning(shown, context.envs)}. ▲ higher is better, ▼ lower is better. "
        f"Lines: {INTERVAL}.{context.incomplete_note()}"
    )
    return figures.interval_estimates(panels, caption=caption, direction=ARROWS)


def profiles(context: AnalysisContext, series: Sequence[Series]) -> Drawing | None:
    """Performance profiles of the final scores."""
    shown = context.complete_series(series)
    if not shown:
        return None
    matrices = {s: normalised_matrix(context.results, s, context.envs, context.normalisation) for s in shown}
    top = max(float(np.nanmax(matrix)) for matrix in matrices.values())
    bottom = min(0.0, *(float(np.nanmin(matrix)) for matrix in matrices.values()))
    thresholds = np.linspace(bottom, top, PROFILE_POINTS)

    def profile(scores: np.ndarray, counts: np.ndarray | None = None) -> np.ndarray:
        return aggregates.performance_profile(scores, thresholds, counts)

    lines = []
    for s, matrix in matrices.items():
        low, high = np.full((2, len(thresholds)), np.nan)
        if len(matrix) > 1:
            low, high = percentile_interval(resampled(matrix, profile, context.rng, PROFILE_RESAMPLES))
        runs = np.full(len(thresholds), np.isfinite(matrix).sum())
        lines.append(figures.Line(s.label, context.style(s), thresholds, profile(matrix), low, high, runs))
    caption = (
        "Share of runs whose final score is higher than the value on the axis, averaged over environments; "
        f"{context.normalisation.meaning}; {context.final_meaning(shown, context.envs)}. Bands: 95 % stratified "
        f"percentile bootstrap intervals, {PROFILE_RESAMPLES} resamples, too narrow with 5 seeds."
        f"{context.incomplete_note()}"
    )
    return figures.performance_profiles(lines, x_label=context.normalisation.axis, caption=caption)


def _scored(context: AnalysisContext, series: Sequence[Series]) -> str:
    """What a final score is, where scores are normalised by one."""
    if context.normalisation.kind == "human":
        return ""
    meaning = context.final_meaning(series, context.envs)
    return f" {meaning[:1].upper()}{meaning[1:]}."


def _smoothed(window: int) -> str:
    return f" Each run smoothed over {window} evaluations." if window > 1 else ""
