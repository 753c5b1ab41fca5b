"""A page as one self-contained HTML file, and its figures as inline SVG.

Matplotlib writes colours and ids. Here its colours become CSS variables, so that one figure serves light and dark; its
ids become unique in the page; and artists that belong to a series say so. Matplotlib's writer has escaped all text.
"""

import base64
import hashlib
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.figures.drawing import Drawing, Value, missing_glyphs_allowed
from chorus.analysis.figures.style import DARK, GRID, INK, LIGHT, MUTED, PAPER, SOLID, LineStyle, house_style
from chorus.analysis.findings import Summary, summarise
from chorus.analysis.ledger import count_words, evaluate
from chorus.analysis.loading import Dataset
from chorus.analysis.normalisation import Reference
from chorus.analysis.report import provenance, tables
from chorus.analysis.report.cards import answer_table, comparison_table, make_cards
from chorus.analysis.report.panels import Panel, Section
from chorus.analysis.report.sections import make_sections
from chorus.analysis.shipped import Beside
from chorus.errors import ChorusError
from chorus.files import write_text

POINTS_PER_INCH = 72
SCRIPTS = ("theme.js", "report.js", "saving.js", "sorting.js")
VARIABLES = {INK: "--ink", MUTED: "--muted", GRID: "--grid", PAPER: "--paper"} | {
    colour: f"--c{number}" for number, colour in enumerate(LIGHT)
}
COLOUR = re.compile("|".join(VARIABLES))
GROUP = re.compile(r'<g id="([\w.-]+)"')
IDENTIFIER = re.compile(r'((?:\bid=|xlink:href=)"#?|url\(#)([\w.-]+)')
FONT_FAMILY = re.compile(r"(font: [^;\"]*?[\d.]+px )[^;\"]*")
# The largest magnification of a figure on a wide screen, in CSS pixels per point.
LARGEST_ZOOM = 1.6
SWATCH_WIDTH = 2.0


def write_dataset_report(dataset: Dataset, out: Path | str, **options: Any) -> Summary:
    """Writes the report of a loaded dataset; takes the options of `render_report`."""
    page = check_page(out)
    return write_page(*render_report(dataset, **options), page)


def check_page(out: Path | str) -> Path:
    """The path of a page, which must not be a folder."""
    out = Path(out)
    if out.is_dir():
        raise ChorusError(f"{out} is a folder; give the name of a file such as {out / 'report.html'}.")
    return out


