"""The paper's three diagrams, drawn from the value map and the data shares of a configuration.

Members are tints of their algorithm's colour. If there are more members or heads than fit, the first ones are drawn and
the caption says so.
"""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from chorus.analysis.figures.drawing import Drawing, in_house_style, shorten
from chorus.analysis.figures.style import INK, MUTED, PANEL, PAPER, LineStyle
from chorus.ensemble.value_map import ValueMap

SHOWN = 4  # the largest number of members or heads that are drawn
LAST_TINT = 0.22


@in_house_style
def who_generates_who_learns(shares: np.ndarray, *, style: LineStyle) -> Drawing:
    """Figure 1: each member generates its share of the replay, and every member learns from all of it."""
    members = len(shares)
    shown = min(members, SHOWN)
    figure = Figure(figsize=(PANEL[0], 0.9 + 0.55 * shown), layout="constrained")
    drawing = Drawing(figure, "", ("member", "share of episodes generated", "share of data learnt from"))
    axes = _canvas(figure, (0, 10), (-0.7, shown))
    bottom, height = -0.35, shown - 0.3
    level = bottom + height  # filled from the top, in the order of members
    for member in range(shown):
        y = shown - 1 - member
        part = height * shares[member] / shares[:shown].sum()
        level -= part
        tint = _tint(member, shown)
        axes.add_patch(Rectangle((4.25, level), 1.5, part, facecolor=style.hex, alpha=tint, linewidth=0))
        for x in (1.1, 8.9):
            _member(axes, x, y, member, style, shown)
        _arrow(axes, (1.55, y), (4.15, level + part / 2), 0.7 + 3.4 * float(shares[member]), style.hex)
        _arrow(axes, (5.85, bottom + height / 2), (8.45, y), 1.0, MUTED)
        axes.text(2.5, y + 0.18, f"{shares[member]:.0%}", fontsize=7.5, color=MUTED, ha="center")
    axes.add_patch(Rectangle((4.25, bottom), 1.5, height, fill=False, edgecolor=INK, linewidth=1))
    for x, text in ((1.1, "generate"), (5, "replay"), (8.9, "learn")):
        axes.text(x, -0.65, text, ha="center", va="center", fontsize=8.5)
    for member, share in enumerate(shares):
        drawing.rows.append((member, float(share), 1.0))
    drawing.caption = (
        f"Who generates the data and who learns from it: {members} member{'s' if members > 1 else ''}; "
        "arrow widths on the left are shares of episodes; on the right every member learns from all data."
        + _shown_note(members)
    )
    return drawing


@in_house_style
def data_shares_by_algorithm(configurations: Mapping[str, tuple[LineStyle, np.ndarray]]) -> Drawing:
    """Figure 3, left: single agent, tandem and ensemble differ only in who generates the shared data."""
    figure = Figure(figsize=(PANEL[0], 0.35 + 0.62 * len(configurations)), layout="constrained")
    drawing = Drawing(figure, "", ("algorithm", "member", "share of episodes generated"))
    axes = _canvas(figure, (0, 10), (-0.45, len(configurations) - 0.2))
    for number, (name, (style, shares)) in enumerate(configurations.items()):
        y = len(configurations) - 1 - number
        axes.text(0, y + 0.42, shorten(name, 60), fontsize=8.5, fontweight="bold", va="center")
        start = 0.0
        for member, share in enumerate(shares):
            width = 10 * float(share)
            tint = _tint(member, len(shares))
            box = Rectangle((start, y - 0.28), width, 0.5, facecolor=style.hex, alpha=tint, linewidth=0)
            axes.add_patch(box)
            axes.add_patch(Rectangle((start, y - 0.28), width, 0.5, fill=False, edgecolor=INK, linewidth=0.8))
            if width > 0.55:
                axes.text(
                    start + width / 2,
                    y - 0.03,
                    str(member + 1),
                    ha="center",
                    va="center",
                    fontsize=8,
                    color=_text_colour(tint),
                )
            start += width
            drawing.rows.append((name, member, float(share)))
    drawing.caption = (
        "Each bar is the data that all members learn from, divided by the member that generated it. A single agent "
        "learns from its own data only. The more members, the smaller the share of data that is a member's own."
    )
    return drawing


