"""Intervals of final scores cover the truth as often as they say, at 5 and at 10 seeds (the table of docs/report.md).

Skewed scores are gamma variates of shape 4, whose skewness is 1. Every simulated study is one row of a batch.
"""

from collections.abc import Callable

import numpy as np
import pytest

from chorus.analysis import aggregates, intervals
from chorus.analysis.intervals import Influence

STUDIES = 10_000
LEVELS, SPREADS = np.array([0.6, 0.8, 1.0, 1.2, 1.4]), np.array([0.15, 0.1, 0.2, 0.3, 0.1])
Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
# Each has mean 0 and variance 1.
NOISE: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "skewed": lambda rng, shape: (rng.gamma(4.0, size=shape) - 4) / 2,
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1,
}
both = pytest.mark.parametrize("noise", ["normal", "skewed"])
seeds = pytest.mark.parametrize("runs", [5, 10])


def share_covered(found: list[Influence], value: np.ndarray, truth: float) -> float:
    low, high = intervals.interval(found, value)
    return float(np.mean((low <= truth) & (truth <= high)))


def mean_coverage(noise: str, runs: int) -> float:
    found = intervals.mean_influence(NOISE[noise](np.random.default_rng(runs), (STUDIES, runs, 1)))
    return share_covered([found], found.value, 0.0)


def difference_coverage(noise: str, runs: int, spread: float) -> float:
    rng = np.random.default_rng(runs)
    x, y = (intervals.mean_influence(s * NOISE[noise](rng, (STUDIES, runs, 1))) for s in (1.0, spread))
    return share_covered([x, y], x.value - y.value, 0.0)


def environments(noise: str, runs: int, seed: int = 0, studies: int = STUDIES) -> np.ndarray:
    """Studies of five environments with different levels and spreads."""
    return LEVELS + SPREADS * NOISE[noise](np.random.default_rng([runs, seed]), (studies, runs, 5))


def true_iqm(noise: str) -> float:
    return float(intervals.iqm_influence(environments(noise, 200_000, studies=1)[0]).value)


@both
@seeds
def test_a_mean(noise: str, runs: int) -> None:
    assert 0.93 <= mean_coverage(noise, runs) <= 0.97


@both
@seeds
@pytest.mark.parametrize("spread", [1.0, 2.0])
def test_a_difference_of_two_means(noise: str, runs: int, spread: float) -> None:
    assert 0.93 <= difference_coverage(noise, runs, spread) <= 0.97


@both
@seeds
def test_a_difference_of_policies_of_the_same_runs(noise: str, runs: int) -> None:
    rng = np.random.default_rng(runs)
    shared, own = NOISE[noise](rng, (2, STUDIES, runs, 1))
    x, y = intervals.mean_influence(shared + 0.5 * own), intervals.mean_influence(shared)
    paired = Influence(x.value - y.value, x.terms - y.terms)
    assert 0.93 <= share_covered([paired], paired.value, 0.0) <= 0.97


@both
@seeds
def test_the_iqm_over_five_environments(noise: str, runs: int) -> None:
    found = intervals.iqm_influence(environments(noise, runs))
    assert 0.93 <= share_covered([found], found.value, true_iqm(noise)) <= 0.97


@both
@seeds
def test_the_mean_over_five_environments(noise: str, runs: int) -> None:
    found = intervals.mean_influence(environments(noise, runs))
    assert 0.93 <= share_covered([found], found.value, float(LEVELS.mean())) <= 0.97


@both
@seeds
def test_a_difference_of_iqms_over_five_environments(noise: str, runs: int) -> None:
    x, y = (intervals.iqm_influence(environments(noise, runs, seed)) for seed in (1, 2))
    assert 0.93 <= share_covered([x, y], x.value - y.value, 0.0) <= 0.97


@both
@seeds
def test_a_difference_of_iqms_of_the_same_runs(noise: str, runs: int) -> None:
    scores = environments(noise, runs, 3)
    own = 0.5 * SPREADS * NOISE[noise](np.random.default_rng(4), scores.shape)
    x, y = intervals.iqm_influence(scores + 0.2), intervals.iqm_influence(scores + own)
    paired = Influence(x.value - y.value, x.terms - y.terms, x.freedom)
    many = environments(noise, 200_000, 3, studies=1)[0]
    more = many + 0.5 * SPREADS * NOISE[noise](np.random.default_rng(5), many.shape)
    truth = float(intervals.iqm_influence(many + 0.2).value - intervals.iqm_influence(more).value)
    assert 0.93 <= share_covered([paired], paired.value, truth) <= 0.97


