"""Maps of visits: how often each state was visited, one panel per algorithm."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from chorus.analysis.figures.drawing import Drawing, in_house_style, shorten
from chorus.analysis.figures.style import GRID, PANEL, WIDE, LineStyle

COLUMNS = 4
# A page holds every cell as a shape of its own. Larger maps are drawn in blocks of cells.
MOST_CELLS = 25
_FAINTEST = 0.12


@in_house_style
def visit_maps(
    maps: Mapping[str, tuple[LineStyle, np.ndarray]], *, caption: str, most_columns: int = COLUMNS
) -> Drawing:
    """One shade per power of ten, the same in all panels; cells that were never visited are empty."""
    across = min(most_columns, len(maps))
    down = -(-len(maps) // across)
    width = PANEL[0] if across == 1 else WIDE * across / COLUMNS
    figure = Figure(figsize=(width, 0.4 + down * (width / across + 0.1)), layout="constrained")
    drawing = Drawing(figure, caption, ("series", "row", "column", "visits per run"))
    powers = 1 + max(int(np.log10(max(visits.max(), 1.0))) for _, visits in maps.values())
    grid = figure.subplots(down, across, squeeze=False)
    for axes in grid.flat[len(maps) :]:
        axes.set_visible(False)
    for axes, (label, (style, visits)) in zip(grid.flat, maps.items(), strict=False):
        _draw(axes, label, style, visits, powers, drawing)
        axes.set_title(shorten(label, 26 if across > 1 else 40), fontsize=9)
    return drawing


def _draw(axes: Axes, label: str, style: LineStyle, visits: np.ndarray, powers: int, drawing: Drawing) -> None:
    rows, columns = visits.shape
    power = np.floor(np.log10(np.maximum(visits, 1.0))).astype(int)
    for level in range(powers):
        cells = np.argwhere((power == level) & (visits > 0))
        if len(cells):
            shape = Path.make_compound_path(*(_square(r, c) for r, c in cells))
            opacity = _FAINTEST + (1 - _FAINTEST) * (level + 1) / powers
            axes.add_patch(PathPatch(shape, facecolor=style.hex, alpha=opacity, linewidth=0))
    for row, column in np.argwhere(visits > 0).tolist():
        found = (label, row, column, float(visits[row, column]))
        drawing.add(axes, column + 0.5, row + 0.5, label, found)
    axes.set(xlim=(0, columns), ylim=(rows, 0), aspect="equal", xticks=[], yticks=[])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set(visible=True, color=GRID)


def in_blocks(visits: np.ndarray) -> tuple[np.ndarray, int]:
    """The map in square blocks of cells, at most `MOST_CELLS` to a side, and the cells on the side of a block."""
    side = -(-max(visits.shape) // MOST_CELLS)
    padded = np.pad(visits, [(0, -size % side) for size in visits.shape])
    rows, columns = (size // side for size in padded.shape)
    return padded.reshape(rows, side, columns, side).sum(axis=(1, 3)), side


def _square(row: int, column: int) -> Path:
    return Path(
        [(column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1), (column, row)], closed=True
    )
