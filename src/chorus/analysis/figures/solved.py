"""Which environments were solved, and how fast: two rows over the environments, one line per algorithm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.figures.drawing import Drawing, add_legend, count_axis, in_house_style, shorten, soften, tag
from chorus.analysis.figures.style import WIDE, LineStyle

# Lines of one environment stand side by side within this share of its column.
_SPREAD = 0.5
_SHARE, _STEPS = "share of seeds that solved it", "agent steps until solved"


@dataclass(frozen=True)
class SolvedLine:
    """One algorithm: by environment, the share of runs that solved it and the medians of their episodes and steps."""

    label: str
    style: LineStyle
    shares: Mapping[str, IntervalEstimate]
    medians: Mapping[str, float]
    steps: Mapping[str, float]


@in_house_style
def solved_by_environment(lines: Sequence[SolvedLine], envs: Sequence[str], *, caption: str) -> Drawing:
    """Points side by side, because many algorithms have the same share."""
    figure = Figure(figsize=(WIDE * 0.8, 4.6), layout="constrained")
    columns = ("series", "environment", _SHARE, "low", "high", "runs", "median episodes", "median steps")
    drawing = Drawing(figure, caption, columns)
    above, below = figure.subplots(2, 1, sharex=True)
    shifts = np.linspace(-0.5, 0.5, len(lines)) * _SPREAD if len(lines) > 1 else np.zeros(1)
    for line, shift in zip(lines, shifts, strict=True):
        _draw(above, below, line, envs, float(shift), drawing)
    above.set(ylabel=_SHARE, ylim=(-0.05, 1.05))
    below.set(ylabel=_STEPS)
    below.set_ylim(bottom=0.0)
    below.set_xticks(np.arange(len(envs)), [shorten(env, 20) for env in envs], fontsize=8)
    count_axis(below.yaxis)
    for axes in (above, below):
        soften(axes)
    add_legend(drawing)
    return drawing


def _draw(above: Axes, below: Axes, line: SolvedLine, envs: Sequence[str], shift: float, drawing: Drawing) -> None:
    style = line.style
    look: dict[str, Any] = {
        "color": style.hex,
        "marker": style.marker,
        "markerfacecolor": style.hex if style.filled else "none",
    }
    for place, env in enumerate(envs):
        if env not in line.shares:
            continue
        share, x = line.shares[env], place + shift
        medians = [value if np.isfinite(value) else None for value in (line.medians[env], line.steps[env])]
        error = np.maximum([[share.value - share.low], [share.high - share.value]], 0.0)
        bars = above.errorbar([x], [share.value], yerr=error, linestyle="none", elinewidth=1.1, capsize=2.5, **look)
        for artist in (bars.lines[0], *bars.lines[1], *bars.lines[2]):
            tag(artist, line.label, drawing.styles, style)
        row = (line.label, env, share.value, share.low, share.high, share.runs, *medians)
        drawing.add(above, x, share.value, line.label, row)
    found = [(place + shift, line.steps[env]) for place, env in enumerate(envs) if env in line.steps]
    known = [(x, y) for x, y in found if np.isfinite(y)]
    if known:
        (drawn,) = below.plot(*zip(*known, strict=True), linestyle=style.dash, markersize=5, **look)
        tag(drawn, line.label, drawing.styles, style)