def test_strongly_skewed_scores_are_covered_less_by_the_interval_of_one_mean() -> None:
    """Exponential scores, skewness 2: the limits that docs/report.md states."""
    assert [mean_coverage("exponential", runs) for runs in (5, 10)] == pytest.approx([0.885, 0.90], abs=0.015)
    assert difference_coverage("exponential", 5, 1.0) >= 0.95
    assert difference_coverage("exponential", 5, 2.0) == pytest.approx(0.925, abs=0.015)


@pytest.mark.parametrize("name", list(intervals.INFLUENCES))
def test_values_are_those_of_the_aggregates_also_with_missing_runs(name: str) -> None:
    scores = np.random.default_rng(1).normal(1.0, 0.5, size=(7, 6))
    for missing in ((), (2, 3)):
        scores[missing] = np.nan if missing else scores[missing]
        assert intervals.INFLUENCES[name](scores).value == pytest.approx(aggregates.AGGREGATES[name](scores))


def test_intervals_of_one_environment_are_the_textbooks() -> None:
    # mean 3, variance 2.5, so 3 -+ 2.776 sqrt(2.5 / 5), with t(0.975; 4) = 2.776
    found = intervals.mean_estimate([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (found.value, found.low, found.high) == pytest.approx((3.0, 1.0367, 4.9633), abs=1e-3) and found.runs == 5
    stats = pytest.importorskip("scipy.stats")
    x, y = np.random.default_rng(0).normal(size=6), np.random.default_rng(1).normal(1, 3, size=4)
    welch = stats.ttest_ind(x, y, equal_var=False)
    ours = intervals.difference(x[:, None], y[:, None], paired=False)
    assert ours.p_value == pytest.approx(welch.pvalue)
    assert (ours.estimate.low, ours.estimate.high) == pytest.approx(tuple(welch.confidence_interval(0.95)))
    paired = intervals.mean_difference(x + 2, x, paired=True)
    assert (paired.value, paired.low, paired.high) == pytest.approx((2, 2, 2))


def test_a_single_run_has_no_interval() -> None:
    assert not intervals.mean_estimate([3.0]).has_interval
    assert not intervals.estimate([[1.0, 2.0], [2.0, np.nan]]).has_interval
    assert not intervals.mean_difference([1.0], [2.0, 3.0], paired=False).has_interval
    with pytest.raises(ValueError, match="same runs"):
        intervals.difference(np.ones((2, 2)), np.ones((3, 2)), paired=True)


@both
@pytest.mark.parametrize("runs", [(10, 3, 3, 3, 3), (10, 10, 5, 5, 5)])
def test_iqms_where_environments_have_different_numbers_of_seeds(noise: str, runs: tuple[int, ...]) -> None:
    """Five environments whose scores overlap; the intervals are wider than they need be."""
    studies = [environments(noise, max(runs), seed) for seed in (1, 2)]
    for scores in studies:
        for env, count in enumerate(runs):
            scores[:, count:, env] = np.nan
    x, y = map(intervals.iqm_influence, studies)
    assert 0.94 <= share_covered([x], x.value, true_iqm(noise)) <= 0.99
    assert 0.94 <= share_covered([x, y], x.value - y.value, 0.0) <= 0.99


def test_two_environments_far_apart_with_different_numbers_of_seeds() -> None:
    """Why effects over such environments are means (docs/report.md): ten seeds of one and three of the other."""
    levels, spreads = np.array([0.55, 1.28]), np.array([0.06, 0.1])
    scores = levels + spreads * np.random.default_rng(0).normal(size=(STUDIES, 10, 2))
    many = levels + spreads * np.random.default_rng(1).normal(size=(200_000, 2))
    scores[:, 3:, 1] = np.nan
    mean, iqm = intervals.mean_influence(scores), intervals.iqm_influence(scores)
    assert share_covered([mean], mean.value, float(levels.mean())) == pytest.approx(0.93, abs=0.015)
    assert share_covered([iqm], iqm.value, float(intervals.iqm_influence(many).value)) == pytest.approx(0.86, abs=0.02)
