"""The numbers a diagnosis rests on: who was trained, differences in final return, diversity, ownership."""

from dataclasses import dataclass

import numpy as np

from chorus.analysis.bootstrap import Estimate, MeanResampler
from chorus.analysis.comparisons import same_runs, settled
from chorus.analysis.results import VOTE_ENTROPY, Results, Series
from chorus.analysis.variants import Variant

OWN_SHARE = "replay/own_sampled/mean"


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


@dataclass(frozen=True)
class Evidence:
    """All that can be said in numbers about one environment."""

    env: str
    cast: Cast
    results: Results
    resampler: MeanResampler
    actions: int | None = None
    """How many there are to choose from, if that is known."""

    def contrast(self, first: Series | None, second: Series | None) -> Contrast | None:
        """Two policies of the same runs are compared in pairs, different algorithms apart; None if one is missing."""
        x, y = self._final(first), self._final(second)
        if first is None or second is None or x is None or y is None:
            return None
        paired = same_runs(self.results, first, second, self.env)
        found = self.resampler.difference(x, y, paired=paired)
        return Contrast(first, second, float(np.mean(x)), float(np.mean(y)), found)

    def entropy(self, variant: Variant | None) -> Estimate | None:
        """Vote entropy in nats, on the states that individual members visit; None where there is nothing to choose."""
        return self._metric(variant, VOTE_ENTROPY) if variant and self.most_entropy(variant) > 0 else None

    def own_share(self, variant: Variant | None) -> Estimate | None:
        """Of the transitions a member learnt from, the share that it generated itself."""
        return self._metric(variant, OWN_SHARE)

    def most_entropy(self, variant: Variant) -> float:
        """In nats: every member, or every action if there are fewer, voted for equally often."""
        return float(np.log(min(variant.traits.members, self.actions or variant.traits.members)))

    def _metric(self, variant: Variant | None, metric: str) -> Estimate | None:
        final = self.results.metric_final(variant, self.env, metric) if variant else None
        return self.resampler.estimate(final.values) if final else None

    def _final(self, series: Series | None) -> np.ndarray | None:
        final = self.results.final(series, self.env) if series else None
        return final.values if final else None


def gather(results: Results, env: str, resampler: MeanResampler, actions: int | None = None) -> Evidence:
    """Finds out who plays which part among the variants that were run in this environment."""
    here = [v for v in results.dataset.variants if any(results.dataset.runs[run].env == env for run in v.runs)]

    def with_role(role: str) -> list[Variant]:
        fitting = [v for v in here if v.traits.role == role]
        return sorted(fitting, key=lambda v: v.traits.buffer or 0)

    ensembles = [v for v in with_role("ensemble") if v.traits.plain]
    several = len({v.traits.buffer for v in ensembles}) > 1
    cast = Cast(
        single=next((v for v in with_role("single") if v.traits.plain), None),
        ensemble=ensembles[0] if ensembles else None,
        larger=ensembles[-1] if several else None,
        tandem=next(iter(with_role("tandem")), None),
        cerl=next(iter(with_role("cross")), None),
    )
    return Evidence(env, cast, results, resampler, actions)
