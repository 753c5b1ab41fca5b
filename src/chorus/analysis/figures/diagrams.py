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
from chorus.analysis.figures.style import INK, MUTED, PANEL, PAPER, SOLID, Dash, LineStyle
from chorus.ensemble.value_map import ValueMap

SHOWN = 4  # the largest number of members or heads that are drawn
LAST_TINT = 0.22
AUXILIARY_DASH: Dash = (0, (4, 2))


@in_house_style
def who_generates_who_learns(algorithms: Mapping[str, tuple[LineStyle, np.ndarray]], *, columns: int = 2) -> Drawing:
    """Figure 1: the share of the data that each member generates, and that every member learns from all of it.

    One part per algorithm: a single agent, with the shares (1,), generates all of its data itself.
    """
    shown = min(max(len(shares) for _, shares in algorithms.values()), SHOWN)
    figure, parts = _parts(len(algorithms), columns, 0.9 + 0.5 * shown)
    names = ("algorithm", "member", "share of episodes generated", "share of data learnt from")
    drawing = Drawing(figure, "", names)
    for axes, (name, (style, shares)) in zip(parts, algorithms.items(), strict=False):
        _draw_shares(axes, shares, style, shown)
        axes.set_title(shorten(name, 48), fontsize=9)
        drawing.rows += [(name, member, float(share), 1.0) for member, share in enumerate(shares)]
    several = any(len(shares) > 1 for _, shares in algorithms.values())
    alone = any(len(shares) == 1 for _, shares in algorithms.values())
    most = max(len(shares) for _, shares in algorithms.values())
    drawing.caption = " ".join(
        sentence
        for sentence, drawn in (
            ("A single agent generates all of the data that it learns from.", alone),
            ("Each member generates a share of the episodes (arrows on the left) and learns from all data.", several),
        )
        if drawn
    ) + _shown_note(most)
    return drawing


def _draw_shares(axes: Axes, shares: np.ndarray, style: LineStyle, rows: int) -> None:
    """Members on the left, the replay in the middle, and the same members on the right."""
    shown = min(len(shares), SHOWN)
    _blank(axes, (0, 10), (-0.7, rows - 0.4))
    bottom, height = -0.35, rows - 0.3
    level = bottom + height  # filled from the top, in the order of members
    for member in range(shown):
        y = (rows - 1) / 2 if shown == 1 else (rows - 1) * (1 - member / (shown - 1))
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
def heads_and_targets(algorithms: Mapping[str, tuple[LineStyle, ValueMap]], *, columns: int = 2) -> Drawing:
    """Figure 6: the target head that each head learns from, with one part per algorithm.

    Main heads, which members act with, have a thick border. Auxiliary losses have dashed arrows.
    """
    rows = max(min(len(tables.policy), SHOWN) for _, tables in algorithms.values())
    figure, parts = _parts(len(algorithms), columns, 0.95 + 0.55 * rows)
    names = ("algorithm", "member", "head", "value of policy", "source member", "source head", "discount", "main")
    drawing = Drawing(figure, "", names)
    for axes, (name, (style, tables)) in zip(parts, algorithms.items(), strict=False):
        _draw_heads(axes, tables, style)
        axes.set_title(shorten(name, 48), fontsize=9)
        for (i, k), policy in np.ndenumerate(tables.policy):
            source_member, source_head = map(int, tables.source[i, k])
            row = (name, i, k, int(policy), source_member, source_head, float(tables.gamma[i, k]))
            drawing.rows.append((*row, int(tables.main[i] == k)))
    most = max(max(tables.policy.shape) for _, tables in algorithms.values())
    auxiliary = any(tables.heads > 1 for _, tables in algorithms.values())
    drawing.caption = (
        "An arrow leads from a head of the target network to the head that learns from it; the tint says whose value "
        "a head predicts; a thick border marks the head that a member acts with"
        f"{', a dashed arrow an auxiliary loss' if auxiliary else ''}." + _shown_note(most)
    )
    return drawing


def _draw_heads(axes: Axes, tables: ValueMap, style: LineStyle) -> None:
    members, heads = tables.policy.shape
    rows, columns = min(members, SHOWN), min(heads, SHOWN)
    _blank(axes, (-1.6, 11.2), (-0.75, rows - 0.5))
    left, right = _columns(columns, 1.0), _columns(columns, 7.2)
    for i in range(rows):
        y = rows - 1 - i
        axes.text(-1.5, y, f"member {i + 1}", fontsize=7.5, color=MUTED, va="center")
        for k in range(columns):
            is_main = bool(tables.main[i] == k)
            tint = _tint(int(tables.policy[i, k]), max(rows, columns))
            for x in (left[k], right[k]):
                _head(axes, x, y, style, tint, is_main)
            source_member, source_head = map(int, tables.source[i, k])
            if source_member < rows and source_head < columns:
                start = (left[source_head], rows - 1 - source_member)
                end = (float(right[k]), float(y))
                if is_main:
                    _arrow(axes, start, end, 1.5, style.hex, gap=9)
                else:
                    _arrow(axes, start, end, 0.8, MUTED, gap=9, line=AUXILIARY_DASH)
    for x, text in ((np.mean(left), "target network"), (np.mean(right), "learns: online network")):
        axes.text(float(x), -0.7, text, ha="center", va="center", fontsize=8.5)


def _parts(count: int, columns: int, height: float) -> tuple[Figure, list[Axes]]:
    """Axes for some diagrams, side by side as far as columns allow."""
    across = min(columns, count)
    down = -(-count // across)
    figure = Figure(figsize=(PANEL[0] * across, height * down), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    for axes in grid.flat[count:]:
        axes.set_visible(False)
    return figure, list(grid.flat[:count])


def _blank(axes: Axes, x: tuple[float, float], y: tuple[float, float]) -> None:
    axes.set(xlim=x, ylim=y)
    axes.set_axis_off()


def _canvas(figure: Figure, x: tuple[float, float], y: tuple[float, float]) -> Axes:
    axes = figure.subplots()
    _blank(axes, x, y)
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
    # Markers stay round whatever the shape of the axes. The first one hides arrows behind the head.
    axes.plot([x], [y], marker="o", markersize=13, color=PAPER, markeredgewidth=0, zorder=2.5)
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
    line: Dash = SOLID,
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
            linestyle=line,
            zorder=2,
        )
    )


def _shown_note(count: int) -> str:
    return f" Drawn: the first {SHOWN} of {count}." if count > SHOWN else ""