@in_house_style
def heads_and_targets(tables: ValueMap, *, style: LineStyle) -> Drawing:
    """Figure 6: the target head that each head learns from; main heads have a thick border."""
    members, heads = tables.policy.shape
    rows, columns = min(members, SHOWN), min(heads, SHOWN)
    figure = Figure(figsize=(PANEL[0], 0.95 + 0.62 * rows), layout="constrained")
    names = ("member", "head", "value of policy", "source member", "source head", "discount", "main")
    drawing = Drawing(figure, "", names)
    axes = _canvas(figure, (-1.2, 11.2), (-0.75, rows - 0.1))
    left, right = _columns(columns, 1.0), _columns(columns, 7.2)
    for i in range(rows):
        y = rows - 1 - i
        axes.text(-1.1, y, f"member {i + 1}", fontsize=7.5, color=MUTED, va="center")
        for k in range(columns):
            is_main = bool(tables.main[i] == k)
            tint = _tint(int(tables.policy[i, k]), max(rows, columns))
            for x in (left[k], right[k]):
                _head(axes, x, y, style, tint, is_main)
            source_member, source_head = map(int, tables.source[i, k])
            if source_member < rows and source_head < columns:
                start = (left[source_head], rows - 1 - source_member)
                width = 1.5 if is_main else 0.7
                _arrow(axes, start, (right[k], y), width, style.hex if is_main else MUTED, gap=9)
    for x, text in ((np.mean(left), "target network"), (np.mean(right), "learns: online network")):
        axes.text(float(x), -0.7, text, ha="center", va="center", fontsize=8.5)
    for (i, k), policy in np.ndenumerate(tables.policy):
        source_member, source_head = map(int, tables.source[i, k])
        row = (i, k, int(policy), source_member, source_head, float(tables.gamma[i, k]))
        drawing.rows.append((*row, int(tables.main[i] == k)))
    drawing.caption = (
        f"Heads and targets: {members} members with {heads} head{'s' if heads > 1 else ''} each. An arrow "
        "leads from the target head to the head that learns from it; the tint says whose value a head predicts; a "
        "thick border marks the head that a member acts with." + _shown_note(max(members, heads))
    )
    return drawing


def _canvas(figure: Figure, x: tuple[float, float], y: tuple[float, float]) -> Axes:
    axes = figure.subplots()
    axes.set(xlim=x, ylim=y)
    axes.set_axis_off()
    return axes


def _columns(count: int, start: float) -> np.ndarray:
    return start + np.arange(count) * (3.0 / max(count - 1, 1)) + (1.5 if count == 1 else 0.0)


def _tint(member: int, members: int) -> float:
    """From full colour for the first member to a light one for the last."""
    return 0.9 - (0.9 - LAST_TINT) * min(member, members - 1) / max(members - 1, 1)


def _text_colour(tint: float) -> str:
    return PAPER if tint > 0.6 else INK


def _member(axes: Axes, x: float, y: float, member: int, style: LineStyle, members: int) -> None:
    box = FancyBboxPatch((x - 0.42, y - 0.22), 0.84, 0.44, boxstyle="round,pad=0,rounding_size=0.12")
    box.set(facecolor=style.hex, alpha=_tint(member, members), linewidth=0)
    axes.add_patch(box)
    axes.text(x, y, str(member + 1), ha="center", va="center", fontsize=8.5, color=_text_colour(_tint(member, members)))


def _head(axes: Axes, x: float, y: float, style: LineStyle, tint: float, is_main: bool) -> None:
    # Markers stay round whatever the shape of the axes.
    axes.plot([x], [y], marker="o", markersize=13, color=style.hex, alpha=tint, markeredgewidth=0, zorder=3)
    axes.plot(
        [x],
        [y],
        marker="o",
        markersize=13,
        markerfacecolor="none",
        markeredgecolor=INK,
        markeredgewidth=2 if is_main else 0.6,
        zorder=4,
    )


def _arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    width: float,
    colour: str,
    gap: float = 0,
) -> None:
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=7 + width,
            linewidth=width,
            color=colour,
            shrinkA=gap,
            shrinkB=gap,
            zorder=2,
        )
    )


def _shown_note(count: int) -> str:
    return f" Drawn: the first {SHOWN} of {count}." if count > SHOWN else ""
