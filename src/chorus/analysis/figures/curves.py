"""Lines: learning curves in one panel (figures 2, 3, 7, 8, 14 to 17, 20, 22 to 26) or per game (9 to 11), performance
profiles, and sweeps over a setting (4, 5, 7, 18, 19, 21).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chorus.analysis.figures.drawing import (
    Drawing,
    LabelledEstimate,
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
        figure.subplots_adjust(left=0.135, right=0.985, bottom=0.165, top=0.9 if title else 0.97)
    drawing = Drawing(figure, caption, (*COLUMNS[:1], x_label, y_label, *COLUMNS[3:]), kind="curves")
    axes = figure.subplots()
    _draw_bands(axes, lines, drawing)
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
) -> Drawing:
    """One panel per environment, like the paper's pages of 55 games."""
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(2.3 * columns + 0.4, 1.8 * rows + 0.6), layout="constrained")
    drawing = Drawing(figure, caption, ("environment", *COLUMNS), kind="curves")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (env, lines) in zip(grid.flat, panels.items(), strict=False):
        _draw_bands(axes, lines, drawing, env)
        _finish(axes)
        axes.set_title(shorten(env), fontsize=8)
    for axes in grid.flat[max(0, len(panels) - columns) : len(panels)]:
        axes.set_xlabel(x_label)
    for axes in grid[:, 0]:
        axes.set_ylabel(y_label)
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


@in_house_style
def sweep(
    rows: Mapping[str, Sequence[Line]],
    *,
    x_label: str,
    caption: str,
    references: Mapping[str, Sequence[LabelledEstimate]] | None = None,
    log_x: bool = False,
) -> Drawing:
    """Error bars over the values of a setting, with one panel per measure.

    `references` are methods that the setting does not apply to; they are drawn as horizontal lines.
    """
    figure = Figure(figsize=(4.4, 0.7 + 2.0 * len(rows)), layout="constrained")
    drawing = Drawing(figure, caption, ("measure", "series", x_label, "value", "low", "high", "runs"))
    grid = figure.subplots(len(rows), 1, squeeze=False, sharex=True)[:, 0]
    for axes, (measure, lines) in zip(grid, rows.items(), strict=True):
        for line in lines:
            _draw_error_bars(axes, line, drawing, measure)
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
    grid[-1].set_xlabel(x_label)
    add_legend(drawing)
    return drawing


def _draw_error_bars(axes: Axes, line: Line, drawing: Drawing, measure: str) -> None:
    below = np.where(np.isfinite(line.low), line.y - line.low, 0.0)
    above = np.where(np.isfinite(line.high), line.high - line.y, 0.0)
    bars = axes.errorbar(
        line.x,
        line.y,
        yerr=np.maximum([below, above], 0.0),
        color=line.style.hex,
        linestyle=line.style.dash,
        marker=line.style.marker,
        markersize=5,
        markerfacecolor=line.style.hex if line.style.filled else "none",
        capsize=2.5,
        elinewidth=1.1,
    )
    for artist in (bars.lines[0], *bars.lines[1], *bars.lines[2]):
        tag(artist, line.label, drawing.styles, line.style)
    for x, y, low, high, runs in zip(line.x, line.y, line.low, line.high, line.runs, strict=True):
        row = (measure, line.label, float(x), float(y), float(low), float(high), int(runs))
        drawing.add(axes, x, y, line.label, row)


def _draw_level(axes: Axes, level: LabelledEstimate, drawing: Drawing) -> None:
    found, style = level.estimate, level.style
    line = axes.axhline(found.value, color=style.hex, linestyle=style.dash, linewidth=1.3)
    tag(line, level.label, drawing.styles, style)
    if found.has_interval:
        band = axes.axhspan(found.low, found.high, color=style.hex, alpha=0.12, linewidth=0)
        tag(band, level.label, drawing.styles, style)
    drawing.rows.append(
        (axes.get_ylabel() or "score", level.label, None, found.value, found.low, found.high, found.runs)
    )


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
