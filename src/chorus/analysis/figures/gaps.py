"""The gap-correlation scatter (figure 3, right): does the tandem gap of a game foretell the ensemble gap?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from scipy import stats

from chorus.analysis.figures.drawing import Drawing, in_house_style, soften, tag, zero_line
from chorus.analysis.figures.style import GRID, MUTED, Look

COLUMNS = ("environment", "active - passive", "single - ensemble (indiv.)", "excluded because")
# The paper's figure 3, right: games the single agent hardly plays, and games where the ensemble is the better
# one.
LOWEST_SINGLE_SCORE = 0.05


@dataclass(frozen=True)
class Gap:
    """Both gaps of one environment, in scores normalised by the single agent, and the single agent's own
    level.
    """

    tandem: float
    ensemble: float
    single_level: float

    @property
    def exclusion(self) -> str | None:
        """Why the paper would leave this environment out, or None."""
        if self.single_level < LOWEST_SINGLE_SCORE:
            return f"single agent below {LOWEST_SINGLE_SCORE}"
        if self.ensemble < 0:
            return "ensemble above the single agent"
        return None


@dataclass(frozen=True)
class Correlation:
    """Pearson's and Spearman's correlation of the gaps that were kept; None with fewer than three."""

    pearson: float | None
    spearman: float | None
    kept: int


def gap_correlation(gaps: Sequence[Gap]) -> Correlation:
    kept = [gap for gap in gaps if gap.exclusion is None]
    x, y = np.array([gap.tandem for gap in kept]), np.array([gap.ensemble for gap in kept])
    if len(kept) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(None, None, len(kept))
    return Correlation(float(stats.pearsonr(x, y)[0]), float(stats.spearmanr(x, y)[0]), len(kept))


@in_house_style
def gap_scatter(gaps: Mapping[str, Gap], *, look: Look, caption: str) -> Drawing:
    """One dot an environment; excluded ones are hollow and named in the data, not hidden."""
    figure = Figure(figsize=(4.4, 3.6), layout="constrained")
    drawing = Drawing(figure, caption, COLUMNS)
    axes = figure.subplots()
    for env, gap in gaps.items():
        excluded = gap.exclusion
        dot = axes.scatter(
            [gap.tandem],
            [gap.ensemble],
            s=34,
            facecolor="none" if excluded else look.hex,
            edgecolor=MUTED if excluded else look.hex,
            linewidth=1.1,
            zorder=3,
        )
        tag(dot, "environments", drawing.looks, look)
        drawing.add(axes, gap.tandem, gap.ensemble, "environments", (env, gap.tandem, gap.ensemble, excluded))
    found = gap_correlation(list(gaps.values()))
    parts = [f"r = {found.pearson:.2f}"] if found.pearson is not None else []
    parts += [f"rank correlation {found.spearman:.2f}"] if found.spearman is not None else []
    left_out = len(gaps) - found.kept
    parts += [f"{found.kept} environments" + (f", {left_out} left out" if left_out else "")]
    axes.set_title("\n".join([", ".join(parts[:-1]), parts[-1]]).strip(), fontsize=9)
    axes.set(xlabel="tandem gap: active - passive", ylabel="ensemble gap: single - indiv.")
    axes.axline((0, 0), slope=1, color=GRID, linewidth=1, zorder=1)
    axes.grid(axis="both")
    zero_line(axes)
    zero_line(axes, horizontal=False)
    soften(axes)
    return drawing
