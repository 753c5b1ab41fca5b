"""Sweeps over a setting (figures 4, 5, 7, 18, 19, 21): a column per group of environments, a row per measure."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
from chorus.analysis.figures.style import PANEL, WIDE

# Columns side by side; further environments continue below.
COLUMNS = 5
_WIDTHS = {1: PANEL[0], 2: 6.4, 3: 8.2}
_LABEL_LETTERS = 22


@dataclass(frozen=True, kw_only=True)
class SweepColumn:
    """The panels of one environment, or of all together: the lines of each measure, in the order of rows."""

    title: str
    measures: Mapping[str, Sequence[Line]]
    references: Sequence[LabelledEstimate] = field(default=())
    """Methods that the setting does not apply to: horizontal lines in the first row."""


@in_house_style
def sweep(
    columns: Sequence[SweepColumn],
    *,
    x_label: str,
    caption: str,
    log_x: bool = False,
    most_columns: int = COLUMNS,
) -> Drawing:
    """Error bars over the values of a setting."""
    measures = list(dict.fromkeys(measure for column in columns for measure in column.measures))
    across = min(most_columns, len(columns))
    blocks = -(-len(columns) // across)
    width = PANEL[0] if most_columns < COLUMNS else _WIDTHS.get(across, WIDE)
    figure = Figure(figsize=(width, 0.7 + 1.8 * len(measures) * blocks), layout="constrained")
    drawing = Drawing(figure, caption, ("measure", "series", x_label, "value", "low", "high", "runs", "environment"))
    grid = figure.subplots(blocks * len(measures), across, squeeze=False)
    for axes in grid.flat:
        axes.set_visible(False)
    ticks = _ticks(columns)
    for number, column in enumerate(columns):
        block, place = divmod(number, across)
        for row, measure in enumerate(measures):
            axes = grid[block * len(measures) + row, place]
            axes.set_visible(True)
            _draw_panel(axes, column, measure, drawing, first=row == 0)
            _finish(axes, ticks, log_x=log_x, small=across > 1)
            axes.set_ylabel(textwrap.fill(measure, _LABEL_LETTERS) if place == 0 else "")
            if row == len(measures) - 1:
                axes.set_xlabel(textwrap.fill(x_label, _LABEL_LETTERS) if across > 1 else x_label)
        grid[block * len(measures), place].set_title(shorten(column.title, 24 if across > 1 else 48), fontsize=9)
    add_legend(drawing)
    return drawing


def _draw_panel(axes: Axes, column: SweepColumn, measure: str, drawing: Drawing, *, first: bool) -> None:
    for line in column.measures.get(measure, ()):
        _draw_error_bars(axes, line, drawing, measure, column.title)
    for level in column.references if first else ():
        _draw_level(axes, level, drawing, measure, column.title)


def _ticks(columns: Sequence[SweepColumn]) -> np.ndarray:
    lines = [line for column in columns for lines in column.measures.values() for line in lines]
    return np.unique(np.concatenate([line.x for line in lines])) if lines else np.zeros(0)


def _finish(axes: Axes, ticks: np.ndarray, *, log_x: bool, small: bool) -> None:
    if log_x:
        axes.set_xscale("log")
    axes.set_xticks(ticks)
    axes.minorticks_off()
    count_axis(axes.xaxis)
    count_axis(axes.yaxis)
    if small:
        axes.tick_params(labelsize=7)
        axes.xaxis.label.set_fontsize(7.5)
        axes.yaxis.label.set_fontsize(8)
    soften(axes)


def _draw_error_bars(axes: Axes, line: Line, drawing: Drawing, measure: str, env: str) -> None:
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
        row = (measure, line.label, float(x), float(y), float(low), float(high), int(runs), env)
        drawing.add(axes, x, y, line.label, row)


def _draw_level(axes: Axes, level: LabelledEstimate, drawing: Drawing, measure: str, env: str) -> None:
    found, style = level.estimate, level.style
    line = axes.axhline(found.value, color=style.hex, linestyle=style.dash, linewidth=1.3)
    tag(line, level.label, drawing.styles, style)
    if found.has_interval:
        band = axes.axhspan(found.low, found.high, color=style.hex, alpha=0.12, linewidth=0)
        tag(band, level.label, drawing.styles, style)
    drawing.rows.append((measure, level.label, None, found.value, found.low, found.high, found.runs, env))
