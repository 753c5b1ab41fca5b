"""Learning curves, aggregates and profiles of any choice of series: numbers, intervals and captions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chorus.analysis import aggregates, figures
from chorus.analysis.bootstrap import (
    CURVE_RESAMPLES,
    percentile_interval,
    resampled,
)
from chorus.analysis.comparisons import aggregate_band, env_band, normalised_matrix
from chorus.analysis.context import AnalysisContext, x_label
from chorus.analysis.figures import Drawing, GridLayout
from chorus.analysis.grouping import ComparisonGroup
from chorus.analysis.intervals import INFLUENCES, INTERVAL, estimate, mean_estimate
from chorus.analysis.results import SMOOTHING_WINDOW, Series, series_of
from chorus.analysis.wording import plural
from chorus.envs.atari_games import find_game

# Curves with as many points are smoothed, as the paper does for games; shorter ones would lose their shape.
SMOOTH_FROM = 50
PROFILE_RESAMPLES = 200
PROFILE_POINTS = 81
STRATIFIED = "95 % stratified percentile bootstrap intervals"
AGGREGATE_BANDS = f"{STRATIFIED}, {CURVE_RESAMPLES:,} resamples, which cover only about 90 % with 5 seeds"
PROFILE_BANDS = f"{STRATIFIED}, {PROFILE_RESAMPLES} resamples, too narrow with 5 seeds"
BANDS = (
    f"95 % percentile bootstrap intervals over seeds, {CURVE_RESAMPLES:,} resamples, which cover only about 80 to 85 % "
    "with 5 seeds"
)
# By the number of columns: side by side on a desk, one below the other on a phone. Differences are small against the
# climb from zero, so panels are high.
QUESTION_LAYOUTS = {
    3: GridLayout(columns=3, width=3.0, height=3.3, share_y=True, panels_are="panel"),
    1: GridLayout(columns=1, width=4.0, height=2.6, share_y=True, panels_are="panel"),
}
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
        f"Interquartile mean over {plural(len(context.envs), 'environment')}; {context.normalisation.meaning}. "
        f"{context.seeds(shown, context.envs)} per environment{_bands(lines, AGGREGATE_BANDS)}."
        f"{_scored(context, shown)}"
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


def env_learning_curves(
    context: AnalysisContext, series: Sequence[Series], env: str, *, titled: bool = True
) -> Drawing | None:
    """Learning curves of the mean return in one environment."""
    shown = [s for s in series if context.results.curve(s, env)]
    if not shown:
        return None
    window = smoothing(context, shown, env)
    lines = env_lines(context, shown, env, window)
    return figures.learning_curves(
        lines,
        title=env if titled else "",
        x_label=x_label((env,)),
        y_label="episodic return",
        caption=f"Mean over {context.seeds(shown, (env,))}{_bands(lines)}.{_smoothed({env: window})}",
        legend=False,
    )


def learning_curve_grid(context: AnalysisContext, series: Sequence[Series]) -> Drawing | None:
    """Learning curves with one panel per environment."""
    panels = {}
    windows = {}
    for env in context.results.envs:
        shown = [s for s in series if context.results.curve(s, env)]
        if shown:
            windows[env] = smoothing(context, shown, env)
            panels[env] = env_lines(context, shown, env, windows[env])
    if not panels:
        return None
    drawn = [line for lines in panels.values() for line in lines]
    return figures.curve_grid(
        panels,
        x_label=x_label(tuple(panels)),
        y_label="episodic return",
        caption=f"Mean over {context.seeds(series, tuple(panels))}{_bands(drawn)}.{_smoothed(windows)}",
    )


@dataclass(frozen=True)
class QuestionCurves:
    """The learning curves of one comparison group in one environment, with one panel per question."""

    env: str
    panels: dict[str, list[figures.Line]]
    caption: str

    def draw(self, *, columns: int = 3, legend: bool = True) -> Drawing:
        """All panels share their axis, because they show returns of the same environment."""
        return figures.curve_grid(
            self.panels,
            x_label=x_label((self.env,)),
            y_label="episodic return",
            caption=self.caption,
            layout=QUESTION_LAYOUTS[columns] if legend else replace(QUESTION_LAYOUTS[columns], legend=False),
        )


def question_curves(context: AnalysisContext, group: ComparisonGroup, env: str) -> QuestionCurves | None:
    """Members and their vote beside the single agent; active and passive member; members with CERL."""
    members = series_of(group.ensemble, "individual")
    vote = series_of(group.ensemble, "aggregate")
    asked = {
        f"Members and their {_vote(group)}": (group.single, members, vote),
        "Active and passive": (series_of(group.tandem, "active"), series_of(group.tandem, "passive")),
        "Members with CERL": (group.single, members, series_of(group.cerl, "individual")),
    }
    found = {
        title: [s for s in series if s is not None and context.results.curve(s, env)] for title, series in asked.items()
    }
    found = {title: series for title, series in found.items() if len(series) > 1}
    # Without CERL its panel would repeat the first one.
    if group.cerl is None or not context.results.curve(Series(group.cerl, "individual"), env):
        found.pop("Members with CERL", None)
    shown = list(dict.fromkeys(s for series in found.values() for s in series))
    if not shown:
        return None
    window = smoothing(context, shown, env)
    # One band per series: the single agent looks the same in every panel.
    lines = dict(zip(shown, env_lines(context, shown, env, window), strict=True))
    caption = (
        f"{env}, mean over {context.seeds(shown, (env,))}{_bands(list(lines.values()))}.{_smoothed({env: window})}"
    )
    return QuestionCurves(env, {title: [lines[s] for s in series] for title, series in found.items()}, caption)


def _vote(group: ComparisonGroup) -> str:
    """What members do together: they vote for one of several actions, or take the mean of continuous ones."""
    continuous = group.ensemble is not None and group.ensemble.settings.get("agent.kind") == "sac_learner"
    return "mean action" if continuous else "vote"


def env_lines(context: AnalysisContext, series: Sequence[Series], env: str, window: int) -> list[figures.Line]:
    bands = [(s, env_band(context.results, s, env, context.rng, window)) for s in series]
    return [context.line(s, band, (env,)) for s, band in bands if band is not None]


def smoothing(context: AnalysisContext, series: Sequence[Series], env: str) -> int:
    """The window in evaluations; the paper smooths games and does not smooth MuJoCo tasks."""
    if not (find_game(env) or env.startswith("MinAtar/")):
        return 1
    lengths = [len(curve.iterations) for s in series if (curve := context.results.curve(s, env))]
    return SMOOTHING_WINDOW if max(lengths, default=0) >= SMOOTH_FROM else 1


def final_aggregates(context: AnalysisContext, series: Sequence[Series], *, columns: int = 4) -> Drawing | None:
    """Aggregates of the final scores over several environments; the median only where it can differ from the mean."""
    shown = context.complete_series(series)
    if not shown or len(context.envs) < 2:
        return None
    matrices = {s: normalised_matrix(context.results, s, context.envs, context.normalisation) for s in shown}
    names = [name for name in INFLUENCES if name != "Median" or len(context.envs) > 2]
    panels = {
        name: [
            figures.LabelledEstimate(s.label, context.style(s), estimate(matrices[s], INFLUENCES[name])) for s in shown
        ]
        for name in names
    }
    caption = (
        f"{len(context.envs)} environments, {context.seeds(shown, context.envs)} each; "
        f"{context.normalisation.meaning}; "
        f"{context.final_meaning(shown, context.envs)}. ▲ higher is better, ▼ lower is better"
        f"{_whiskers(panels)}.{context.incomplete_note()}"
    )
    return figures.interval_estimates(panels, caption=caption, direction=ARROWS, columns=columns)


def final_returns(context: AnalysisContext, series: Sequence[Series], env: str) -> Drawing | None:
    """Mean final returns in one environment."""
    finals = {s: final for s in series if (final := context.results.final(s, env))}
    if len(finals) < 2:
        return None
    entries = [
        figures.LabelledEstimate(s.label, context.style(s), mean_estimate(final.values)) for s, final in finals.items()
    ]
    panels = {"mean final return": entries}
    shown = list(finals)
    caption = (
        f"{env}, mean over {context.seeds(shown, (env,))}; {context.final_meaning(shown, (env,))}"
        f"{_whiskers(panels)}.{context.left_out_note(shown, context.results.envs)}"
    )
    return figures.interval_estimates(panels, caption=caption, x_label="mean final return")


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
        f"{context.normalisation.meaning}; {context.final_meaning(shown, context.envs)}"
        f"{_bands(lines, PROFILE_BANDS)}.{context.incomplete_note()}"
    )
    return figures.performance_profiles(lines, x_label=context.normalisation.axis, caption=caption)


def _scored(context: AnalysisContext, series: Sequence[Series]) -> str:
    """What a final score is, where scores are normalised by one."""
    if context.normalisation.kind == "human":
        return ""
    meaning = context.final_meaning(series, context.envs)
    return f" {meaning[:1].upper()}{meaning[1:]}."


def _bands(lines: Sequence[figures.Line], meaning: str = BANDS) -> str:
    """What the bands are, if any is drawn: a single seed has none."""
    return f"; bands: {meaning}" if any(np.isfinite(line.low).any() for line in lines) else ""


def _whiskers(panels: Mapping[str, Sequence[figures.LabelledEstimate]]) -> str:
    drawn = any(entry.estimate.has_interval for entries in panels.values() for entry in entries)
    return f". Lines: {INTERVAL}" if drawn else ""


def _smoothed(windows: Mapping[str, int]) -> str:
    """Which curves are smoothed; games are, other tasks are not."""
    smoothed = [env for env, window in windows.items() if window > 1]
    if not smoothed:
        return ""
    whose = "" if len(smoothed) == len(windows) else f" in {', '.join(smoothed)}"
    return f" Each run{whose} smoothed over {SMOOTHING_WINDOW} evaluations."
