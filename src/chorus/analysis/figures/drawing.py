"""What a figure function returns: the figure, its caption, its data, and where each datum is drawn."""

import csv
import io
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.figures.style import GRID, MUTED, LineStyle, house_style
from chorus.analysis.wording import spreadsheet_cell
from chorus.components import short_number

_CAPTION_LETTERS_PER_INCH = 18
_LEGEND_LETTERS_PER_INCH = 15.5
_LEGEND_HANDLE_LETTERS = 7  # the room of a line and its margins
# A legend with more rows makes its figure higher, by inches per row, so that the panels keep their size.
_LEGEND_ROWS, _LEGEND_ROW_INCHES = 3, 0.19
Value = str | float | int | None
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Line:
    """A curve with its interval and the number of runs behind each point."""

    label: str
    style: LineStyle
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    runs: np.ndarray


@dataclass(frozen=True)
class LabelledEstimate:
    """The estimate of one series."""

    label: str
    style: LineStyle
    estimate: IntervalEstimate


@dataclass(frozen=True)
class Mark:
    """Where row `row` of the data is drawn, in data coordinates of its axes."""

    axes: Axes
    x: float
    y: float
    series: str
    row: int


@dataclass
class Drawing:
    """A finished figure with its caption and data."""

    figure: Figure
    caption: str
    columns: tuple[str, ...]
    rows: list[tuple[Value, ...]] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    styles: dict[str, LineStyle] = field(default_factory=dict)
    kind: str = "points"  # the page reads "curves" along a vertical line and "points" one at a time

    def add(self, axes: Axes, x: float, y: float, series: str, row: Sequence[Value]) -> None:
        if np.isfinite(x) and np.isfinite(y):
            self.marks.append(Mark(axes, float(x), float(y), series, len(self.rows)))
        self.rows.append(tuple(row))

    def csv(self) -> str:
        """The data as comma-separated text: six significant digits, missing values empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_csv_cell(cell) for cell in row] for row in self.rows)
        return text.getvalue()

    def save(self, path: Path | str, *, captioned: bool = False) -> None:
        """Writes the figure as svg, pdf or png, after the suffix of the path; `captioned` adds the caption below."""
        with house_style(), missing_glyphs_allowed(), self._captioned() if captioned else nullcontext():
            around = "tight" if captioned else None
            self.figure.savefig(path, dpi=200, metadata=_undated(Path(path).suffix), bbox_inches=around)

    @contextmanager
    def _captioned(self) -> Iterator[None]:
        """Adds the caption below the figure while the context lasts."""
        figure, layout = self.figure, self.figure.get_layout_engine()
        # The caption moves the figure's lower edge, and the legend would follow it: everything is laid out before.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for legend in figure.legends:
            legend.set_bbox_to_anchor((0, 0, 1, 1), transform=figure.transFigure)
        lines = textwrap.fill(self.caption, round(figure.get_figwidth() * _CAPTION_LETTERS_PER_INCH))
        text = figure.text(0.01, -0.02, lines, va="top", fontsize=7, color=MUTED)
        try:
            yield
        finally:
            text.remove()
            for legend in figure.legends:
                legend.set_bbox_to_anchor(None)
            figure.set_layout_engine(layout)


def in_house_style(draw: Callable[P, T]) -> Callable[P, T]:
    """Decorates a figure function to draw in the house style, whatever the caller's matplotlib settings are."""

    @wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> T:
        with house_style():
            return draw(*args, **kwargs)

    return styled


def tag(artist: Artist, series: str, styles: dict[str, LineStyle], style: LineStyle) -> None:
    """Marks an artist as part of a series, so that the report can hide it; ids hold numbers, never text."""
    styles.setdefault(series, style)
    artist.set_gid(f"series-{list(styles).index(series)}")


def shorten(label: str, length: int = 34) -> str:
    """A label cut in the middle, so that it leaves room for the data; the CSV data keep the whole label."""
    half = (length - 1) // 2
    return label if len(label) <= length else f"{label[:half]}…{label[-half:]}"


def shorten_apart(labels: Sequence[str], length: int = 34) -> list[str]:
    """Labels cut as by `shorten`, and less where two different ones would look the same."""
    while len({shorten(label, length) for label in labels}) < len(set(labels)):
        length += 2
    return [shorten(label, length) for label in labels]


def add_legend(drawing: Drawing) -> None:
    handles = [
        Line2D(
            [],
            [],
            color=style.hex,
            linestyle=style.dash,
            marker=style.marker if drawing.kind == "points" else None,
            markerfacecolor=style.hex if style.filled else "none",
        )
        for style in drawing.styles.values()
    ]
    if handles:
        labels = shorten_apart([name.lstrip("_") or "unnamed" for name in drawing.styles], 48)
        room = round(drawing.figure.get_figwidth() * _LEGEND_LETTERS_PER_INCH)
        entry = max(map(len, labels)) + _LEGEND_HANDLE_LETTERS
        columns = max(1, min(len(labels), room // entry))
        more_rows = max(0, -(-len(labels) // columns) - _LEGEND_ROWS)
        drawing.figure.set_figheight(drawing.figure.get_figheight() + more_rows * _LEGEND_ROW_INCHES)
        legend = drawing.figure.legend(handles, labels, loc="outside lower center", ncols=columns, handlelength=2.4)
        legend.set_gid("legend")


def zero_line(axes: Axes, horizontal: bool = True) -> None:
    draw = axes.axhline if horizontal else axes.axvline
    draw(0, color=MUTED, linewidth=0.8, zorder=1)


def vertical_grid_only(axes: Axes) -> None:
    axes.grid(axis="x")
    axes.grid(visible=False, axis="y")


def count_axis(axis: Any) -> None:
    """Ticks such as 250k and 4M."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))


def soften(axes: Axes) -> None:
    axes.tick_params(length=0)
    axes.spines["left"].set_visible(False)
    axes.spines["bottom"].set_color(GRID)


def _csv_cell(cell: Value) -> str:
    if cell is None or (isinstance(cell, float | np.floating) and not np.isfinite(cell)):
        return ""
    return f"{cell:.6g}" if isinstance(cell, float | np.floating) else str(spreadsheet_cell(cell))


@contextmanager
def missing_glyphs_allowed() -> Iterator[None]:
    """Silences matplotlib: the reader's own fonts set SVG text, so a missing glyph does not matter."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def _undated(suffix: str) -> dict[str, Any]:
    return {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
