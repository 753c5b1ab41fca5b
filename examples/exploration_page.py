"""Rewrite the figures and tables of docs/exploration.md from the runs in results/exploration.

python examples/exploration_page.py
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from chorus.analysis import markdown
from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.intervals import mean_estimate
from chorus.analysis.loading import load_runs
from chorus.analysis.results import Series
from chorus.analysis.solved import in_natural_order, outcome, solved
from chorus.analysis.variants import Variant
from chorus.analysis.visits import visit_maps
from chorus.files import write_text

ROOT = Path(__file__).parent.parent
RUNS, PAGE, FIGURES = ROOT / "results" / "exploration", ROOT / "docs" / "exploration.md", ROOT / "docs" / "figures"

Cell = Callable[[AnalysisContext, Variant, str], str]


def solved_cell(context: AnalysisContext, variant: Variant, env: str) -> str:
    """Runs that solved the environment, of all, with the interval of the share and the median of their episodes."""
    found = outcome(context, variant, env)
    if found is None:
        return ""
    share = found.share
    episodes = f"; {found.median:.0f} episodes" if np.isfinite(found.median) else ""
    return f"{np.isfinite(found.episodes).sum()} of {share.runs} ({share.low:.2f} to {share.high:.2f}){episodes}"


def return_cell(policy: str) -> Cell:
    def cell(context: AnalysisContext, variant: Variant, env: str) -> str:
        final = context.results.final(Series(variant, policy), env)
        if final is None:
            return ""
        found = mean_estimate(final.values)
        interval = f" ({found.low:.2f} to {found.high:.2f})" if found.has_interval else ""
        return f"{found.value:.2f}{interval}".replace("-0.00", "0.00")

    return cell


def table(context: AnalysisContext, cell: Cell) -> str:
    """One row per algorithm and one column per environment; algorithms without any cell are left out."""
    envs = sorted(context.results.envs, key=in_natural_order)
    rows = {v.label: [cell(context, v, env) for env in envs] for v in context.results.dataset.variants}
    return markdown.table(["", *envs], [[label, *cells] for label, cells in rows.items() if any(cells)])


def provenance(context: AnalysisContext) -> str:
    """How many runs and seeds, on which processors, and what final returns are."""
    runs = context.results.dataset.runs
    processors = sorted({str(run.meta.get("processor")) for run in runs})
    seeds = sorted({run.seed for run in runs})
    named = (
        f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]} only, so that nothing is settled"
    )
    return (
        f"{len(runs)} runs, {named}, on {' and '.join(processors)}. "
        f"{context.final_meaning(context.results.series, context.results.envs).capitalize()}. Intervals are 95 %."
    )


def write(page: Path = PAGE, figures: Path = FIGURES, runs: Path = RUNS) -> None:
    context = make_context(load_runs([runs]))
    largest = max(context.results.envs, key=in_natural_order)
    parts = {
        "runs": provenance(context),
        "solved": table(context, solved_cell),
        "individual": table(context, return_cell("individual")),
        "aggregate": table(context, return_cell("aggregate")),
    }
    text = page.read_text(encoding="utf-8")
    for name, content in parts.items():
        text = markdown.fill(text, name, f"\n{content}\n\n")
    write_text(page, text)
    for name, drawing in {"exploration": solved(context), "exploration-visits": visit_maps(context, largest)}.items():
        assert drawing is not None, "these runs count states"
        drawing.save(figures / f"{name}.svg")


if __name__ == "__main__":
    write()
    print(f"{PAGE.relative_to(ROOT)} and its figures are written from {RUNS.relative_to(ROOT)}")
