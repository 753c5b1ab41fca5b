"""Draw the figures of the README (`docs/figures/`).

python examples/draw_figures.py              the diagrams, from the value maps and shares of data that run
python examples/draw_figures.py --runs runs  the results of `chorus demo`, from the runs it left there
"""

import argparse
from pathlib import Path

from chorus.analysis import drawings, figures
from chorus.analysis.figures.diagrams import heads_and_targets, who_generates_who_learns
from chorus.analysis.figures.style import Look
from chorus.analysis.loading import load_runs
from chorus.analysis.report.tables import final_table
from chorus.analysis.study import make_study
from chorus.ensemble.value_map import Cross
from chorus.training.acting import Uniform

TARGET = Path(__file__).parent.parent / "docs" / "figures"


def diagrams() -> dict[str, figures.Drawing]:
    return {
        "curse": who_generates_who_learns(Uniform().shares(4), look=Look(colour=1)),
        "cerl": heads_and_targets(Cross().build(3, 0.99), look=Look(colour=3)),
    }


def demo(runs: Path) -> dict[str, figures.Drawing]:
    """Learning curves; the table of final returns is printed as Markdown."""
    study = make_study(load_runs([runs]))
    drawing = drawings.learning_in(study, study.results.series, study.results.envs[0])
    assert drawing is not None
    print("| | mean final return | 95 % interval | seeds |\n|---|---|---|---|")
    for row in final_table(study.results, study.resampler).rows:
        _, label, mean, low, high, seeds, *_ = (cell.text for cell in row.cells)
        print(f"| {label} | {mean} | {low} to {high} | {seeds} |")
    return {"demo": drawing}


def main(target: Path = TARGET, runs: Path | None = None) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name, drawing in (diagrams() if runs is None else demo(runs)).items():
        path = target / f"{name}.svg"
        drawing.figure.savefig(path, metadata={"Date": None})
        print(f"{path}: {drawing.caption}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, help="the folder of runs of `chorus demo` (default: draw the diagrams)")
    main(runs=parser.parse_args().runs)
