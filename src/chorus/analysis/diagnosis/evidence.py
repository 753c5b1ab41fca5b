"""The numbers behind a diagnosis: roles, differences in final return, diversity, and shares of own data."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from chorus.analysis.bootstrap import ENOUGH_SEEDS, IntervalEstimate
from chorus.analysis.comparisons import same_runs
from chorus.analysis.intervals import mean_difference, mean_estimate
from chorus.analysis.loading import Dataset, select_runs
from chorus.analysis.results import DISTANCES, VOTES, DiversityMeasure, Final, Results, Series, series_of
from chorus.analysis.variants import Variant, section
from chorus.analysis.wording import interval, number, percent, signed
from chorus.runs.logs import Run

OWN_SHARE = "replay/own_sampled/mean"
# A difference below this share of the second return would not change what anybody uses.
NEGLIGIBLE = 0.05


@dataclass(frozen=True)
class Roles:
    """The variant in each role of a diagnosis; None if it was not run."""

    single: Variant | None
    ensemble: Variant | None
    larger: Variant | None
    """The same ensemble with the larger replay buffer."""
    tandem: Variant | None
    cerl: Variant | None


@dataclass(frozen=True)
class Contrast:
    """The mean final return of the first series minus that of the second."""

    first: Series
    second: Series
    first_mean: float
    second_mean: float
    difference: IntervalEstimate

    @property
    def settled(self) -> bool:
        return self.difference.settled

    @property
    def above(self) -> bool:
        return self.settled and self.difference.value > 0

    @property
    def below(self) -> bool:
        return self.settled and self.difference.value < 0

    @property
    def negligible(self) -> bool:
        """Whether the whole interval is small relative to the second return, which must be positive."""
        found, most = self.difference, NEGLIGIBLE * self.second_mean
        return found.runs >= ENOUGH_SEEDS and -most <= found.low and found.high <= most

    @property
    def sentence(self) -> str:
        value = self.difference.value
        relative = self.second_mean > 0 and self.first_mean >= 0
        ratio = f"{percent(abs(value) / self.second_mean)} " if relative else ""
        place = f"{ratio}{'above' if value > 0 else 'below'}" if value else "level with"
        return (
            f"{self.first.label} ends {place} {self.second.label}: mean return {number(self.first_mean)} against "
            f"{number(self.second_mean)}, difference {signed(value)} ({interval(self.difference)})."
        )


@dataclass(frozen=True)
class DiversityLevel:
    """How much the members of an ensemble differ, and the largest possible value."""

    measure: DiversityMeasure
    found: IntervalEstimate
    most: float

    @property
    def limit(self) -> float:
        """Below it members are nearly alike."""
        return self.measure.low_share * self.most


class Budget(NamedTuple):
    """A scale, and the agent steps of each run."""

    scale: Any
    steps: int | None


@dataclass(frozen=True)
class Evidence:
    """The numbers of one environment."""

    env: str
    roles: Roles
    results: Results
    actions: int | None = None
    """The number of discrete actions, if known."""
    budget: Budget | None = None
    """The budget that all runs share, if they do."""

    def contrast(self, first: Series | None, second: Series | None) -> Contrast | None:
        """None if one of the series was not run.

        Two policies of the same runs are compared in pairs. So are ensembles that differ only in their buffer, seed by
        seed: their runs are identical until the smaller buffer is full.
        """
        x, y = self._final(first), self._final(second)
        if first is None or second is None or x is None or y is None:
            return None
        by_seed = differ_in_buffer(first.variant, second.variant) and x.seeds == y.seeds
        paired = by_seed or same_runs(self.results, first, second, (self.env,))
        found = mean_difference(x.values, y.values, paired=paired)
        return Contrast(first, second, float(np.mean(x.values)), float(np.mean(y.values)), found)

    def members_against_single(self) -> Contrast | None:
        return self._policies(self.roles.ensemble, "individual", self.roles.single, "individual")

    def passive_against_active(self) -> Contrast | None:
        return self._policies(self.roles.tandem, "passive", self.roles.tandem, "active")

    def contrasts(self) -> dict[str, Contrast]:
        """All differences of the diagnosis under the short names that the figure uses."""
        roles = self.roles
        found = {
            "indiv. − single agent": self.members_against_single(),
            "agg. − single agent": self._policies(roles.ensemble, "aggregate", roles.single, "individual"),
            "agg. − indiv.": self._policies(roles.ensemble, "aggregate", roles.ensemble, "individual"),
            "passive − active": self.passive_against_active(),
            "CERL − plain, indiv.": self._policies(roles.cerl, "individual", roles.ensemble, "individual"),
            "CERL − plain, agg.": self._policies(roles.cerl, "aggregate", roles.ensemble, "aggregate"),
            "larger − usual buffer, indiv.": self._policies(roles.larger, "individual", roles.ensemble, "individual"),
            "larger − usual buffer, agg.": self._policies(roles.larger, "aggregate", roles.ensemble, "aggregate"),
        }
        return {name: contrast for name, contrast in found.items() if contrast is not None}

    def diversity(self, variant: Variant | None) -> DiversityLevel | None:
        """By the measure that was recorded for these actions; None if none was, or if there is only one action."""
        if variant is None:
            return None
        for measure, most in ((VOTES, self._largest_entropy(variant)), (DISTANCES, _largest_distance(variant))):
            found = self._metric(variant, measure.metric)
            if found and most > 0:
                return DiversityLevel(measure, found, most)
        return None

    def own_share(self, variant: Variant | None) -> IntervalEstimate | None:
        """The share of a member's training data that the member generated."""
        return self._metric(variant, OWN_SHARE)

    def _policies(
        self, first: Variant | None, first_policy: str, second: Variant | None, second_policy: str
    ) -> Contrast | None:
        return self.contrast(series_of(first, first_policy), series_of(second, second_policy))

    def _largest_entropy(self, variant: Variant) -> float:
        """In nats: equally many votes for each member's action, or for each action if there are fewer."""
        return float(np.log(min(variant.members, self.actions or variant.members)))

    def _metric(self, variant: Variant | None, metric: str) -> IntervalEstimate | None:
        final = self.results.metric_final(variant, self.env, metric) if variant else None
        return mean_estimate(final.values) if final else None

    def _final(self, series: Series | None) -> Final | None:
        return self.results.final(series, self.env) if series else None


