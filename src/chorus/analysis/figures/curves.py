"""Lines: learning curves in one panel (figures 2, 3, 7, 14 to 17, 20, 22 to 26) or in several (8 to 11), and
performance profiles.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chorus.analysis.figures.drawing import (
    Drawing,
    Line,
    add_legend,
    count_axis,
    in_house_style,
    shorten,
    soften,
    tag,
)
from chorus.analysis.figures.style import PANEL

COLUMNS = ("series", "x", "value", "low", "high", "runs")


@in_house_style
def learning_curves(
    lines: Sequence[Line],
    *,
    title: str,
    x_label: str,
    y_label: str,
    caption: str,
    legend: bool = True,
) -> Drawing:
    """One panel of curves with their interval bands."""
    # Without a legend the margins are known. Computing them would take half of the drawing time.
    figure = Figure(figsize=PANEL, layout="constrained" if legend else None)
    if not legend:
        figure.subplots_adjust(left=0.145, right=0.955, bottom=0.165, top=0.9 if title else 0.97)
    drawing = Drawing(figure, caption, (*COLUMNS[:1], x_label, y_label, *COLUMNS[3:]), kind="curves")
    axes = figure.subplots()
    _draw_bands(axes, lines, drawing)
    _finish(axes)
    axes.set(title=shorten(title, 48), xlabel=x_label, ylabel=y_label)
    if legend:
        add_legend(drawing)
    return drawing


@dataclass(frozen=True, kw_only=True)
class GridLayout:
    """How a grid of panels is laid out; sizes in inches."""

    columns: int = 5
    width: float = 2.3
    height: float = 1.8
    share_y: bool = False  # all panels have the same y axis, because they show the same returns
    legend: bool = True
    panels_are: str = "environment"  # the name of their column in the data


@in_house_style
def curve_grid(
    panels: Mapping[str, Sequence[Line]],
    *,
    x_label: str,
    y_label: str,
    caption: str,
    layout: GridLayout = GridLayout(),
) -> Drawing:
    """One panel per environment, like the paper's pages of 55 games, or per question."""
    columns = min(layout.columns, len(panels))
    rows = -(-len(panels) // columns)
    # A single panel would be smaller than its legend.
    scale = max(1.0, PANEL[0] / layout.width) if len(panels) == 1 else 1.0
    size = (scale * layout.width * columns + 0.4, scale * layout.height * rows + 0.6)
    figure = Figure(figsize=size, layout="constrained")
    names = (layout.panels_are, "series", x_label, y_label, *COLUMNS[3:])
    drawing = Drawing(figure, caption, names, kind="curves")
    grid = figure.subplots(rows, columns, squeeze=False, sharey=layout.share_y)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (name, lines) in zip(grid.flat, panels.items(), strict=False):
        _draw_bands(axes, lines, drawing, name)
        _finish(axes)
        axes.set_title(shorten(name), fontsize=8 if columns > 3 else 9.5)
        axes.tick_params(labelleft=True)
    for axes in grid.flat[max(0, len(panels) - columns) : len(panels)]:
        axes.set_xlabel(x_label)
    for axes in grid[:, 0]:
        axes.set_ylabel(y_label)
    if layout.legend:
        add_legend(drawing)
    return drawing


@in_house_style
def performance_profiles(lines: Sequence[Line], *, x_label: str, caption: str) -> Drawing:
    """The share of runs above each score; a higher curve is better."""
    figure = Figure(figsize=PANEL, layout="constrained")
    drawing = Drawing(figure, caption, ("series", "threshold", "share of runs", "low", "high", "runs"), kind="curves")
    axes = figure.subplots()
    _draw_bands(axes, lines, drawing)
    axes.set(xlabel=x_label, ylabel="share of runs with a higher score", ylim=(-0.02, 1.02))
    soften(axes)
    return drawing


def _draw_bands(axes: Axes, lines: Sequence[Line], drawing: Drawing, env: str | None = None) -> None:
    """Draws curves over their intervals and adds every point to the drawing's data."""
    for line in lines:
        band = axes.fill_between(line.x, line.low, line.high, color=line.style.hex, alpha=0.16, linewidth=0)
        tag(band, line.label, drawing.styles, line.style)
        (curve,) = axes.plot(line.x, line.y, color=line.style.hex, linestyle=line.style.dash)
        if np.isfinite(line.y).sum() == 1:
            curve.set(marker=line.style.marker, markersize=5)
        tag(curve, line.label, drawing.styles, line.style)
        for x, y, low, high, runs in zip(line.x, line.y, line.low, line.high, line.runs, strict=True):
            row = (line.label, float(x), float(y), float(low), float(high), int(runs))
            drawing.add(axes, x, y, line.label, (env, *row) if env is not None else row)


def _finish(axes: Axes) -> None:
    count_axis(axes.xaxis)
    count_axis(axes.yaxis)
    soften(axes)
