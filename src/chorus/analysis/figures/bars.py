"""Bars and intervals: improvement per game (figures 2, 12, 13, 27, 28), scores by method (7), aggregates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chorus.analysis.bootstrap import Estimate
from chorus.analysis.figures.drawing import (
    Drawing,
    add_legend,
    count_axis,
    in_house_style,
    shorten,
    soften,
    tag,
    zero_line,
)
from chorus.analysis.figures.style import INK, PANEL, Look

SYMLOG_LINEAR = 0.1  # as in the paper's bars
SYMLOG_TICKS = sorted({0.0} | {sign * size for size in (0.1, 0.3, 1, 3, 10, 30, 100, 1000) for sign in (-1, 1)})


@dataclass(frozen=True)
class Labelled:
    """An estimate with the series it belongs to."""

    label: str
    look: Look
    estimate: Estimate


@in_house_style
def improvement_bars(
    panels: Mapping[str, tuple[Look, Mapping[str, Estimate]]],
    *,
    x_label: str,
    caption: str,
    legend: bool = False,
) -> Drawing:
    """A bar an environment, sorted, on a symlog axis that is linear within 0.1; one panel a comparison."""
    most = max(len(bars) for _, bars in panels.values())
    figure = Figure(figsize=(PANEL[0], len(panels) * (0.5 + 0.2 * most) + 0.35), layout="constrained")
    drawing = Drawing(figure, caption, ("comparison", "environment", x_label, "low", "high", "runs"))
    grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True)[:, 0]
    for axes, (name, (look, bars)) in zip(grid, panels.items(), strict=True):
        ordered = sorted(bars.items(), key=lambda item: item[1].value)
        positions = np.arange(len(ordered))
        found = [estimate for _, estimate in ordered]
        drawn = axes.barh(positions, [e.value for e in found], height=0.72, color=look.hex, alpha=0.85)
        whiskers = axes.hlines(positions, [e.low for e in found], [e.high for e in found], color=INK, linewidth=1.1)
        for artist in (*drawn.patches, whiskers):
            tag(artist, name, drawing.looks, look)
        for position, (env, e) in enumerate(ordered):
            drawing.add(axes, e.value, position, name, (name, env, e.value, e.low, e.high, e.runs))
        axes.set_title(name, fontsize=9)
        axes.set_yticks(positions, [shorten(env) for env, _ in ordered], fontsize=7.5)
        axes.set_xscale("symlog", linthresh=SYMLOG_LINEAR, linscale=0.6)
        axes.grid(axis="x")
        axes.grid(visible=False, axis="y")
        axes.margins(y=0.02)
        zero_line(axes, horizontal=False)
        axes.tick_params(labelbottom=True)
        ends = axes.get_xlim()
        fine = max(-ends[0], ends[1]) < 1  # room for ticks within the linear part
        ticks = SYMLOG_TICKS + ([-0.05, 0.05] if fine else [])
        axes.set_xticks([tick for tick in ticks if ends[0] <= tick <= ends[1]])
        count_axis(axes.xaxis)
        axes.minorticks_off()
        soften(axes)
    grid[-1].set_xlabel(x_label)
    if legend:
        add_legend(drawing)
    return drawing


@in_house_style
def score_bars(bars: Sequence[Labelled], *, title: str, x_label: str, caption: str) -> Drawing:
    """One horizontal bar a method with its interval: final scores, or vote entropy beside them."""
    figure = Figure(figsize=(PANEL[0], 0.8 + 0.32 * len(bars)), layout="constrained")
    drawing = Drawing(figure, caption, ("series", x_label, "low", "high", "runs"))
    axes = figure.subplots()
    for position, bar in enumerate(reversed(bars)):
        found = bar.estimate
        fill = bar.look.hex if bar.look.filled else "none"
        (patch,) = axes.barh(
            position, found.value, height=0.62, color=fill, alpha=0.85, edgecolor=bar.look.hex, linewidth=1.4
        )
        tag(patch, bar.label, drawing.looks, bar.look)
        _whisker(axes, position, found, drawing, bar.label, bar.look)
        row = (bar.label, found.value, found.low, found.high, found.runs)
        drawing.add(axes, found.value, position, bar.label, row)
    axes.set_yticks(np.arange(len(bars)), [shorten(bar.label) for bar in reversed(bars)], color=INK)
    axes.set(title=title, xlabel=x_label)
    axes.grid(axis="x")
    axes.grid(visible=False, axis="y")
    zero_line(axes, horizontal=False)
    count_axis(axes.xaxis)
    soften(axes)
    return drawing


@in_house_style
def interval_estimates(
    panels: Mapping[str, Sequence[Labelled]], *, caption: str, direction: Mapping[str, str] | None = None
) -> Drawing:
    """One panel an aggregate: a dot and its interval for every series."""
    count = max(len(entries) for entries in panels.values())
    figure = Figure(figsize=(PANEL[0], len(panels) * (0.55 + 0.21 * count)), layout="constrained")
    drawing = Drawing(figure, caption, ("aggregate", "series", "value", "low", "high", "runs"))
    grid = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
    for axes, (name, entries) in zip(grid, panels.items(), strict=True):
        for position, entry in enumerate(reversed(entries)):
            found, look = entry.estimate, entry.look
            (dot,) = axes.plot(
                [found.value],
                [position],
                marker=look.marker,
                color=look.hex,
                markerfacecolor=look.hex if look.filled else "none",
                markersize=6,
                linestyle="none",
            )
            tag(dot, entry.label, drawing.looks, look)
            _whisker(axes, position, found, drawing, entry.label, look)
            row = (name, entry.label, found.value, found.low, found.high, found.runs)
            drawing.add(axes, found.value, position, entry.label, row)
        names = [shorten(entry.label) for entry in reversed(entries)]
        axes.set_yticks(np.arange(len(names)), names, color=INK, fontsize=7.5)
        axes.set_ylim(-0.6, len(entries) - 0.4)
        note = (direction or {}).get(name, "")
        axes.set_title(f"{name} {note}".strip(), fontsize=9)
        axes.grid(axis="x")
        axes.grid(visible=False, axis="y")
        soften(axes)
    return drawing


def _whisker(axes: Axes, at: float, found: Estimate, drawing: Drawing, series: str, look: Look) -> None:
    if not found.certain:
        return
    (whisker,) = axes.plot([found.low, found.high], [at, at], color=INK, linewidth=1.1, zorder=3)
    tag(whisker, series, drawing.looks, look)
