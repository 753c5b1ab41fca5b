"""The runs that claims are judged by: variants of one family of algorithms, found by role, preset and settings."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from chorus.analysis.context import AnalysisContext
from chorus.analysis.effects import Term, measure, minus, trend
from chorus.analysis.grouping import ComparisonGroup, find_comparison_groups, nearest
from chorus.analysis.results import DIVERSITIES, Series
from chorus.analysis.variants import CAPACITY, MEMBERS, PASSIVE_SHARE, SHARED_LAYERS, Variant

Terms = tuple[Term, ...]
INDIVIDUAL, AGGREGATE = "individual", "aggregate"
CONTINUOUS, CONVOLUTIONS = "sac", "agent.torso.convolutions"
# What the paper sweeps: along one of them the others stay as they are.
SWEPT = (MEMBERS, SHARED_LAYERS, CAPACITY, PASSIVE_SHARE)


class Evidence:
    """The variants of one comparison group; every method returns None for what was not run."""

    def __init__(self, context: AnalysisContext, group: str) -> None:
        self.context, self.results = context, context.results
        own = [g for g in find_comparison_groups(context.results) if g.variants and g.variants[0].group == group]
        self.group = own[0] if own else ComparisonGroup(single=None, ensemble=None)
        self.continuous = group == CONTINUOUS

    @property
    def single(self) -> Series | None:
        return self.group.single

    def role(self, role: str, policy: str = INDIVIDUAL) -> Series | None:
        """The variant in a role of the group, judged by a policy."""
        return self.series(getattr(self.group, role), policy)

    def preset(self, name: str, policy: str = INDIVIDUAL, **settings: Any) -> Series | None:
        """The variant of a preset that is most like the plain ensemble, with these values at these paths."""
        fitting = [v for v in self._of_preset(name) if all(v.settings.get(k) == x for k, x in settings.items())]
        centre = self.group.ensemble or (self.single.variant if self.single else None)
        found = nearest(centre, fitting) if centre else next(iter(fitting), None)
        return self.series(found, policy)

    def series(self, variant: Variant | None, policy: str) -> Series | None:
        if variant is None or policy not in self.results.dataset.policies(variant):
            return None
        return Series(variant, policy)

    def alone(self, series: Series | None) -> Series | None:
        """The single agent that a series is compared with."""
        return self.group.alone(series.variant) if series else None

    def shared(self, preset: str, policy: str = INDIVIDUAL) -> Series | None:
        """The variant of a preset that shares all of its convolutions."""
        own = [v for v in self._of_preset(preset) if v.number(SHARED_LAYERS)]
        fitting = [v for v in own if v.number(SHARED_LAYERS) == len(v.settings.get(CONVOLUTIONS) or ())]
        return self.series(nearest(self.group.ensemble or fitting[0], fitting) if fitting else None, policy)

    def line(self, preset: str, path: str, **settings: Any) -> tuple[Variant, ...]:
        """The variants of a preset over the values of one setting, all else as in the one closest to its defaults.

        Empty if there are fewer than two values. An ensemble of one is left out of a line over N, because it has
        neither a vote nor diversity.
        """
        own = [
            v
            for v in self._of_preset(preset)
            if v.number(path) is not None
            and all(v.settings.get(k) == x for k, x in settings.items())
            and (path != MEMBERS or v.members > 1)
        ]
        if not own:
            return ()
        centre = min(own, key=lambda v: v.rank)
        other = [axis for axis in SWEPT if axis != path]
        fitting = [v for v in own if all(v.number(a) == centre.number(a) for a in other)]
        values = sorted({v.number(path) or 0.0 for v in fitting})
        found = [nearest(centre, [v for v in fitting if v.number(path) == value]) for value in values]
        return tuple(v for v in found if v) if len(values) > 1 else ()

    def over(self, line: Sequence[Variant], path: str, at: Callable[[Variant], Terms | None]) -> Terms | None:
        """The trend over a line of an effect at each of its variants."""
        own = [at(variant) for variant in line]
        found = [terms for terms in own if terms]
        if not found or len(found) < len(own):
            return None
        log = any(path in v.identity.axes and v.identity.axes[path].log for v in line)
        return trend([variant.number(path) or 0.0 for variant in line], found, log=log)

    def score(self, variant: Variant, policy: str = INDIVIDUAL) -> Terms | None:
        found = self.series(variant, policy)
        return (Term(1.0, found),) if found else None

    def gain(self, variant: Variant, first: str = AGGREGATE, second: str = INDIVIDUAL) -> Terms | None:
        """One policy minus another of the same runs."""
        return difference(self.series(variant, first), self.series(variant, second))

    def gap(self, variant: Variant) -> Terms | None:
        """Members minus the single agent with the same replay."""
        members = self.series(variant, INDIVIDUAL)
        same = [v for v in self.group.variants if v.role == "single" and v.number(CAPACITY) == variant.number(CAPACITY)]
        single = nearest(variant, same)
        return difference(members, Series(single, INDIVIDUAL) if single else None)

    def comparable_levels(self, first: Series | None, second: Series | None, share: float = 0.5) -> bool:
        """Whether in each environment of both the lower mean score is at least this share of the higher one."""
        effect = measure(self.context, difference(first, second) or ())
        apply = self.context.normalisation.apply
        if effect is None:
            return True
        for env in effect.envs:
            scores = (self.results.score_matrix(term.series, (env,)) for term in effect.terms)
            levels = [float(np.nanmean(apply(env, score))) for score in scores]
            if not min(levels) >= share * max(levels) > 0:
                return False
        return True

    def diversity(self, variant: Variant | None) -> Terms | None:
        """The measure of diversity that the variant recorded."""
        if variant is None:
            return None
        for one in DIVERSITIES:
            if any(self.results.metric_curve(variant, env, one.metric) for env in self.results.envs):
                return (Term(1.0, Series(variant, INDIVIDUAL), one),)
        return None

    def _of_preset(self, name: str) -> list[Variant]:
        return [v for v in self.group.variants if v.preset == name]


def difference(first: Series | None, second: Series | None) -> Terms | None:
    return minus(first, second) if first and second else None


def weighted(*parts: tuple[float, Terms | None]) -> Terms | None:
    """A weighted sum of effects; None if one of them was not run."""
    found: list[Term] = []
    for weight, terms in parts:
        if terms is None:
            return None
        found += [term._replace(weight=weight * term.weight) for term in terms]
    return tuple(found)
