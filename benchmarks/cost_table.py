"""The paper's cost comparison, for this machine: written to docs/cost.md by `make bench`."""

from pathlib import Path

TARGET = Path(__file__).parent.parent / "docs" / "cost.md"
# The paper's wall-clock times for 200M frames on a GPU, in days (its appendix on resources).
PAPER_DAYS = {"Double DQN": 2.0, "Bootstrapped DQN, L = 0": 3.5, "Bootstrapped DQN, L = 3": 3.0}


def write(latest: dict[str, float]) -> str:
    """The table, which is also written to the documentation."""
    rows = _table("nature_update_ms/", "Nature CNN, one update", "ms", latest, PAPER_DAYS)
    rows += _table("minatar_update_ms/", "MinAtar, laptop scale, one update", "ms", latest, {})
    rows += _table("minatar_iteration_seconds/", "MinAtar, laptop scale, one iteration of training", "s", latest, {})
    text = "\n".join(
        ["# What an ensemble costs", "", "Written by `make bench`; CPU, batches of 32 transitions, N = 10.", *rows]
    )
    TARGET.write_text(text + "\n", encoding="utf-8")
    return text


def _table(prefix: str, title: str, unit: str, latest: dict[str, float], paper: dict[str, float]) -> list[str]:
    times = {name.removeprefix(prefix): value for name, value in latest.items() if name.startswith(prefix)}
    single = times["Double DQN"]
    rows = [
        "",
        f"## {title}",
        "",
        f"| | {unit} | over Double DQN | paper, training and evaluation |",
        "|---|---|---|---|",
    ]
    for name, value in sorted(times.items(), key=lambda item: item[1]):
        theirs = f"{paper[name] / paper['Double DQN']:.2f}" if name in paper else ""
        rows.append(f"| {name} | {value:.3g} | {value / single:.2f} | {theirs} |")
    return rows
