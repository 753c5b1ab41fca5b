"""Draw the figures of the README from the value maps and shares of data that run (`docs/figures/`)."""

from pathlib import Path

from chorus.analysis.figures.diagrams import heads_and_targets, who_generates_who_learns
from chorus.analysis.figures.style import Look
from chorus.ensemble.value_map import Cross
from chorus.training.acting import Uniform

TARGET = Path(__file__).parent.parent / "docs" / "figures"


def main(target: Path = TARGET) -> None:
    target.mkdir(parents=True, exist_ok=True)
    drawings = {
        "curse": who_generates_who_learns(Uniform().shares(4), look=Look(colour=1)),
        "cerl": heads_and_targets(Cross().build(3, 0.99), look=Look(colour=3)),
    }
    for name, drawing in drawings.items():
        path = target / f"{name}.svg"
        drawing.figure.savefig(path, metadata={"Date": None})
        print(f"{path}: {drawing.caption}")


if __name__ == "__main__":
    main()
