"""The figures of a report: which ones the runs at hand allow, and what each says."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chorus.analysis import aggregates, figures
from chorus.analysis.bootstrap import (
    CURVE_RESAMPLES,
    FINAL_RESAMPLES,
    MeanResampler,
    Rng,
    estimate,
    percentile_interval,
    resampled,
)
from chorus.analysis.comparisons import Band, aggregate_band, env_band, normalised_matrix
from chorus.analysis.figures.style import WIDE, Palette
from chorus.analysis.normalisation import Normalisation
from chorus.analysis.results import Results, Series
from chorus.analysis.scores import SMOOTHING_WINDOW, atari_game, final_evaluations

# Long enough runs are smoothed as the paper does for games; short ones would lose their shape.
SMOOTH_FROM = 50


@dataclass(frozen=True)
class Plate:
    """A figure in the report; one that shows a single environment can be hidden with it."""

    name: str
    title: str
    drawing: figures.Drawing
    env: str | None = None


@dataclass(frozen=True)
class Study:
    """Everything a plate is drawn from."""

    results: Results
    scale: Normalisation
    palette: Palette
    rng: Rng
    resampler: MeanResampler

    @property
    def envs(self) -> tuple[str, ...]:
        return tuple(env for env in self.results.envs if env in self.scale.envs)

    def look(self, series: Series) -> figures.Look:
        return self.palette.look(series.variant, series.policy)

    def line(self, series: Series, band: Band, envs: Sequence[str]) -> figures.Line:
        x = band.frames if x_label(envs) == "frames" else band.steps
        return figures.Line(series.label, self.look(series), x, band.value, band.low, band.high, band.runs)

    def everywhere(self) -> list[Series]:
        """The series that were run in every environment; only these can be aggregated side by side."""
        envs = self.envs
        return [s for s in self.results.series if envs and all(self.results.curve(s, env) for env in envs)]

    def seeds(self, series: Sequence[Series], envs: Sequence[str]) -> str:
        counts = [len(f.values) for s in series for env in envs if (f := self.results.final(s, env))]
        return _span(counts, "seed") if counts else "no seeds"

    def absent(self) -> str:
        names = [s.label for s in self.results.series if s not in self.everywhere()]
        return f" Not run in every environment, so not shown: {', '.join(names)}." if names else ""


def final_meaning(envs: Sequence[str]) -> str:
    counts = sorted({final_evaluations(env) for env in envs})
    last = " or ".join(map(str, counts))
    return f"final score: mean of a run's last {last} evaluations, or of all if there are fewer"


def aggregate_curves(study: Study) -> list[Plate]:
    if len(study.envs) < 2:
        return []
    lines = []
    for series in study.everywhere():
        band = aggregate_band(study.results, series, study.envs, study.scale, study.rng)
        if band is not None:
            lines.append(study.line(series, band, study.envs))
    if not lines:
        return []
    caption = (
        f"Interquartile mean over {len(study.envs)} environments; {study.scale.meaning}. "
        f"{study.seeds(study.everywhere(), study.envs)} an environment; bands: 95 % stratified bootstrap "
        "intervals, "
        f"{CURVE_RESAMPLES:,} resamples.{study.absent()}"
    )
    drawing = figures.learning_curves(
        lines,
        title="",
        x_label=x_label(study.envs),
        y_label=f"IQM of {study.scale.axis}",
        caption=caption,
        size=WIDE,
        legend=False,
    )
    return [Plate("aggregate-curves", "Learning, all environments together", drawing)]


def env_curves(study: Study) -> list[Plate]:
    plates = []
    for number, env in enumerate(study.results.envs):
        shown = [s for s in study.results.series if study.results.curve(s, env)]
        length = max(len(c.iterations) for s in shown if (c := study.results.curve(s, env)))
        window = SMOOTHING_WINDOW if length >= SMOOTH_FROM else 1
        lines = []
        for series in shown:
            band = env_band(study.results, series, env, study.rng, window)
            if band is not None:
                lines.append(study.line(series, band, (env,)))
        smoothing = f" Each run smoothed over {window} evaluations." if window > 1 else ""
        caption = (
            f"Mean over {study.seeds(shown, (env,))}; bands: 95 % bootstrap intervals over seeds, "
            f"{CURVE_RESAMPLES:,} resamples.{smoothing}"
        )
        drawing = figures.learning_curves(
            lines,
            title=env,
            x_label=x_label((env,)),
            y_label="episodic return",
            caption=caption,
            legend=False,
        )
        plates.append(Plate(f"curves-{number}", env, drawing, env))
    return plates


def final_scores(study: Study) -> list[Plate]:
    """Four aggregates of the final scores, with intervals."""
    shown = study.everywhere()
    if not shown:
        return []
    matrices = {s: normalised_matrix(study.results, s, study.envs, study.scale) for s in shown}
    panels = {
        name: [
            figures.Labelled(s.label, study.look(s), estimate(matrix, aggregate, study.rng))
            for s, matrix in matrices.items()
        ]
        for name, aggregate in aggregates.AGGREGATES.items()
    }
    many = "environments" if len(study.envs) > 1 else "environment"
    caption = (
        f"{len(study.envs)} {many}, {study.seeds(shown, study.envs)} each; {study.scale.meaning}; "
        f"{final_meaning(study.envs)}. Lines: 95 % stratified bootstrap intervals, {FINAL_RESAMPLES:,} "
        "resamples."
        f"{study.absent()}"
    )
    better = dict.fromkeys(panels, "▲") | {"Optimality gap": "▼"}
    drawing = figures.interval_estimates(panels, caption=caption, direction=better)
    return [Plate("final-scores", "Final scores", drawing), *profiles(study, matrices)]


def profiles(study: Study, matrices: dict[Series, np.ndarray]) -> list[Plate]:
    top = max(float(np.nanmax(matrix)) for matrix in matrices.values())
    bottom = min(0.0, *(float(np.nanmin(matrix)) for matrix in matrices.values()))
    thresholds = np.linspace(bottom, top, 81)

    def profile(scores: np.ndarray) -> np.ndarray:
        return aggregates.performance_profile(scores, thresholds)

    lines = []
    for series, matrix in matrices.items():
        low, high = np.full((2, len(thresholds)), np.nan)
        if len(matrix) > 1:
            low, high = percentile_interval(resampled(matrix, profile, study.rng, 200))
        runs = np.full(len(thresholds), np.isfinite(matrix).sum())
        lines.append(
            figures.Line(series.label, study.look(series), thresholds, profile(matrix), low, high, runs)
        )
    caption = (
        f"Share of runs whose final score is higher than the value on the axis, averaged over environments; "
        f"{study.scale.meaning}. Bands: 95 % stratified bootstrap intervals, 200 resamples."
    )
    drawing = figures.performance_profiles(lines, x_label=study.scale.axis, caption=caption, legend=False)
    return [Plate("profiles", "Performance profiles", drawing)]


def x_label(envs: Sequence[str]) -> str:
    """Atari is plotted over emulator frames, as is the custom; everything else over agent steps."""
    return "frames" if all(atari_game(env) for env in envs) else "agent steps"


def _span(counts: Sequence[int], noun: str) -> str:
    low, high = min(counts), max(counts)
    return f"{low} {noun}{'s' if low != 1 else ''}" if low == high else f"{low} to {high} {noun}s"
