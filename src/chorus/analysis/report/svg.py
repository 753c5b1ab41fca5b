"""A drawing as inline SVG that follows the page's theme, with the places of its data for the page's script.

Matplotlib writes colours and ids; here its colours become CSS variables, so that one figure serves light
and dark, its ids become unique in the page, and artists that belong to a series say so. Text was escaped by
matplotlib's writer.
"""

import io
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from chorus.analysis.figures.drawing import Cell, Drawing, missing_glyphs_allowed
from chorus.analysis.figures.style import GRID, INK, LIGHT, MUTED, PAPER, house_style

POINTS_AN_INCH = 72
VARIABLES = {INK: "--ink", MUTED: "--muted", GRID: "--grid", PAPER: "--paper"} | {
    colour: f"--c{number}" for number, colour in enumerate(LIGHT)
}
COLOUR = re.compile("|".join(VARIABLES))
GROUP = re.compile(r'<g id="([\w.-]+)"')
IDENTIFIER = re.compile(r'((?:\bid=|xlink:href=)"#?|url\(#)([\w.-]+)')
FONT_FAMILY = re.compile(r"(font: [^;\"]*?[\d.]+px )[^;\"]*")


def to_svg(drawing: Drawing, name: str, series_numbers: Mapping[str, int]) -> Markup:
    """Inline SVG; `series_numbers` are the page's numbers of the series that can be toggled."""
    text = io.StringIO()
    with house_style(), missing_glyphs_allowed():
        drawing.figure.savefig(text, format="svg", metadata={"Date": None}, facecolor="none")
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg [^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg [^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = COLOUR.sub(lambda match: f"var({VARIABLES[match[0]]})", svg)
    svg = FONT_FAMILY.sub(r"\1var(--sans)", svg)
    labels = list(drawing.looks)

    def open_group(match: re.Match[str]) -> str:
        kind, _, number = match[1].partition("-")
        if kind != "series" or not number.isdigit():
            return match[0]
        page_number = series_numbers.get(labels[int(number)])
        return "<g" if page_number is None else f'<g data-series="{page_number}"'

    svg = GROUP.sub(open_group, svg)
    # Matplotlib makes ids from memory addresses; numbered in order they are the same in every report.
    numbers: dict[str, int] = {}
    svg = IDENTIFIER.sub(lambda m: f"{m[1]}{name}-{numbers.setdefault(m[2], len(numbers))}", svg)
    return Markup(svg)


def hover_data(drawing: Drawing, series_numbers: Mapping[str, int]) -> dict[str, Any]:
    """What the page's script needs: the data and, for each datum, where it is drawn."""
    figure = drawing.figure
    scale = POINTS_AN_INCH / figure.dpi
    height = figure.get_figheight() * POINTS_AN_INCH
    panels = {axes: number for number, axes in enumerate(figure.axes)}
    marks = []
    for axes, panel in panels.items():
        here = [mark for mark in drawing.marks if mark.axes is axes]
        if here:
            places = axes.transData.transform([(mark.x, mark.y) for mark in here]) * scale
            places = np.round(np.abs([0, height] - places), 1).tolist()  # SVG counts downwards
            marks += [
                [*place, series_numbers.get(mark.series, -1), mark.row, panel]
                for place, mark in zip(places, here, strict=True)
            ]
    rows = [[_plain(cell) for cell in row] for row in drawing.rows]
    return {"kind": drawing.kind, "columns": drawing.columns, "rows": rows, "marks": marks}


def _plain(cell: Cell) -> Cell:
    """Strict JSON knows no NaN; six significant digits are what the CSV files hold too."""
    if not isinstance(cell, float):
        return cell
    return float(f"{cell:.6g}") if math.isfinite(cell) else None