def _largest_distance(variant: Variant) -> float:
    """Half the members at one end of [-1, 1] and half at the other; an odd member joins one of them."""
    members = variant.members
    return members / (members - 1) if members % 2 == 0 else (members + 1) / members


def gather_evidence(results: Results, env: str, actions: int | None = None) -> Evidence:
    """Assigns the roles among runs of one environment and one budget (`with_one_budget`)."""

    def variants_with(role: str) -> list[Variant]:
        fitting = [v for v in results.dataset.variants if v.role == role]
        return sorted(fitting, key=lambda v: v.capacity or 0)

    ensembles = variants_with("ensemble")
    larger = [v for v in ensembles if differ_in_buffer(v, ensembles[0])]
    roles = Roles(
        single=next(iter(variants_with("single")), None),
        ensemble=ensembles[0] if ensembles else None,
        larger=larger[-1] if larger else None,
        tandem=next(iter(variants_with("tandem")), None),
        cerl=next(iter(variants_with("cerl")), None),
    )
    budgets = {budget_of(run) for run in results.dataset.runs}
    return Evidence(env, roles, results, actions, budgets.pop() if len(budgets) == 1 else None)


def differ_in_buffer(first: Variant, second: Variant) -> bool:
    """Whether the replay capacity is the only setting that differs."""
    return first.distance(second) == 1 and first.capacity != second.capacity


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
