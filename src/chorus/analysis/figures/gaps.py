"""The correlation of the tandem gap with the ensemble gap over environments (figure 3, right)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.correlation import FEWEST_POINTS_OF_INTERVAL, pearson, spearman
from chorus.analysis.figures.drawing import Drawing, in_house_style, soften, tag, zero_line
from chorus.analysis.figures.style import GRID, MUTED, LineStyle

# The paper leaves out games that the single agent hardly plays. It also leaves out the one game in which the ensemble
# is better than the single agent, which would bias the correlation; here such games count (Deviation D36).
LOWEST_SINGLE_SCORE = 0.05
FEWEST_POINTS = 3
CORRELATION = (
    "r: Pearson's correlation, rank: Spearman's, with 95 % intervals over environments by Fisher's z (Bonett and "
    f"Wright's standard error for ranks; from {FEWEST_POINTS_OF_INTERVAL} environments, and none at 1 or -1)"
)
_COLUMNS = ("environment", "active - passive", "single - ensemble (indiv.)", "excluded because")


@dataclass(frozen=True)
class Gap:
    """The gaps of one environment in scores normalised by the single agent, and the single agent's own score."""

    tandem: float
    ensemble: float
    single_score: float

    @property
    def exclusion(self) -> str | None:
        """Why the correlation leaves this environment out; None if it does not."""
        return f"single agent below {LOWEST_SINGLE_SCORE}" if self.single_score < LOWEST_SINGLE_SCORE else None


@dataclass(frozen=True)
class Correlation:
    """Pearson's and Spearman's correlation of the gaps that were kept; None if there are fewer than three."""

    pearson: IntervalEstimate | None
    spearman: IntervalEstimate | None
    kept: int


def gap_correlation(gaps: Sequence[Gap]) -> Correlation:
    kept = [gap for gap in gaps if gap.exclusion is None]
    x, y = [gap.tandem for gap in kept], [gap.ensemble for gap in kept]
    if len(kept) < FEWEST_POINTS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(None, None, len(kept))
    return Correlation(pearson(x, y), spearman(x, y), len(kept))


@in_house_style
def gap_scatter(gaps: Mapping[str, Gap], *, style: LineStyle, caption: str) -> Drawing:
    """One dot per environment; excluded environments have hollow dots and a reason in the data."""
    figure = Figure(figsize=(4.4, 3.7), layout="constrained")
    drawing = Drawing(figure, caption, _COLUMNS)
    axes = figure.subplots()
    for env, gap in gaps.items():
        excluded = gap.exclusion
        dot = axes.scatter(
            [gap.tandem],
            [gap.ensemble],
            s=34,
            facecolor="none" if excluded else style.hex,
            edgecolor=MUTED if excluded else style.hex,
            linewidth=1.1,
            zorder=3,
        )
        tag(dot, "environments", drawing.styles, style)
        drawing.add(axes, gap.tandem, gap.ensemble, "environments", (env, gap.tandem, gap.ensemble, excluded))
    axes.set_title(_title(gap_correlation(list(gaps.values())), len(gaps)), fontsize=9)
    axes.set(xlabel="tandem gap: active - passive", ylabel="ensemble gap: single - indiv.")
    axes.axline((0, 0), slope=1, color=GRID, linewidth=1, zorder=1)
    axes.grid(axis="both")
    zero_line(axes)
    zero_line(axes, horizontal=False)
    soften(axes)
    return drawing


def _title(found: Correlation, gaps: int) -> str:
    lines = [
        f"{name} {_with_interval(estimate)}"
        for name, estimate in (("r =", found.pearson), ("rank", found.spearman))
        if estimate is not None
    ]
    left_out = f", {gaps - found.kept} left out" if gaps > found.kept else ""
    return "\n".join([*lines, f"{found.kept} environments{left_out}"])


def _with_interval(found: IntervalEstimate) -> str:
    interval = f" (95 % interval {found.low:.2f} to {found.high:.2f})" if found.has_interval else ""
    return f"{found.value:.2f}{interval}"
