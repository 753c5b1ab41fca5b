"""Rewrite the results of the README from the runs in results/: one table per folder with enough seeds.

python examples/readme_results.py
"""

import re
from pathlib import Path

import numpy as np

from chorus.analysis import markdown
from chorus.analysis.bootstrap import FEWEST_RUNS
from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.findings import Finding, find_findings
from chorus.analysis.intervals import mean_estimate
from chorus.analysis.loading import Dataset, load_runs, select_runs
from chorus.analysis.results import Series
from chorus.analysis.solved import in_natural_order
from chorus.analysis.variants import Variant, is_default
from chorus.analysis.wording import plural
from chorus.files import write_text

ROOT = Path(__file__).parent.parent
RUNS, README = ROOT / "results", ROOT / "README.md"
# What a cell shows of an algorithm, in this order: a single agent has the first, a tandem the last two.
POLICIES = ("individual", "aggregate", "active", "passive")
QUESTIONS = ("Is there a curse of diversity?", "Does CERL help the members?")
# Folders of variants, which docs/results.md compares.
VARIANTS = ("sharing", "short", "short-control", "variants")
INTRODUCTION = """\
Final returns in [results](results/README.md), by `python examples/readme_results.py`: *one member / the vote of all*,
of a tandem *active / passive*. ± is half the width of the 95 % interval (Student t) over seeds. *x % below B* is a
share of what B gains on a random policy. [What the runs say](docs/results.md) has the paper's ablations as well;
they are left out here, and so are environments with fewer than three seeds."""


def cell(context: AnalysisContext, variant: Variant, env: str, digits: int) -> str:
    """Mean and half interval of each policy; empty if the algorithm has no runs there."""
    finals = (context.results.final(Series(variant, policy), env) for policy in POLICIES)
    parts = []
    for estimate in (mean_estimate(final.values) for final in finals if final is not None):
        half = f" ± {(estimate.high - estimate.low) / 2:.{digits}f}" if estimate.has_interval else ""
        parts.append(re.sub(r"^-(0(\.0*)?)$", r"\1", f"{estimate.value:.{digits}f}").replace("-", "−") + half)
    return " / ".join(parts)


def digits_for(context: AnalysisContext, env: str) -> int:
    """Three significant digits of the largest return."""
    finals = [context.results.final(series, env) for series in context.results.series]
    largest = max(float(np.abs(final.values).max()) for final in finals if final is not None)
    return 2 if largest < 10 else 1 if largest < 100 else 0


def table(context: AnalysisContext, name: str) -> str:
    """One row per algorithm and one column per environment; the corner says which runs these are."""
    runs = context.results.dataset.runs
    scales = sorted({str(run.config.get("scale")) for run in runs})
    seeds = context.seeds(context.results.series, context.results.envs)
    changed = "" if any(map(is_default, runs)) else ", other settings"
    corner = f"[{name}](results/{name}): {plural(len(runs), 'run')}, {seeds}, {' and '.join(scales)} scale{changed}"
    envs = {env: digits_for(context, env) for env in sorted(context.results.envs, key=in_natural_order)}
    variants = context.results.dataset.variants
    rows = [[v.label, *(cell(context, v, env, digits) for env, digits in envs.items())] for v in variants]
    return markdown.table([corner, *envs], rows)


def with_enough_seeds(dataset: Dataset) -> Dataset | None:
    """The runs in environments that have enough seeds of an algorithm; None if there are none."""
    seeds: dict[str, set[int]] = {}
    for run in dataset.runs:
        seeds.setdefault(run.env, set()).add(run.seed)
    kept = {env for env, found in seeds.items() if len(found) >= FEWEST_RUNS}
    return select_runs(dataset, lambda run: run.env in kept) if kept else None


def answers(context: AnalysisContext, name: str) -> list[str]:
    """What the report of these runs says about the curse and its remedy, where a single agent learns: elsewhere
    differences have no size to compare them with."""
    found = {
        finding.question: finding
        for finding in find_findings(context)
        if finding.effect is not None and finding.effect.reference is not None
    }
    return [f"- *{name}: {text}* {answer(found[text])}" for text in QUESTIONS if text in found]


def answer(finding: Finding) -> str:
    """Without the numbers if they have no interval: they would say nothing."""
    estimate = finding.difference
    if estimate is None or not estimate.has_interval:
        return f"{finding.answer.partition('. ')[0].removesuffix('.')}."
    return " ".join([finding.answer, *finding.details, f"Unit: {finding.unit}."])


def results(folder: Path = RUNS) -> str:
    """The block between the marks."""
    parts, said = [INTRODUCTION], []
    for runs in sorted(path for path in folder.iterdir() if path.is_dir() and path.name not in VARIANTS):
        enough = with_enough_seeds(load_runs([runs]))
        if enough is None:
            continue
        context = make_context(enough)
        parts.append(table(context, runs.name))
        said += answers(context, runs.name)
    return "\n\n".join([*parts, *(["\n".join(said)] if said else [])]) + "\n"


def write(readme: Path = README, folder: Path = RUNS) -> None:
    write_text(readme, markdown.fill(readme.read_text(encoding="utf-8"), "results", results(folder)))


if __name__ == "__main__":
    write()
    print(f"{README.relative_to(ROOT)} is written from {RUNS.relative_to(ROOT)}")
