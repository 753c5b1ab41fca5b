"""The numbers a diagnosis rests on: who was trained, differences in final return, diversity, ownership."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from chorus.analysis.bootstrap import Estimate, MeanResampler
from chorus.analysis.comparisons import same_runs, settled
from chorus.analysis.loading import Dataset, selected
from chorus.analysis.results import DISTANCES, VOTES, Diversity, Final, Results, Series
from chorus.analysis.runs import Run
from chorus.analysis.summary import ENOUGH_SEEDS
from chorus.analysis.variants import Variant, part_of

OWN_SHARE = "replay/own_sampled/mean"
# A difference below this share of what it is compared with would not change what anybody uses.
NEGLIGIBLE = 0.05


@dataclass(frozen=True)
class Cast:
    """Who was trained, by the part they play; None for whom there is no run."""

    single: Variant | None
    ensemble: Variant | None
    larger: Variant | None
    """The same ensemble with the larger buffer."""
    tandem: Variant | None
    cerl: Variant | None


@dataclass(frozen=True)
class Contrast:
    """Mean final return of the first minus that of the second, with its interval."""

    first: Series
    second: Series
    level: float
    """Mean final return of the first."""
    base: float
    """Mean final return of the second."""
    difference: Estimate

    @property
    def settled(self) -> bool:
        return settled(self.difference)

    @property
    def above(self) -> bool:
        """Beyond doubt."""
        return self.settled and self.difference.value > 0

    @property
    def below(self) -> bool:
        """Beyond doubt."""
        return self.settled and self.difference.value < 0

    @property
    def negligible(self) -> bool:
        """Whether every difference in the interval is small; a share of a negative return would mean nothing."""
        found, most = self.difference, NEGLIGIBLE * self.base
        return found.runs >= ENOUGH_SEEDS and -most <= found.low and found.high <= most


@dataclass(frozen=True)
class Unlikeness:
    """How unlike an ensemble's members are, and how unlike they could be."""

    measure: Diversity
    found: Estimate
    most: float

    @property
    def limit(self) -> float:
        """Below it members are nearly alike."""
        return self.measure.little * self.most


@dataclass(frozen=True)
class Evidence:
    """All that can be said in numbers about one environment."""

    env: str
    cast: Cast
    results: Results
    resampler: MeanResampler
    actions: int | None = None
    """How many there are to choose from, if that is known."""
    budget: "Budget | None" = None
    """What all of the runs had, if it is known."""

    def contrast(self, first: Series | None, second: Series | None) -> Contrast | None:
        """Two policies of the same runs, or twins, are compared in pairs, all else apart; None if one is missing."""
        x, y = self._final(first), self._final(second)
        if first is None or second is None or x is None or y is None:
            return None
        twins = _twins(first.variant, second.variant) and x.seeds == y.seeds
        found = self.resampler.difference(
            x.values, y.values, paired=twins or same_runs(self.results, first, second, self.env)
        )
        return Contrast(first, second, float(np.mean(x.values)), float(np.mean(y.values)), found)

    def unlikeness(self, variant: Variant | None) -> Unlikeness | None:
        """By the measure that was recorded for these actions; None where there is nothing to choose."""
        if variant is None:
            return None
        for measure, most in ((VOTES, self._most_entropy(variant)), (DISTANCES, _most_distance(variant))):
            found = self._metric(variant, measure.metric)
            if found and most > 0:
                return Unlikeness(measure, found, most)
        return None

    def own_share(self, variant: Variant | None) -> Estimate | None:
        """Of the transitions a member learnt from, the share that it generated itself."""
        return self._metric(variant, OWN_SHARE)

    def _most_entropy(self, variant: Variant) -> float:
        """In nats: every member, or every action if there are fewer, voted for equally often."""
        return float(np.log(min(variant.traits.members, self.actions or variant.traits.members)))

    def _metric(self, variant: Variant | None, metric: str) -> Estimate | None:
        final = self.results.metric_final(variant, self.env, metric) if variant else None
        return self.resampler.estimate(final.values) if final else None

    def _final(self, series: Series | None) -> Final | None:
        return self.results.final(series, self.env) if series else None


def _twins(first: Variant, second: Variant) -> bool:
    """Whether only the buffer differs: with the same seed both are one and the same until the smaller one is full."""
    return first.distance(second) == 1 and first.traits.buffer != second.traits.buffer


def _most_distance(variant: Variant) -> float:
    """Half the members at one end of [-1, 1] and half at the other; of an odd number, one more at one of them."""
    members = variant.traits.members
    return members / (members - 1) if members % 2 == 0 else (members + 1) / members


def gather(results: Results, env: str, resampler: MeanResampler, actions: int | None = None) -> Evidence:
    """Finds out who plays which part, in runs of one environment and one budget (`with_one_budget`)."""
    variants = results.dataset.variants

    def with_role(role: str) -> list[Variant]:
        fitting = [v for v in variants if v.traits.role == role]
        return sorted(fitting, key=lambda v: v.traits.buffer or 0)

    ensembles = [v for v in with_role("ensemble") if v.traits.plain]
    larger = [v for v in ensembles if _twins(v, ensembles[0])]
    cast = Cast(
        single=next((v for v in with_role("single") if v.traits.plain), None),
        ensemble=ensembles[0] if ensembles else None,
        larger=larger[-1] if larger else None,
        tandem=next(iter(with_role("tandem")), None),
        cerl=next(iter(with_role("cross")), None),
    )
    budgets = {_budget(run) for run in results.dataset.runs}
    return Evidence(env, cast, results, resampler, actions, budgets.pop() if len(budgets) == 1 else None)


class Budget(NamedTuple):
    """A scale, and the agent steps of each run."""

    scale: Any
    steps: int | None


def _budget(run: Run) -> Budget:
    steps = part_of(run.config, "schedule").get("total_steps")
    return Budget(run.config.get("scale"), steps if isinstance(steps, int) else None)


def with_one_budget(dataset: Dataset, env: str) -> Dataset:
    """The runs of an environment with the scale and steps that most of them have.

    A run of another scale is nobody's larger or smaller sibling. Curves that others published have no budget.
    """
    counts = Counter(_budget(run) for run in dataset.runs if run.env == env)
    usual = max(counts, key=lambda budget: (budget.steps is not None, counts[budget], budget.steps or 0), default=None)

    def keep(run: Run) -> bool:
        return run.env == env and _budget(run) == usual

    # The same object where nothing is left out, so that whoever drew from it still knows its variants.
    return dataset if not counts or all(map(keep, dataset.runs)) else selected(dataset, keep)
