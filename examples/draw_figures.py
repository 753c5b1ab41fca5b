"""Draw the figures of the README (`docs/figures/`).

python examples/draw_figures.py              the diagrams, from the value maps and shares of data that run
python examples/draw_figures.py --runs runs  the results of `chorus demo`, from the runs it left there
"""

import argparse
from pathlib import Path

from chorus.analysis import drawings, figures
from chorus.analysis.context import make_context
from chorus.analysis.figures.diagrams import heads_and_targets, who_generates_who_learns
from chorus.analysis.figures.style import LineStyle
from chorus.analysis.loading import load_runs
from chorus.analysis.report.tables import final_table
from chorus.ensemble.value_map import Cross
from chorus.training.acting import Uniform

TARGET = Path(__file__).parent.parent / "docs" / "figures"

# What the demo asks, and by which preset and policy it is answered.
SINGLE, MEMBERS = ("double-dqn", "individual"), ("bootstrapped-dqn", "individual")
QUESTIONS = {
    "Members and their vote": (SINGLE, MEMBERS, ("bootstrapped-dqn", "aggregate")),
    "Active and passive": (("tandem", "active"), ("tandem", "passive")),
    "Members with CERL": (SINGLE, MEMBERS, ("cerl", "individual")),
}


def diagrams() -> dict[str, figures.Drawing]:
    return {
        "curse": who_generates_who_learns(Uniform().shares(4), style=LineStyle(colour=1)),
        "cerl": heads_and_targets(Cross().build(3, 0.99), style=LineStyle(colour=3)),
    }


def demo(runs: Path) -> dict[str, figures.Drawing]:
    """Learning curves with one panel per question; the table of final returns is printed as Markdown."""
    context = make_context(load_runs([runs]))
    env = context.results.envs[0]
    found = {(series.variant.preset, series.policy): series for series in context.results.series}
    panels = {
        title: drawings.env_lines(context, [found[name] for name in names if name in found], env, window=1)
        for title, names in QUESTIONS.items()
    }
    drawing = figures.curve_grid(
        {title: lines for title, lines in panels.items() if lines},
        x_label="agent steps",
        y_label="episodic return",
        caption=f"{env}, mean over {context.seeds(context.results.series, [env])}; bands: {drawings.BANDS}.",
    )
    # Differences are small against the climb from zero: higher panels than a page of games has, and one axis.
    drawing.figure.set_size_inches(8.4, 4.0)
    lows, highs = zip(*(axes.get_ylim() for axes in drawing.figure.axes), strict=True)
    for axes in drawing.figure.axes:
        axes.set_ylim(min(lows), max(highs))
    print("| | mean final return | 95 % interval | seeds |\n|---|---|---|---|")
    for row in final_table(context.results).rows:
        _, label, _, _, _, seeds, *_ = (cell.text for cell in row.cells)
        mean, low, high = (f"{cell.sort:.1f}" for cell in row.cells[2:5])
        print(f"| {label} | {mean} | {low} to {high} | {seeds} |")
    return {"demo": drawing}


def main(target: Path = TARGET, runs: Path | None = None) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name, drawing in (diagrams() if runs is None else demo(runs)).items():
        path = target / f"{name}.svg"
        drawing.save(path)
        print(f"{path}: {drawing.caption}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, help="the folder of runs of `chorus demo` (default: draw the diagrams)")
    main(runs=parser.parse_args().runs)
