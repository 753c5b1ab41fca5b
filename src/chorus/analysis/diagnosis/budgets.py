"""Runs of one environment and one budget: only these can be compared in a diagnosis."""

from collections import Counter
from typing import Any, NamedTuple

from chorus.analysis.loading import Dataset, select_runs
from chorus.analysis.variants import section
from chorus.runs.logs import Run


class Budget(NamedTuple):
    """A scale, and the agent steps of each run."""

    scale: Any
    steps: int | None


def budget_of(run: Run) -> Budget:
    steps = section(run.config, "schedule").get("total_steps")
    return Budget(run.config.get("scale"), steps if isinstance(steps, int) else None)


def with_one_budget(dataset: Dataset, env: str) -> Dataset:
    """The runs of an environment with the most common scale and number of steps; published curves have none."""
    counts = Counter(budget_of(run) for run in dataset.runs if run.env == env)
    usual = max(counts, key=lambda budget: (budget.steps is not None, counts[budget], budget.steps or 0), default=None)

    def keep(run: Run) -> bool:
        return run.env == env and budget_of(run) == usual

    # If all runs are kept the dataset itself is returned, because palettes know its variants.
    return dataset if not counts or all(map(keep, dataset.runs)) else select_runs(dataset, keep)
