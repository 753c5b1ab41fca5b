"""Colours, dashes, markers and sizes of all figures.

Colours stay distinguishable under the common colour deficiencies, and colour never carries meaning alone: policies
differ by dashes, variants beyond the palette by markers. `LIGHT` and `DARK` list the same colours for light and dark
backgrounds in the same order, so that the report can swap them.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

import matplotlib as mpl

from chorus.analysis.variants import Variant

LIGHT = ("#4a4f5a", "#0072b2", "#d55e00", "#009e73", "#a8508f", "#b07c00", "#3aa5dd", "#8a3b12")
DARK = ("#c3c8d2", "#5aaeea", "#ff8f47", "#31cb9e", "#e394cb", "#f2c14e", "#9bdcff", "#d69a78")
INK, MUTED, GRID, PAPER = "#1d2430", "#5b6472", "#dde1e7", "#ffffff"
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES: dict[str, tuple[float, tuple[float, ...]]] = {
    "individual": (0, (4.5, 1.8)),
    "passive": (0, (1.2, 1.4)),
    "individual-mode": (0, (4.5, 1.5, 1.2, 1.5, 1.2, 1.5)),
    "aggregate-mode": (0, (8.0, 1.5, 1.2, 1.5)),
}
SOLID: Literal["solid"] = "solid"
Dash = Literal["solid"] | tuple[float, tuple[float, ...]]

# The first variant of a role has the same colour in every report.
ROLE_COLOUR = {"single": 0, "ensemble": 1, "cerl": 2, "tandem": 3}

PANEL = (4.4, 2.9)  # inches; text stays readable at the width of a phone
WIDE = 9.6  # the width of figures with several panels side by side


@dataclass(frozen=True)
class LineStyle:
    """How a series is drawn in every figure."""

    colour: int
    marker: str = "o"
    policy: str = "aggregate"

    @property
    def hex(self) -> str:
        return LIGHT[self.colour]

    @property
    def dash(self) -> Dash:
        return DASHES.get(self.policy, SOLID)

    @property
    def filled(self) -> bool:
        """Whether marks are filled; policies with dashed lines have hollow ones."""
        return self.policy not in DASHES


class Palette:
    """One colour per variant of a dataset, and one dash per policy."""

    def __init__(self, variants: Sequence[Variant]) -> None:
        taken: set[int] = set()
        self._colours: dict[str, tuple[int, str]] = {}
        # The main variant of a role has its colour, whatever else was swept.
        for variant in sorted(variants, key=lambda v: v.rank):
            wanted = ROLE_COLOUR.get(variant.role)
            free = [c for c in range(len(LIGHT)) if c not in taken]
            reserved = {ROLE_COLOUR.get(v.role) for v in variants}
            if wanted is None or wanted not in free:
                wanted = next((c for c in free if c not in reserved), free[0] if free else None)
            round_, colour = divmod(len(self._colours), len(LIGHT))
            colour = colour if wanted is None else wanted
            taken.add(colour)
            self._colours[variant.label] = (colour, MARKERS[round_ % len(MARKERS)])

    def style(self, variant: Variant, policy: str) -> LineStyle:
        colour, marker = self._colours[variant.label]
        single = variant.members == 1 and policy == "individual"
        return LineStyle(colour, marker, "aggregate" if single else policy)


def house_style() -> AbstractContextManager[None]:
    """Matplotlib settings of all figures; text is never parsed as mathematics, because labels come from users."""
    return mpl.rc_context(
        {
            "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans"],
            "font.size": 9,
            "axes.titlesize": 10,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.labelsize": 9,
            "axes.labelcolor": MUTED,
            "axes.edgecolor": GRID,
            "axes.linewidth": 0.9,
            "axes.grid": True,
            "axes.grid.axis": "y",
            "axes.axisbelow": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "grid.color": GRID,
            "grid.linewidth": 0.7,
            "text.color": INK,
            "text.parse_math": False,
            "xtick.color": GRID,
            "ytick.color": GRID,
            "xtick.labelcolor": MUTED,
            "ytick.labelcolor": MUTED,
            "xtick.labelsize": 8,
            "ytick.labelsize": 8,
            "axes.unicode_minus": True,
            "lines.linewidth": 1.7,
            "lines.solid_capstyle": "round",
            "legend.frameon": False,
            "legend.fontsize": 8,
            "figure.facecolor": "none",
            "axes.facecolor": "none",
            "savefig.facecolor": PAPER,
            "svg.fonttype": "none",
            "svg.hashsalt": "chorus",
        }
    )
