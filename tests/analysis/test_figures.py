"""Figure functions: data in, a drawing out that says what it shows and holds what it drew."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from chorus.analysis import figures
from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.correlation import fisher_interval
from chorus.analysis.figures.bars import SYMLOG_LINEAR
from chorus.analysis.figures.drawing import shorten, shorten_apart
from chorus.analysis.figures.style import DARK, LIGHT, PANEL

BLUE, ORANGE = figures.LineStyle(1), figures.LineStyle(2, policy="individual")


def line(label: str, style: figures.LineStyle, level: float = 1.0) -> figures.Line:
    x = np.array([10_000.0, 20_000.0, 30_000.0])
    y = level * np.array([1.0, 2.0, 3.0])
    return figures.Line(label, style, x, y, y - 0.5, y + 0.5, np.array([5, 5, 3]))


def found(value: float, runs: int = 5) -> IntervalEstimate:
    return IntervalEstimate(value, value - 0.1, value + 0.1, runs)


def rows(drawing: figures.Drawing) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(drawing.csv())))


def test_learning_curves_hold_every_point() -> None:
    drawing = figures.learning_curves(
        [line("a", BLUE), line("b", ORANGE, 2.0)],
        title="t",
        x_label="steps",
        y_label="score",
        caption="5 seeds",
    )
    assert len(drawing.marks) == 6
    assert rows(drawing)[5] == {
        "series": "b",
        "steps": "30000",
        "score": "6",
        "low": "5.5",
        "high": "6.5",
        "runs": "3",
    }
    (axes,) = drawing.figure.axes
    assert [axes.get_xlabel(), axes.get_ylabel(), axes.get_title("left")] == ["steps", "score", "t"]
    assert drawing.styles == {"a": BLUE, "b": ORANGE}


def test_holes_are_left_empty_and_not_marked() -> None:
    one = line("a", BLUE)
    holed = figures.Line("a", BLUE, one.x, np.array([1.0, np.nan, 3.0]), one.low, one.high, one.runs)
    drawing = figures.learning_curves([holed], title="", x_label="x", y_label="y", caption="")
    assert len(drawing.marks) == 2 and rows(drawing)[1]["y"] == ""


def test_a_grid_has_one_panel_per_environment() -> None:
    panels = {f"game {n}": [line("a", BLUE)] for n in range(7)}
    drawing = figures.curve_grid(
        panels, x_label="frames", y_label="return", caption="c", layout=figures.GridLayout(columns=3)
    )
    visible = [axes for axes in drawing.figure.axes if axes.get_visible()]
    assert [axes.get_title("left") for axes in visible] == list(panels)
    assert len(drawing.marks) == 21


def test_a_grid_of_one_panel_is_no_smaller_than_a_figure_of_its_own() -> None:
    alone = figures.curve_grid({"game": [line("a", BLUE)]}, x_label="x", y_label="y", caption="c").figure
    two = figures.curve_grid({n: [line("a", BLUE)] for n in "ab"}, x_label="x", y_label="y", caption="c").figure
    assert PANEL[0] <= alone.get_figwidth() < two.get_figwidth() and alone.get_figheight() > two.get_figheight()


def test_improvement_bars_are_sorted_and_symlog_within_a_tenth() -> None:
    bars = {"pong": found(0.5), "alien": found(-2.0), "qbert": found(0.05)}
    drawing = figures.improvement_bars({"A minus B": (BLUE, bars)}, x_label="difference", caption="c")
    (axes,) = drawing.figure.axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["alien", "qbert", "pong"]
    assert axes.get_xscale() == "symlog"
    transform = axes.xaxis.get_transform()
    assert transform.linthresh == SYMLOG_LINEAR == 0.1


def test_a_single_seed_gets_no_whisker() -> None:
    alone = IntervalEstimate(1.0, np.nan, np.nan, 1)
    drawing = figures.score_bars([figures.LabelledEstimate("a", BLUE, alone)], x_label="x", caption="")
    assert rows(drawing) == [{"series": "a", "x": "1", "low": "", "high": "", "runs": "1"}]
    assert len(drawing.figure.axes[0].lines) == 1  # the zero line only


def test_interval_estimates_have_one_panel_per_aggregate() -> None:
    panels = {name: [figures.LabelledEstimate("a", BLUE, found(1.0))] for name in ("IQM", "Mean")}
    drawing = figures.interval_estimates(panels, caption="", direction={"IQM": "▲"})
    assert [axes.get_title("left") for axes in drawing.figure.axes] == ["IQM ▲", "Mean"]
    wide = figures.interval_estimates(panels, caption="", columns=2)
    labels = [[text.get_text() for text in axes.get_yticklabels()] for axes in wide.figure.axes]
    assert labels == [["a"], [""]]  # named once


def test_an_interval_without_width_has_no_whisker() -> None:
    certain = IntervalEstimate(1.0, 1.0, 1.0, 5)
    drawing = figures.interval_estimates({"IQM": [figures.LabelledEstimate("a", BLUE, certain)]}, caption="")
    assert len(drawing.figure.axes[0].lines) == 1  # the dot


def test_the_legend_takes_one_row_where_there_is_room() -> None:
    lines = [line(f"series {n}", BLUE) for n in range(4)]
    panels = {f"panel {n}": lines for n in range(3)}
    wide = figures.curve_grid(panels, x_label="x", y_label="y", caption="", layout=figures.GridLayout(columns=3))
    tall = figures.curve_grid(panels, x_label="x", y_label="y", caption="", layout=figures.GridLayout(columns=1))
    assert (wide.figure.legends[0]._ncols, tall.figure.legends[0]._ncols) == (4, 2)


def test_gap_correlation_keeps_negative_gaps_and_leaves_out_what_the_single_agent_hardly_plays() -> None:
    kept = [figures.Gap(0.1, 0.2, 1.0), figures.Gap(0.2, 0.3, 1.0), figures.Gap(-0.3, -0.2, 1.0)]  # on y = x + 0.1
    low = figures.Gap(9.0, 0.1, 0.04)
    result = figures.gap_correlation([*kept, low])
    assert (result.kept, result.pearson.value, result.spearman.value) == (3, pytest.approx(1.0), pytest.approx(1.0))
    assert not result.pearson.has_interval  # three points
    assert figures.gap_correlation(kept[:2]).pearson is None
    # Left out, the negative gap would leave two points and no correlation at all.
    bent = figures.gap_correlation([*kept, figures.Gap(0.3, 0.1, 1.0)])
    assert bent.kept == 4 and -1 < bent.pearson.low < bent.pearson.value < bent.pearson.high < 1


def test_the_interval_of_a_correlation_is_fishers() -> None:
    # atanh(0.5) = 0.5493; 1.96 / sqrt(28 - 3) = 0.392; tanh(0.1573) = 0.156, tanh(0.9413) = 0.736
    found = fisher_interval(0.5, 28)
    assert (found.low, found.high) == (pytest.approx(0.156, abs=1e-3), pytest.approx(0.736, abs=1e-3))
    wider = fisher_interval(0.5, 28, 1 + 0.5**2 / 2)  # ranks
    assert wider.low < found.low and wider.high > found.high
    assert not fisher_interval(1.0, 28).has_interval


def test_the_scatter_names_its_exclusions_and_prints_the_interval() -> None:
    gaps = {
        "a": figures.Gap(0.1, 0.2, 1.0),
        "b": figures.Gap(0.3, 0.1, 0.01),
        "c": figures.Gap(0.3, -0.1, 1.0),
        "d": figures.Gap(0.2, 0.15, 1.0),
        "e": figures.Gap(0.5, 0.4, 1.0),
    }
    drawing = figures.gap_scatter(gaps, style=BLUE, caption="")
    reasons = [row["excluded because"] for row in rows(drawing)]
    assert reasons == ["", "single agent below 0.05", "", "", ""]
    title = drawing.figure.axes[0].get_title("left")
    assert re.match(r"r = 0\.\d\d \(95 % interval -0\.\d\d to 0\.\d\d\)\nrank .*\n4 environments, 1 left out$", title)


def sweep_column(title: str, level: float = 1.0) -> figures.SweepColumn:
    return figures.SweepColumn(
        title=title,
        measures={"score": [line("a", BLUE, level)], "vote entropy": [line("a", BLUE, 0.1)]},
        references=[figures.LabelledEstimate("single", ORANGE, found(1.0))],
    )


def test_a_sweep_has_a_row_per_measure_a_column_per_environment_and_reference_levels() -> None:
    columns = [sweep_column("All 2: IQM"), sweep_column("pong", 2.0), sweep_column("qbert", 3.0)]
    drawing = figures.sweep(columns, x_label="N", caption="", log_x=True)
    grid = np.reshape(drawing.figure.axes, (2, 3))
    assert [axes.get_title("left") for axes in grid[0]] == ["All 2: IQM", "pong", "qbert"]
    assert [axes.get_ylabel() for axes in grid[:, 0]] == ["score", "vote entropy"]
    assert {axes.get_xscale() for axes in grid.flat} == {"log"}
    found_rows = rows(drawing)
    assert [row["series"] for row in found_rows].count("single") == 3  # one level per column, in its first row
    last = [row for row in found_rows if row["environment"] == "qbert" and row["measure"] == "score"][2]
    assert (last["N"], last["value"]) == ("30000", "9")


def test_more_environments_than_fit_continue_below() -> None:
    drawing = figures.sweep([sweep_column(f"game {n}") for n in range(7)], x_label="N", caption="")
    visible = [axes for axes in drawing.figure.axes if axes.get_visible()]
    assert len(drawing.figure.axes) == 2 * 2 * 5 and len(visible) == 2 * 7
    titles = [axes.get_title("left") for axes in visible if axes.get_title("left")]
    assert titles == [f"game {n}" for n in range(7)]


def test_profiles_and_probabilities() -> None:
    drawing = figures.performance_profiles([line("a", BLUE)], x_label="score", caption="")
    assert drawing.kind == "curves" and len(drawing.marks) == 3
    drawing = figures.improvement_probabilities({("a", "b"): (BLUE, found(0.7))}, caption="")
    assert rows(drawing)[0]["compared with"] == "b"


@pytest.mark.slow
def test_captions_travel_with_the_drawing_and_files_are_written(tmp_path: Path) -> None:
    drawing = figures.learning_curves([line("a", BLUE)], title="", x_label="x", y_label="y", caption="5 seeds")
    for ending in ("svg", "png", "pdf"):
        drawing.save(tmp_path / f"figure.{ending}")
        assert (tmp_path / f"figure.{ending}").stat().st_size > 1_000
    plain = (tmp_path / "figure.svg").read_text()
    drawing.save(tmp_path / "alone.svg", captioned=True)
    assert "5 seeds" in (tmp_path / "alone.svg").read_text() and "5 seeds" not in plain
    drawing.save(tmp_path / "figure.svg")
    assert "5 seeds" not in (tmp_path / "figure.svg").read_text()


def test_a_caption_stands_below_the_legend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line(f"a label that takes a whole row of the legend {i}", BLUE) for i in range(5)]
    drawing = figures.learning_curves(lines, title="", x_label="x", y_label="y", caption="5 seeds. " * 30)
    (legend,), seen = drawing.figure.legends, {}

    def draw(renderer: Any) -> None:
        for caption in drawing.figure.texts:
            seen["legend"], seen["caption"] = (one.get_window_extent(renderer) for one in (legend, caption))

    monkeypatch.setattr(legend, "draw", draw)
    drawing.save(tmp_path / "figure.png", captioned=True)
    assert seen["legend"].y0 >= seen["caption"].y1


def test_text_from_runs_is_never_read_as_mathematics_and_settings_stay_the_callers() -> None:
    before = dict(mpl.rcParams)
    label = r"$\frac{1}{0}$ <b> 100% _x \N{GRINNING FACE}"
    drawing = figures.learning_curves([line(label, BLUE)], title=label, x_label="x", y_label="y", caption="")
    assert dict(mpl.rcParams) == before
    assert not drawing.figure.axes[0].title.get_parse_math()


# Linear-light matrices of Viénot, Brettel and Mollon (1999) for the two red-green deficiencies.
DEFICIENCIES = {
    "protanopia": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
    "deuteranopia": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
}


def _linear(colour: str) -> np.ndarray:
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_the_four_main_colours_stay_apart_for_colour_blind_readers(palette: tuple[str, ...], deficiency: str) -> None:
    seen = [np.array(DEFICIENCIES[deficiency]) @ _linear(colour) for colour in palette[:4]]
    perceived = [np.cbrt(np.clip(colour, 0, 1)) for colour in seen]  # lightness goes with the cube root
    distances = [np.linalg.norm(a - b) for n, a in enumerate(perceived) for b in perceived[:n]]
    assert min(distances) > 0.1


def test_dark_has_a_twin_for_every_colour() -> None:
    assert len(LIGHT) == len(DARK) == len(set(LIGHT)) == len(set(DARK))


def test_long_labels_that_differ_only_in_the_middle_stay_different() -> None:
    """34 letters leave 16 at each end, which these two share; names that look different are cut as usual."""
    plain, cerl = "Bootstrapped DQN, layer norm (indiv.)", "Bootstrapped DQN + CERL, layer norm (indiv.)"
    assert shorten(plain) == shorten(cerl)
    shown = shorten_apart([plain, cerl, plain])
    assert shown[0] == shown[2] != shown[1] and all(len(label) < len(cerl) for label in shown)
    assert shorten_apart([cerl, "SAC"]) == [shorten(cerl), "SAC"]
