"""Putting a report together and writing it."""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from chorus.analysis.basis import Basis, make_basis
from chorus.analysis.figures.style import DARK, GRID, INK, LIGHT, MUTED, PAPER, SOLID, Look
from chorus.analysis.loading import Dataset, load_runs
from chorus.analysis.report import tables
from chorus.analysis.report.plates import Plate, Section, make_sections
from chorus.analysis.report.svg import POINTS_AN_INCH, hover_data, to_svg
from chorus.analysis.scores import Reference
from chorus.analysis.summary import Summary, summarise
from chorus.errors import ChorusError

# How much larger than drawn a figure may get on a wide screen, in CSS pixels a point.
LARGEST_ZOOM = 1.6


def write_report(
    paths: Sequence[Path | str],
    out: Path | str,
    *,
    title: str | None = None,
    seed: int = 0,
    references: dict[str, Reference] | None = None,
    scale_by: str | None = None,
) -> Summary:
    """Reads run directories, writes the report to `out`, and returns what it found.

    The same runs and the same seed give the same bytes.
    """
    return write_dataset_report(load_runs(paths), out, title=title, seed=seed, references=references, scale_by=scale_by)


def write_dataset_report(dataset: Dataset, out: Path | str, **options: Any) -> Summary:
    """As `write_report`, from a dataset that is already loaded (and perhaps merged with published curves)."""
    out = Path(out)
    if out.is_dir():
        raise ChorusError(f"{out} is a folder; give the name of a file such as {out / 'report.html'}.")
    return write_page(*render_report(dataset, **options), out)


def write_page(text: str, summary: Summary, out: Path) -> Summary:
    """The summary with the place it was written to."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ChorusError(f"{out} could not be written ({error.strerror}); choose another file.") from error
    return replace(summary, out=out)


def render_report(
    dataset: Dataset,
    *,
    title: str | None = None,
    seed: int = 0,
    references: dict[str, Reference] | None = None,
    scale_by: str | None = None,
) -> tuple[str, Summary]:
    """The page as text, and what it found."""
    basis = make_basis(dataset, seed, references, scale_by)
    summary = summarise(basis, title)
    return render_page(basis, summary, make_sections(basis), seed), summary


def render_page(basis: Basis, summary: Summary, sections: list[Section], seed: int) -> str:
    """Answers first, then the figures in their sections, then tables and configurations."""
    dataset = basis.results.dataset
    series_numbers = {series.label: number for number, series in enumerate(basis.results.series)}
    env_numbers = {env: number for number, env in enumerate(dataset.envs)}
    script, style = _page_file("report.js"), _page_file("report.css")
    environment = Environment(
        loader=PackageLoader("chorus.analysis.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["swatch"] = swatch
    shown = [[_show_plate(plate, series_numbers) for plate in section.plates] for section in sections]
    return environment.get_template("report.html.j2").render(
        summary=summary,
        scale=basis.scale,
        sections=list(zip(sections, shown, strict=True)),
        series=[(s.label, basis.look(s)) for s in basis.results.series],
        series_numbers=series_numbers,
        env_numbers=env_numbers,
        tables={
            "final": tables.final_table(basis.results, basis.resampler),
            "runs": tables.run_table(dataset),
            "coverage": tables.coverage_table(dataset),
            "settings": tables.difference_table(dataset),
            "versions": tables.version_table(dataset),
        },
        configurations=tables.configurations(dataset),
        seed=seed,
        script=Markup(script),
        script_hash=_hash(script),
        style=Markup(theme() + style),
    )


def _show_plate(plate: Plate, series_numbers: dict[str, int]) -> dict[str, Any]:
    svg = to_svg(plate.drawing, plate.name, series_numbers)
    data = json.dumps(hover_data(plate.drawing, series_numbers), separators=(",", ":"), allow_nan=False)
    legend = [(label, look) for label, look in plate.drawing.looks.items() if label in series_numbers]
    width = plate.drawing.figure.get_figwidth() * POINTS_AN_INCH
    return {
        "plate": plate,
        "svg": svg,
        # "<" never stands in a data block, so text from runs cannot close it.
        "data": Markup(data.replace("<", "\\u003c")),
        "largest": round(width * LARGEST_ZOOM),
        "legend": legend if plate.drawing.kind == "curves" else [],  # the others name series on an axis
    }


def swatch(look: Look) -> Markup:
    """A short piece of the line as the figures draw it."""
    pattern = "" if look.dash == SOLID else f' stroke-dasharray="{" ".join(map(str, look.dash[1]))}"'
    return Markup(
        '<svg class="swatch" viewBox="0 0 24 8" aria-hidden="true"><line x1="1" y1="4" x2="23" y2="4" '
        f'stroke="var(--c{look.colour})" stroke-width="2.6"{pattern}/></svg>'
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
    """The content security policy names the one script that may run by its hash, so nothing else ever can."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
