"""Distributions instead of means: performance profiles and the probability of improvement."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from chorus.analysis.bootstrap import Estimate
from chorus.analysis.figures.curves import draw_bands
from chorus.analysis.figures.drawing import Drawing, Line, add_legend, in_house_style, shorten, soften, tag
from chorus.analysis.figures.style import INK, MUTED, PANEL, Look


@in_house_style
def performance_profiles(lines: Sequence[Line], *, x_label: str, caption: str, legend: bool = True) -> Drawing:
    """For each score, the share of runs that reach more: a curve that lies above another is better."""
    figure = Figure(figsize=PANEL, layout="constrained")
    drawing = Drawing(figure, caption, ("series", "threshold", "share of runs", "low", "high", "runs"), kind="curves")
    axes = figure.subplots()
    draw_bands(axes, lines, drawing)
    axes.set(xlabel=x_label, ylabel="share of runs with a higher score", ylim=(-0.02, 1.02))
    soften(axes)
    if legend:
        add_legend(drawing)
    return drawing


@in_house_style
def improvement_probabilities(pairs: dict[tuple[str, str], tuple[Look, Estimate]], *, caption: str) -> Drawing:
    """How likely a run of the first method beats a run of the second; at one half neither is better."""
    figure = Figure(figsize=(PANEL[0], 0.7 + 0.4 * len(pairs)), layout="constrained")
    drawing = Drawing(figure, caption, ("method", "compared with", "probability", "low", "high", "runs"))
    axes = figure.subplots()
    for position, ((first, second), (look, found)) in enumerate(reversed(pairs.items())):
        (dot,) = axes.plot(
            [found.value],
            [position],
            marker="o",
            color=look.hex,
            linestyle="none",
            markerfacecolor=look.hex if look.filled else "none",
        )
        tag(dot, first, drawing.looks, look)
        if found.certain:
            (whisker,) = axes.plot([found.low, found.high], [position, position], color=INK, linewidth=1.1)
            tag(whisker, first, drawing.looks, look)
        row = (first, second, found.value, found.low, found.high, found.runs)
        drawing.add(axes, found.value, position, first, row)
    names = [f"{shorten(first)}\nover {shorten(second)}" for first, second in reversed(pairs)]
    axes.set_yticks(np.arange(len(names)), names, color=INK, fontsize=7.5)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.6, len(pairs) - 0.4), xlabel="probability of improvement")
    axes.axvline(0.5, color=MUTED, linewidth=0.8, zorder=1)
    axes.grid(axis="x")
    axes.grid(visible=False, axis="y")
    soften(axes)
    return drawing
