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
from chorus.analysis.grouping import find_comparison_groups
from chorus.analysis.loading import load_runs
from chorus.ensemble.value_map import Cross, Members
from chorus.training.acting import Uniform

TARGET = Path(__file__).parent.parent / "docs" / "figures"


def diagrams() -> dict[str, figures.Drawing]:
    """Figures 1 and 6 of the paper, each with both of its halves."""
    single, plain, cerl = LineStyle(colour=0), LineStyle(colour=1), LineStyle(colour=2)
    return {
        "curse": who_generates_who_learns(
            {
                "Single agent": (single, Uniform().shares(1)),
                "Ensemble with 4 members": (plain, Uniform().shares(4)),
            }
        ),
        "cerl": heads_and_targets(
            {
                "Ensemble": (plain, Members().build(3, 0.99)),
                "Ensemble with CERL": (cerl, Cross().build(3, 0.99)),
            }
        ),
    }


def demo(runs: Path) -> dict[str, figures.Drawing]:
    """Learning curves with one panel per question."""
    context = make_context(load_runs([runs]))
    env = context.results.envs[0]
    (group, *_) = find_comparison_groups(context.results)
    questions = drawings.question_curves(context, group, env)
    if questions is None:
        raise SystemExit(f"{runs} has no two algorithms to compare; pass the folder that `chorus demo` wrote to.")
    return {"demo": questions.draw()}


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
