"""Every variant beside the algorithm that it changes: differences in members, acting together and diversity."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chorus.analysis import figures
from chorus.analysis.context import AnalysisContext
from chorus.analysis.effects import Effect, Term, measure, minus
from chorus.analysis.figures import Drawing, LabelledEstimate, LineStyle
from chorus.analysis.grouping import ComparisonGroup, find_comparison_groups
from chorus.analysis.intervals import INTERVAL
from chorus.analysis.results import DIVERSITIES, Series
from chorus.analysis.variants import Variant

# What is compared, in the order of columns and panels.
DIVERSITY = "diversity"
MEASURED = ("members", "together", DIVERSITY)
_SETTLED, _OPEN = LineStyle(1), LineStyle(0, policy="individual")


@dataclass(frozen=True)
class Ablation:
    """A variant, the algorithm that it changes, and an effect per entry of `MEASURED`; None where there is none."""

    variant: Variant
    plain: Variant
    effects: tuple[Effect | None, ...]


def find_ablations(context: AnalysisContext) -> Iterator[Ablation]:
    """Every variant beside the plain ensemble or single agent that it is most like; tandems have no counterpart."""
    for group in find_comparison_groups(context.results):
        for variant in group.variants:
            plain = _changed(group, variant)
            if plain is not None and variant.role != "tandem":
                yield Ablation(variant, plain, _effects(context, variant, plain))


def _changed(group: ComparisonGroup, variant: Variant) -> Variant | None:
    """The algorithm that a variant changes; None for the main ones."""
    if variant.members > 1:
        return group.plain(variant)
    alone = group.alone(variant)
    return alone.variant if alone else None


def _effects(context: AnalysisContext, variant: Variant, plain: Variant) -> tuple[Effect | None, ...]:
    members, together = (
        measure(context, minus(Series(variant, policy), Series(plain, policy)))
        for policy in ("individual", "aggregate")
    )
    if variant.members == 1:
        return members, together, None
    both = ((1.0, Series(variant, "individual")), (-1.0, Series(plain, "individual")))
    # Vote entropy of discrete actions, distance of continuous ones: a variant has one of them.
    found = (measure(context, [Term(weight, series, by) for weight, series in both]) for by in DIVERSITIES)
    return members, together, next(filter(None, found), None)


def draw_ablations(ablations: Sequence[Ablation]) -> Drawing | None:
    """A panel per measure with a row per variant of the ensemble, hollow where the interval includes zero."""
    rows = [one for one in ablations if one.variant.members > 1]
    if not rows:
        return None
    panels = {}
    for name, column in zip(MEASURED, zip(*(row.effects for row in rows), strict=True), strict=True):
        effects = [effect for effect in column if effect is not None]
        units = {effect.unit for effect in effects}
        # A panel has one axis, in returns or in scores, and a row of each variant.
        if len(effects) == len(rows) and len(units) == 1:
            (unit,) = units
            title = unit if name == DIVERSITY else f"{name} ({unit})"
            panels[title] = [_labelled(row, effect) for row, effect in zip(rows, effects, strict=True)]
    if not panels:
        return None
    caption = (
        "Differences from the plain ensemble that a variant is most like; hollow where the interval includes zero. If "
        f"nothing differed, one of twenty would be filled by chance. Lines: {INTERVAL}."
    )
    return figures.interval_estimates(panels, caption=caption, columns=len(panels), zero=True)


def _labelled(row: Ablation, effect: Effect) -> LabelledEstimate:
    return LabelledEstimate(row.variant.label, _SETTLED if effect.estimate.settled else _OPEN, effect.estimate)
