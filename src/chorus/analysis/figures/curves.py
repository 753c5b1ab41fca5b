"""Learning curves: one panel (figures 2, 3, 7, 8, 14 to 17, 20, 22 to 26) or a grid of games (9 to 11)."""

from collections.abc import Mapping, Sequence

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
    size: tuple[float, float] = PANEL,
    legend: bool = True,
) -> Drawing:
    """One panel of curves with their interval bands."""
    # Without a legend the margins are known, and finding them anew takes half of the drawing time.
    figure = Figure(figsize=size, layout="constrained" if legend else None)
    if not legend:
        figure.subplots_adjust(left=0.135, right=0.985, bottom=0.165, top=0.9 if title else 0.97)
    drawing = Drawing(figure, caption, (*COLUMNS[:1], x_label, y_label, *COLUMNS[3:]), kind="curves")
    axes = figure.subplots()
    draw_bands(axes, lines, drawing)
    _finish(axes)
    axes.set(title=shorten(title, 48), xlabel=x_label, ylabel=y_label)
    if legend:
        add_legend(drawing)
    return drawing


@in_house_style
def curve_grid(
    panels: Mapping[str, Sequence[Line]],
    *,
    x_label: str,
    y_label: str,
    caption: str,
    columns: int = 5,
    legend: bool = True,
) -> Drawing:
    """A panel an environment, as the paper's pages of 55 games."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(2.3 * columns + 0.4, 1.8 * rows + 0.6), layout="constrained")
    drawing = Drawing(figure, caption, ("environment", *COLUMNS), kind="curves")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (env, lines) in zip(grid.flat, panels.items(), strict=False):
        draw_bands(axes, lines, drawing, env)
        _finish(axes)
        axes.set_title(shorten(env), fontsize=8)
    for axes in grid.flat[max(0, len(panels) - columns) : len(panels)]:
        axes.set_xlabel(x_label)
    for axes in grid[:, 0]:
        axes.set_ylabel(y_label)
    if legend:
        add_legend(drawing)
    return drawing


def draw_bands(axes: Axes, lines: Sequence[Line], drawing: Drawing, env: str | None = None) -> None:
    """Curves over their intervals, each datum remembered in the drawing."""
    for line in lines:
        band = axes.fill_between(line.x, line.low, line.high, color=line.look.hex, alpha=0.16, linewidth=0)
        tag(band, line.label, drawing.looks, line.look)
        (curve,) = axes.plot(line.x, line.y, color=line.look.hex, linestyle=line.look.dash)
        if np.isfinite(line.y).sum() == 1:
            curve.set(marker=line.look.marker, markersize=5)
        tag(curve, line.label, drawing.looks, line.look)
        for x, y, low, high, runs in zip(line.x, line.y, line.low, line.high, line.runs, strict=True):
            row = (line.label, float(x), float(y), float(low), float(high), int(runs))
            drawing.add(axes, x, y, line.label, (env, *row) if env is not None else row)


def _finish(axes: Axes) -> None:
    count_axis(axes.xaxis)
    count_axis(axes.yaxis)
    soften(axes)
