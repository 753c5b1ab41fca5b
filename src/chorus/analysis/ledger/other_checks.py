"""Checks that are not about a difference of scores: a correlation of gaps, a ratio of costs, a share of games."""

from dataclasses import dataclass

import numpy as np

from chorus.analysis.bootstrap import FEWEST_RUNS, IntervalEstimate
from chorus.analysis.context import AnalysisContext
from chorus.analysis.contrasts import find_gaps
from chorus.analysis.costs import comparable_times
from chorus.analysis.figures.gaps import gap_correlation
from chorus.analysis.intervals import difference
from chorus.analysis.ledger.checks import Check, Outcome, Status
from chorus.analysis.normalisation import by_human, references_for
from chorus.analysis.results import Series, stack_ragged
from chorus.analysis.variants import Variant


@dataclass(frozen=True, kw_only=True)
class GapsCorrelate(Check):
    """The gaps of tandem and ensemble are said to correlate over environments, as in the figure of the gaps."""

    single: Series | None
    ensemble: Variant | None
    tandem: Variant | None
    fewest: int = 6

    def judge(self, context: AnalysisContext) -> Outcome:
        if self.single is None or self.ensemble is None or self.tandem is None:
            return self.missing()
        scored = context if context.normalisation.kind == "human" else context.normalised_by_single_agent()
        gaps, _ = find_gaps(scored, self.single, self.ensemble, self.tandem)
        envs = tuple(env for env, gap in gaps.items() if gap.exclusion is None)
        if not envs:
            return self.missing()
        found = gap_correlation([gaps[env] for env in envs]).spearman
        if len(envs) < self.fewest or found is None:
            return Outcome(self.what, "unsettled", envs=envs, note=f"it takes at least {self.fewest} environments")
        # A perfect correlation of this many environments has no interval by Fisher's z and is certain enough.
        low, high = (found.low, found.high) if found.has_interval else (found.value, found.value)
        status: Status = "agrees" if low > 0 else "disagrees" if high < 0 else "unsettled"
        return Outcome(self.what, status, found, "rank correlation", envs)


@dataclass(frozen=True, kw_only=True)
class CostRatio(Check):
    """Training time per step, as a multiple of another algorithm's in the same environments, in each on one kind of
    processor, is at most `most`."""

    first: Series | None
    second: Series | None
    most: float
    members: int | None = None
    """The size of the paper's ensemble, on which the ratio depends."""

    def judge(self, context: AnalysisContext) -> Outcome:
        if self.first is None or self.second is None:
            return self.missing()
        if self.members and self.first.variant.members != self.members:
            return self.missing(f"the paper's ensemble has {self.members} members, not {self.first.variant.members}")
        times = comparable_times(context, self.first.variant, self.second.variant)
        if not times:
            return self.missing("no timings of both on one kind of processor were recorded")
        x, y = (np.log(stack_ragged([both[side] for both in times.values()])) for side in (0, 1))
        ratio = difference(x, y, paired=False).estimate
        value, low, high = (float(np.exp(number)) for number in (ratio.value, ratio.low, ratio.high))
        found_ratio = IntervalEstimate(value, low, high, ratio.runs)
        status: Status = "unsettled"
        if found_ratio.has_interval and ratio.runs >= FEWEST_RUNS:
            status = "agrees" if high <= self.most else "disagrees" if low > self.most else "unsettled"
        return Outcome(self.what, status, found_ratio, "ratio of training times", tuple(times))


@dataclass(frozen=True, kw_only=True)
class ShareBelow(Check):
    """The single agent is said to score below `limit` (0 random, 1 human) in about this share of all games."""

    single: Series | None
    limit: float
    share: float
    fewest: int

    def judge(self, context: AnalysisContext) -> Outcome:
        results = context.results
        human = by_human(results, references_for(results.envs, context.references))
        envs = tuple(env for env in results.envs_of([self.single] if self.single else []) if env in human.envs)
        if len(envs) < self.fewest or self.single is None:
            return self.missing(f"it takes at least {self.fewest} Atari games")
        levels = [human.apply(env, results.score_matrix(self.single, (env,))) for env in envs]
        share = float(np.mean([np.nanmean(level) < self.limit for level in levels]))
        error = 1.96 * np.sqrt(share * (1 - share) / len(envs))
        estimate = IntervalEstimate(share, share - error, share + error, len(envs))
        status: Status = "agrees" if estimate.low <= self.share <= estimate.high else "disagrees"
        return Outcome(self.what, status, estimate, "share of games", envs)
