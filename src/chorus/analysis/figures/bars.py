"""Bars and points with intervals: improvement per game (figures 2, 12, 13, 27, 28), scores per method (7), aggregates
and probabilities of improvement.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.figures.drawing import (
    Drawing,
    LabelledEstimate,
    count_axis,
    in_house_style,
    shorten,
    shorten_apart,
    soften,
    tag,
    vertical_grid_only,
    zero_line,
)
from chorus.analysis.figures.style import INK, MUTED, PANEL, WIDE, LineStyle

SYMLOG_LINEAR = 0.1  # as in the paper's bars
_SYMLOG_TICKS = sorted({0.0} | {sign * size for size in (0.1, 0.3, 1, 3, 10, 30, 100, 1000) for sign in (-1, 1)})


@in_house_style
def improvement_bars(
    panels: Mapping[str, tuple[LineStyle, Mapping[str, IntervalEstimate]]],
    *,
    x_label: str,
    caption: str,
) -> Drawing:
    """One panel per comparison with one bar per environment, sorted, on a symlog axis that is linear within 0.1."""
    most = max(len(bars) for _, bars in panels.values())
    figure = Figure(figsize=(PANEL[0], len(panels) * (0.5 + 0.2 * most) + 0.35), layout="constrained")
    drawing = Drawing(figure, caption, ("comparison", "environment", x_label, "low", "high", "runs"))
    grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True)[:, 0]
    for axes, (name, (style, bars)) in zip(grid, panels.items(), strict=True):
        ordered = sorted(bars.items(), key=lambda item: item[1].value)
        positions = np.arange(len(ordered))
        found = [estimate for _, estimate in ordered]
        drawn = axes.barh(positions, [e.value for e in found], height=0.72, color=style.hex, alpha=0.85)
        whiskers = axes.hlines(positions, [e.low for e in found], [e.high for e in found], color=INK, linewidth=1.1)
        for artist in (*drawn.patches, whiskers):
            tag(artist, name, drawing.styles, style)
        for position, (env, e) in enumerate(ordered):
            drawing.add(axes, e.value, position, name, (name, env, e.value, e.low, e.high, e.runs))
        axes.set_title(name, fontsize=9)
        axes.set_yticks(positions, shorten_apart([env for env, _ in ordered]), fontsize=7.5)
        axes.set_xscale("symlog", linthresh=SYMLOG_LINEAR, linscale=0.6)
        vertical_grid_only(axes)
        axes.margins(y=0.02)
        zero_line(axes, horizontal=False)
        axes.tick_params(labelbottom=True)
        ends = axes.get_xlim()
        fine = max(-ends[0], ends[1]) < 1  # there is room for ticks within the linear part
        ticks = _SYMLOG_TICKS + ([-0.05, 0.05] if fine else [])
        axes.set_xticks([tick for tick in ticks if ends[0] <= tick <= ends[1]])
        count_axis(axes.xaxis)
        axes.minorticks_off()
        soften(axes)
    grid[-1].set_xlabel(x_label)
    return drawing


@in_house_style
def score_bars(bars: Sequence[LabelledEstimate], *, x_label: str, caption: str) -> Drawing:
    """One horizontal bar with its interval per method."""
    figure = Figure(figsize=(PANEL[0], 0.8 + 0.32 * len(bars)), layout="constrained")
    drawing = Drawing(figure, caption, ("series", x_label, "low", "high", "runs"))
    axes = figure.subplots()
    for position, bar in enumerate(reversed(bars)):
        found = bar.estimate
        fill = bar.style.hex if bar.style.filled else "none"
        (patch,) = axes.barh(
            position, found.value, height=0.62, color=fill, alpha=0.85, edgecolor=bar.style.hex, linewidth=1.4
        )
        tag(patch, bar.label, drawing.styles, bar.style)
        _whisker(axes, position, found, drawing, bar.label, bar.style)
        row = (bar.label, found.value, found.low, found.high, found.runs)
        drawing.add(axes, found.value, position, bar.label, row)
    axes.set_yticks(np.arange(len(bars)), shorten_apart([bar.label for bar in reversed(bars)]), color=INK)
    axes.set_xlabel(x_label)
    vertical_grid_only(axes)
    zero_line(axes, horizontal=False)
    count_axis(axes.xaxis)
    soften(axes)
    return drawing


@in_house_style
def interval_estimates(
    panels: Mapping[str, Sequence[LabelledEstimate]],
    *,
    caption: str,
    direction: Mapping[str, str] | None = None,
    x_label: str = "",
    columns: int = 1,
    zero: bool = False,
) -> Drawing:
    """One panel per aggregate with one dot and interval per series; `x_label` stands for the name of a single one.

    `zero` draws a line at zero, for differences.
    """
    count = max(len(entries) for entries in panels.values())
    across = min(columns, len(panels))
    down = -(-len(panels) // across)
    size = (PANEL[0] if across == 1 else WIDE, down * (0.55 + 0.21 * count))
    figure = Figure(figsize=size, layout="constrained")
    drawing = Drawing(figure, caption, ("aggregate", "series", "value", "low", "high", "runs"))
    grid = figure.subplots(down, across, squeeze=False).flat
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    for number, (axes, (name, entries)) in enumerate(zip(grid, panels.items(), strict=False)):
        for position, entry in enumerate(reversed(entries)):
            found, style = entry.estimate, entry.style
            (dot,) = axes.plot(
                [found.value],
                [position],
                marker=style.marker,
                color=style.hex,
                markerfacecolor=style.hex if style.filled else "none",
                markersize=6,
                linestyle="none",
            )
            tag(dot, entry.label, drawing.styles, style)
            _whisker(axes, position, found, drawing, entry.label, style)
            row = (name, entry.label, found.value, found.low, found.high, found.runs)
            drawing.add(axes, found.value, position, entry.label, row)
        shown = shorten_apart([entry.label for entry in reversed(entries)])
        names = shown if number % across == 0 else [""] * len(shown)
        axes.set_yticks(np.arange(len(names)), names, color=INK, fontsize=7.5)
        axes.set_ylim(-0.6, len(entries) - 0.4)
        note = (direction or {}).get(name, "")
        if x_label:
            axes.set_xlabel(x_label)
        else:
            axes.set_title(f"{name} {note}".strip(), fontsize=9)
        axes.xaxis.set_major_locator(MaxNLocator(5 if across > 1 else "auto", steps=[1, 2, 5, 10]))
        vertical_grid_only(axes)
        if zero:
            zero_line(axes, horizontal=False)
        soften(axes)
    return drawing


@in_house_style
def improvement_probabilities(
    pairs: dict[tuple[str, str], tuple[LineStyle, IntervalEstimate]], *, caption: str
) -> Drawing:
    """The probability that a run of the first method beats a run of the second; at one half neither is better."""
    figure = Figure(figsize=(PANEL[0], 0.7 + 0.4 * len(pairs)), layout="constrained")
    drawing = Drawing(figure, caption, ("method", "compared with", "probability", "low", "high", "runs"))
    axes = figure.subplots()
    for position, ((first, second), (style, found)) in enumerate(reversed(pairs.items())):
        (dot,) = axes.plot(
            [found.value],
            [position],
            marker="o",
            color=style.hex,
            linestyle="none",
            markerfacecolor=style.hex if style.filled else "none",
        )
        tag(dot, first, drawing.styles, style)
        _whisker(axes, position, found, drawing, first, style)
        row = (first, second, found.value, found.low, found.high, found.runs)
        drawing.add(axes, found.value, position, first, row)
    names = [f"{shorten(first)}\nover {shorten(second)}" for first, second in reversed(pairs)]
    axes.set_yticks(np.arange(len(names)), names, color=INK, fontsize=7.5)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.6, len(pairs) - 0.4), xlabel="probability of improvement")
    axes.axvline(0.5, color=MUTED, linewidth=0.8, zorder=1)
    vertical_grid_only(axes)
    soften(axes)
    return drawing


def _whisker(axes: Axes, at: float, found: IntervalEstimate, drawing: Drawing, series: str, style: LineStyle) -> None:
    if not found.has_interval or found.low == found.high:
        return
    (whisker,) = axes.plot([found.low, found.high], [at, at], color=INK, linewidth=1.1, zorder=3)
    tag(whisker, series, drawing.styles, style)