def write_page(text: str, summary: Summary, out: Path) -> Summary:
    """Writes a page and returns its summary with the path."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_text(out, text)
    except OSError as error:
        raise ChorusError(f"{out} could not be written ({error.strerror}); choose another file.") from error
    return replace(summary, out=out)


def render_report(
    dataset: Dataset,
    *,
    title: str | None = None,
    seed: int = 0,
    references: dict[str, Reference] | None = None,
    normalisation: str | None = None,
    beside: Beside | None = None,
    warnings: Sequence[str] = (),
) -> tuple[str, Summary]:
    """The page as text, and its summary; `beside` is what other runs say of the same questions, and `warnings` come
    before those about the runs."""
    context = make_context(dataset, seed, references, normalisation)
    summary = summarise(context, title)
    summary = replace(summary, beside=beside, warnings=(*warnings, *summary.warnings))
    return render_page(context, summary, make_sections(context), seed), summary


def render_page(context: AnalysisContext, summary: Summary, sections: list[Section], seed: int) -> str:
    """The page: answers, figures in sections, then tables and configurations."""
    dataset = context.results.dataset
    series_numbers = {series.label: number for number, series in enumerate(context.results.series)}
    env_numbers = {env: number for number, env in enumerate(dataset.envs)}
    shown = [[item for panel in s.panels for item in _rendered(panel, series_numbers)] for s in sections]
    claims = evaluate(dataset, references=context.references)
    drawn = {label for section in sections for panel in section.panels for label in panel.drawing.styles}
    return render_template(
        "report.html.j2",
        SCRIPTS,
        summary=summary,
        cards=make_cards(summary.findings),
        asked=summary.asked,
        claims=count_words(claims),
        extent=provenance.extent(context),
        yours=len(dataset.own_runs) < len(dataset.runs),
        terms=provenance.terms(context.results.series),
        paper=provenance.PAPER,
        cost=provenance.cost(dataset),
        sections=list(zip(sections, shown, strict=True)),
        series=[(s.label, context.style(s)) for s in context.results.series if s.label in drawn],
        series_numbers=series_numbers,
        env_numbers=env_numbers,
        tables={
            "comparisons": comparison_table(summary.findings),
            "beside": answer_table(summary.beside),
            "claims": tables.claim_table(claims),
            "final": tables.final_table(context.results),
            "runs": tables.run_table(dataset),
            "coverage": tables.coverage_table(dataset),
            "settings": tables.difference_table(dataset),
            "commands": provenance.command_table(dataset),
            "versions": tables.version_table(dataset),
        },
        configurations=tables.configurations(dataset),
        seed=seed,
    )


def render_template(name: str, scripts: Sequence[str], **values: Any) -> str:
    """A page from a template, with these scripts and the stylesheet in it; all text is escaped."""
    environment = Environment(
        loader=PackageLoader("chorus.analysis.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["swatch"] = swatch
    environment.filters["unbroken"] = unbroken
    script = "\n".join(map(_page_file, scripts))
    return environment.get_template(name).render(
        script=Markup(script),
        script_hash=_hash(script),
        stylesheet=Markup(theme() + _page_file("report.css")),
        **values,
    )


def _rendered(panel: Panel, series_numbers: dict[str, int]) -> list[dict[str, Any]]:
    """The figure, and its form for narrow screens if it has one."""
    forms = [(panel.name, panel.drawing, "wide-only" if panel.narrow else "")]
    if panel.narrow:
        forms.append((f"{panel.name}-narrow", panel.narrow, "narrow-only"))
    return [
        {"panel": panel, "classes": f"{'full ' if panel.full else ''}{which}".strip()}
        | render_drawing(drawing, name, series_numbers)
        for name, drawing, which in forms
    ]


def render_drawing(drawing: Drawing, name: str, series_numbers: dict[str, int]) -> dict[str, Any]:
    svg = to_svg(drawing, name, series_numbers)  # lays the figure out, so that its marks have their places
    data = json.dumps(hover_data(drawing, series_numbers), separators=(",", ":"), allow_nan=False)
    legend = [(label, style) for label, style in drawing.styles.items() if label in series_numbers]
    width = drawing.figure.get_figwidth() * POINTS_PER_INCH
    return {
        "name": name,
        "caption": drawing.caption,
        "svg": svg,
        # Without "<" in it, text from runs cannot close the data block.
        "data": Markup(data.replace("<", "\\u003c")),
        "largest": round(width * LARGEST_ZOOM),
        "legend": legend if drawing.kind == "curves" else [],  # other figures name their series on an axis
    }


def to_svg(drawing: Drawing, name: str, series_numbers: Mapping[str, int]) -> Markup:
    """Inline SVG; `series_numbers` are the numbers that the page gives to the series."""
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
    labels = list(drawing.styles)

    def open_group(match: re.Match[str]) -> str:
        kind, _, number = match[1].partition("-")
        if kind != "series" or not number.isdigit():
            return match[0]
        page_number = series_numbers.get(labels[int(number)])
        return "<g" if page_number is None else f'<g data-series="{page_number}"'

    svg = GROUP.sub(open_group, svg)
    # Matplotlib derives ids from memory addresses. Numbered in order they are the same in every report.
    numbers: dict[str, int] = {}
    svg = IDENTIFIER.sub(lambda m: f"{m[1]}{name}-{numbers.setdefault(m[2], len(numbers))}", svg)
    return Markup(svg)


def hover_data(drawing: Drawing, series_numbers: Mapping[str, int]) -> dict[str, Any]:
    """The data of a figure and the position of each datum, for the page's script."""
    figure = drawing.figure
    points_per_pixel = POINTS_PER_INCH / figure.dpi
    height = figure.get_figheight() * POINTS_PER_INCH
    panels = {axes: number for number, axes in enumerate(figure.axes)}
    marks = []
    for axes, panel in panels.items():
        here = [mark for mark in drawing.marks if mark.axes is axes]
        if here:
            places = axes.transData.transform([(mark.x, mark.y) for mark in here]) * points_per_pixel
            places = np.round(np.abs([0, height] - places), 1).tolist()  # the y axis of SVG points down
            marks += [
                [*place, series_numbers.get(mark.series, -1), mark.row, panel]
                for place, mark in zip(places, here, strict=True)
            ]
    rows = [[_plain(cell) for cell in row] for row in drawing.rows]
    return {"kind": drawing.kind, "columns": drawing.columns, "rows": rows, "marks": marks}


def _plain(cell: Value) -> Value:
    """Strict JSON has no NaN; numbers have six significant digits, as in the CSV files."""
    if not isinstance(cell, float):
        return cell
    return float(f"{cell:.6g}") if math.isfinite(cell) else None


def unbroken(text: str) -> str:
    """Numbers stay on one line with their percent signs."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def swatch(style: LineStyle) -> Markup:
    """A short sample of a line; dashes are in multiples of the line's width, as in figures."""
    dashes = [] if style.dash == SOLID else [f"{SWATCH_WIDTH * length:.3g}" for length in style.dash[1]]
    pattern = f' stroke-dasharray="{" ".join(dashes)}"' if dashes else ""
    return Markup(
        '<svg class="swatch" viewBox="0 0 24 8" aria-hidden="true"><line x1="1" y1="4" x2="23" y2="4" '
        f'stroke="var(--c{style.colour})" stroke-width="{SWATCH_WIDTH}"{pattern}/></svg>'
    )


def theme() -> str:
    """The figure colours as CSS variables, for light and dark."""

    def block(colours: tuple[str, ...], ink: str, muted: str, grid: str, paper: str) -> str:
        series = "".join(f"--c{number}:{colour};" for number, colour in enumerate(colours))
        return f"{{{series}--ink:{ink};--muted:{muted};--grid:{grid};--paper:{paper};}}"

    light = block(LIGHT, INK, MUTED, GRID, PAPER)
    dark = block(DARK, "#e8eaf0", "#a3acba", "#333b48", "#161a21")
    return (
        f":root{light}\n@media screen{{:root[data-theme=dark]{dark}"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){dark}}}}}\n"
    )


def _page_file(name: str) -> str:
    return files("chorus.analysis.report").joinpath("page", name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """The hash by which the content security policy permits the page's own script, and no other."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
