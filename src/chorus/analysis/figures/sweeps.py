"""Sweeps over one setting with error bars: size and layers over two rows (figures 5, 18, 21), buffers (4,
7), p (19).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chorus.analysis.bootstrap import Estimate
from chorus.analysis.figures.drawing import Drawing, Line, add_legend, count_axis, in_house_style, soften, tag
from chorus.analysis.figures.style import Look


@dataclass(frozen=True)
class Level:
    """A horizontal reference: a method the swept setting does not apply to."""

    label: str
    look: Look
    estimate: Estimate


@in_house_style
def sweep(
    rows: Mapping[str, Sequence[Line]],
    *,
    title: str,
    x_label: str,
    caption: str,
    references: Mapping[str, Sequence[Level]] | None = None,
    log_x: bool = False,
    legend: bool = True,
) -> Drawing:
    """Error bars over the values of a setting, one row a measure (score above, vote entropy below)."""
    figure = Figure(figsize=(4.4, 0.7 + 2.0 * len(rows)), layout="constrained")
    drawing = Drawing(figure, caption, ("measure", "series", x_label, "value", "low", "high", "runs"))
    grid = figure.subplots(len(rows), 1, squeeze=False, sharex=True)[:, 0]
    for axes, (measure, lines) in zip(grid, rows.items(), strict=True):
        for line in lines:
            _draw(axes, line, drawing, measure)
        for level in (references or {}).get(measure, ()):
            _draw_level(axes, level, drawing)
        axes.set_ylabel(measure)
        count_axis(axes.yaxis)
        soften(axes)
    ticks = np.unique(np.concatenate([line.x for lines in rows.values() for line in lines]))
    if log_x:
        grid[-1].set_xscale("log")
    grid[-1].set_xticks(ticks)
    grid[-1].minorticks_off()
    count_axis(grid[-1].xaxis)
    grid[0].set_title(title)
    grid[-1].set_xlabel(x_label)
    if legend:
        add_legend(drawing)
    return drawing


def _draw(axes: Axes, line: Line, drawing: Drawing, measure: str) -> None:
    below = np.where(np.isfinite(line.low), line.y - line.low, 0.0)
    above = np.where(np.isfinite(line.high), line.high - line.y, 0.0)
    bars = axes.errorbar(
        line.x,
        line.y,
        yerr=np.maximum([below, above], 0.0),
        color=line.look.hex,
        linestyle=line.look.dash,
        marker=line.look.marker,
        markersize=5,
        markerfacecolor=line.look.hex if line.look.filled else "none",
        capsize=2.5,
        elinewidth=1.1,
    )
    for artist in (bars.lines[0], *bars.lines[1], *bars.lines[2]):
        tag(artist, line.label, drawing.looks, line.look)
    for x, y, low, high, runs in zip(line.x, line.y, line.low, line.high, line.runs, strict=True):
        row = (measure, line.label, float(x), float(y), float(low), float(high), int(runs))
        drawing.add(axes, x, y, line.label, row)


def _draw_level(axes: Axes, level: Level, drawing: Drawing) -> None:
    found, look = level.estimate, level.look
    line = axes.axhline(found.value, color=look.hex, linestyle=look.dash, linewidth=1.3)
    tag(line, level.label, drawing.looks, look)
    if found.certain:
        band = axes.axhspan(found.low, found.high, color=look.hex, alpha=0.12, linewidth=0)
        tag(band, level.label, drawing.looks, look)
    drawing.rows.append(
        (axes.get_ylabel() or "score", level.label, None, found.value, found.low, found.high, found.runs)
    )
