"""The figures of a folder of runs that were made for many questions: main algorithms, variants and swept settings.

Games and continuous control have figures of their own, because they share neither algorithms nor environments.
"""

from collections.abc import Iterator
from typing import NamedTuple

from chorus.analysis import contrasts, drawings
from chorus.analysis.ablations import draw_ablations, find_ablations
from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.figures import Drawing
from chorus.analysis.grouping import ComparisonGroup, find_comparison_groups, find_sweep_axes
from chorus.analysis.loading import Dataset, select_runs
from chorus.analysis.results import Series
from chorus.analysis.variants import MAIN_ROLES, is_default, section
from chorus.runs.logs import Run

# Parts of the paper's subject, by the group of their algorithms.
SUBJECTS = {"dqn": "games", "qr-dqn": "quantile regression", "sac": "continuous control"}


class Figure(NamedTuple):
    """A drawing with a name for its file and a heading."""

    name: str
    title: str
    drawing: Drawing


def subject_of(group: str) -> str:
    """What the algorithms of a group are run on; other groups have their own names."""
    return SUBJECTS.get(group, group)


def find_groups(dataset: Dataset) -> list[str]:
    """The groups of algorithms in a dataset, games first."""
    found = dict.fromkeys(variant.group for variant in dataset.variants if variant.role != "published")
    return sorted(found, key=lambda group: (group not in SUBJECTS, group))


def find_figures(dataset: Dataset) -> Iterator[Figure]:
    """The figures that the runs allow: of the main algorithms, then of variants."""
    for name in find_groups(dataset):
        main = of_group(dataset, name, main_only=True)
        if main is not None:
            yield from _main_figures(make_context(main), name)
    yield from find_variant_figures(dataset)


def _main_figures(context: AnalysisContext, name: str) -> Iterator[Figure]:
    for group in find_comparison_groups(context.results):
        found = main_series(context, group)
        if len(found) > 2:
            grid = drawings.learning_curve_grid(context, found)
            yield from _figure(name, "environments", "learning curves in each environment", grid)
        if len(found) > 2 and len(context.envs) > 1:
            together = drawings.learning_curves(context, found)
            yield from _figure(name, "together", "learning curves over all environments", together)
        if group.single and group.ensemble and group.tandem:
            gaps = contrasts.tandem_gaps(context, group.single, group.ensemble, group.tandem)
            yield from _figure(name, "gaps", "the gap within the tandem and that of the ensemble", gaps)


def find_variant_figures(dataset: Dataset) -> Iterator[Figure]:
    """All variants at a glance and a figure per swept setting, in the environments that have variants."""
    for name in find_groups(dataset):
        own = of_group(dataset, name, main_only=False)
        if own is None:
            continue
        context = make_context(own)
        every = draw_ablations(list(find_ablations(context)))
        yield from _figure(name, "variants", "every variant of the ensemble", every)
        relative = context.normalised_by_single_agent()
        for axis in find_sweep_axes(relative.results):
            yield from _figure(name, axis.name, axis.style.title, contrasts.sweep(relative, axis))


def main_series(context: AnalysisContext, group: ComparisonGroup) -> list[Series]:
    """Single agent, members and votes with and without CERL, and the tandem."""
    variants = [v for v in (group.ensemble, group.cerl, group.tandem) if v]
    found = [Series(v, p) for v in variants for p in context.results.dataset.policies(v) if not p.endswith("-mode")]
    return [*([group.single] if group.single else []), *found]


def of_group(dataset: Dataset, group: str, *, main_only: bool) -> Dataset | None:
    """The runs of a group: of the main algorithms, or of all in the environments that have variants of them."""

    def is_main(run: Run) -> bool:
        return section(run.meta, "identity").get("role") in MAIN_ROLES and is_default(run)

    own = [run for run in dataset.runs if section(run.meta, "identity").get("group") == group]
    varied = {run.env for run in own if not is_main(run)}
    wanted = {run.path for run in own if (is_main(run) if main_only else run.env in varied)}
    return select_runs(dataset, lambda run: run.path in wanted) if wanted else None


def _figure(group: str, name: str, title: str, drawing: Drawing | None) -> Iterator[Figure]:
    if drawing is not None:
        subject = subject_of(group)
        yield Figure(f"{group}-{name}", f"{subject[:1].upper()}{subject[1:]}: {title}", drawing)
