"""The bootstrap: exact where it can be enumerated, covering where it cannot, bounded in memory, explicit in
its seed.
"""

import itertools
import tracemalloc

import numpy as np
import pytest

from chorus.analysis import aggregates, bootstrap


def test_two_runs_of_one_task_can_be_enumerated() -> None:
    # resamples of (0, 1): (0,0), (0,1), (1,0), (1,1), so the mean is 0, 1/2, 1 with chances 1/4, 1/2, 1/4
    samples = bootstrap.resampled([[0.0], [1.0]], aggregates.mean, np.random.default_rng(0), 40_000)
    values, counts = np.unique(samples, return_counts=True)
    assert values.tolist() == [0.0, 0.5, 1.0]
    assert counts / 40_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.01)


def test_tasks_are_strata_drawn_independently() -> None:
    # Columns never mix: with task values {0, 1} and {10, 30} the mean takes 3 x 3 values.
    scores = np.array([[0.0, 10.0], [1.0, 30.0]])
    samples = bootstrap.resampled(scores, aggregates.mean, np.random.default_rng(1), 5_000)
    expected = {(a + b) / 2 for a, b in itertools.product((0, 0.5, 1), (10, 20, 30))}
    assert set(samples.tolist()) == expected


def test_missing_runs_are_never_drawn() -> None:
    scores = np.array([[1.0, np.nan], [2.0, 7.0], [3.0, np.nan]])
    samples = bootstrap.resampled(scores, aggregates.median, np.random.default_rng(2), 2_000)
    assert np.isfinite(samples).all()
    assert samples.min() >= (1 + 7) / 2 and samples.max() <= (3 + 7) / 2
    counts = bootstrap.draw_counts(np.isfinite(scores), np.random.default_rng(3), 500)
    assert (counts[np.isnan(scores)] == 0).all()
    # each resample draws exactly as many runs of a task as there are
    assert (counts.sum(axis=0) == np.array([[3], [1]])).all()


def test_a_seed_decides_everything_and_blocks_nothing() -> None:
    scores = np.random.default_rng(4).normal(size=(5, 7))
    first = bootstrap.estimate(scores, aggregates.iqm, np.random.default_rng(5), resamples=1_000)
    again = bootstrap.estimate(scores, aggregates.iqm, np.random.default_rng(5), resamples=1_000)
    other = bootstrap.estimate(scores, aggregates.iqm, np.random.default_rng(6), resamples=1_000)
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)
    assert first.low < first.value < first.high


def test_one_run_has_no_interval() -> None:
    one = bootstrap.estimate([[1.0, 2.0]], aggregates.mean, np.random.default_rng(0))
    assert one.value == 1.5 and one.runs == 1 and not one.has_interval


@pytest.mark.parametrize("count", [2, 7, 40, 1_000])
def test_percentiles_are_numpys(count: int) -> None:
    samples = np.random.default_rng(count).normal(size=(3, count))
    expected = np.percentile(samples, [2.5, 97.5], axis=-1)
    assert np.array(bootstrap.percentile_interval(samples)) == pytest.approx(expected)


def test_curve_bands_follow_the_runs_present() -> None:
    values = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, np.nan], [5.0, 6.0, np.nan]])
    band = bootstrap.mean_curve_interval(values, np.random.default_rng(9), resamples=4_000)
    assert band[:, 1] == pytest.approx(band[:, 0] + 1)  # the same runs are drawn for both points
    assert np.isnan(band[:, 2]).all()  # one run left: no band
    assert band[0, 0] == pytest.approx(1.0, abs=0.7) and band[1, 0] == pytest.approx(5.0, abs=0.7)


def test_aggregate_bands_agree_with_the_final_interval() -> None:
    scores = np.random.default_rng(10).normal(size=(5, 8))
    curves = np.repeat(scores[:, :, None], 3, axis=2)
    curves[4, 0, 2] = np.nan
    band = bootstrap.iqm_curve_interval(curves, np.random.default_rng(11), resamples=4_000)
    alone = bootstrap.estimate(scores, aggregates.iqm, np.random.default_rng(12), resamples=4_000)
    assert band[:, 0] == pytest.approx([alone.low, alone.high], abs=0.03)
    assert band[:, 1] == pytest.approx(band[:, 0])
    assert np.isfinite(band[:, 2]).all()


def test_fifty_thousand_resamples_stay_within_bounded_memory() -> None:
    scores = np.random.default_rng(13).normal(size=(5, 55))
    tracemalloc.start()
    bootstrap.estimate(scores, aggregates.iqm, np.random.default_rng(14))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All resamples at once would be 50,000 x 275 x 8 bytes = 110 MB for one of several arrays.
    assert peak < 120e6


def coverage(runs: int, datasets: int, rng: np.random.Generator) -> float:
    """How often the interval of the IQM of exponential scores holds the true IQM.

    All tasks being Exp(1), the true IQM is 2 times the integral of -ln(1 - u) from 1/4 to 3/4. An
    antiderivative is (1 - u) ln(1 - u) + u, which gives 2 (1/4 ln 1/4 - 3/4 ln 3/4 + 1/2) = 0.738376.
    """
    truth = 2 * (0.25 * np.log(0.25) - 0.75 * np.log(0.75) + 0.5)
    hits = 0
    for _ in range(datasets):
        scores = rng.exponential(size=(runs, 6))
        found = bootstrap.estimate(scores, aggregates.iqm, rng, resamples=400)
        hits += found.low <= truth <= found.high
    return hits / datasets


@pytest.mark.slow
def test_intervals_cover_what_they_promise() -> None:
    # 400 data sets: the standard error at 95 % is 1.1 %.
    assert coverage(20, 400, np.random.default_rng(15)) == pytest.approx(0.95, abs=0.035)
