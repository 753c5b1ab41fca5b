"""Our statistics beside rliable's own, which is a development dependency and never needed by the product."""

from collections.abc import Iterator

import numpy as np
import pytest

from chorus.analysis import aggregates, bootstrap

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def rliables_randomness() -> Iterator[None]:
    """rliable draws from numpy's global state whatever random state it is given; here that is fixed, and put back."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    yield
    np.random.set_state(before)  # noqa: NPY002


@pytest.fixture(scope="module")
def rly() -> object:
    return pytest.importorskip("rliable.library", reason="rliable is not installed; `pip install -e .[dev]` brings it")


@pytest.fixture(scope="module")
def metrics() -> object:
    return pytest.importorskip("rliable.metrics", reason="rliable is not installed; `pip install -e .[dev]` brings it")


@pytest.fixture(scope="module")
def scores() -> np.ndarray:
    return np.random.default_rng(0).lognormal(size=(5, 26))


def test_point_estimates_are_equal(metrics, scores) -> None:
    assert aggregates.iqm(scores) == pytest.approx(metrics.aggregate_iqm(scores))
    assert aggregates.mean(scores) == pytest.approx(metrics.aggregate_mean(scores))
    assert aggregates.median(scores) == pytest.approx(metrics.aggregate_median(scores))
    assert aggregates.optimality_gap(scores) == pytest.approx(metrics.aggregate_optimality_gap(scores))
    other = np.round(scores[::-1] * 1.1, 1)
    rounded = np.round(scores, 1)  # so that ties happen
    assert aggregates.probability_of_improvement(rounded, other) == pytest.approx(
        metrics.probability_of_improvement(rounded, other)
    )


def test_profiles_are_equal(rly, scores) -> None:
    thresholds = np.linspace(0, 8, 33)
    # rliable averages over runs and tasks at once; with a full matrix that is the same mean.
    theirs, _ = rly.create_performance_profile({"x": scores}, thresholds, reps=2)
    assert aggregates.performance_profile(scores, thresholds) == pytest.approx(theirs["x"])


def test_intervals_agree_to_monte_carlo_error(rly, metrics, scores) -> None:
    def four(matrix: np.ndarray) -> np.ndarray:
        return np.array(
            [
                metrics.aggregate_iqm(matrix),
                metrics.aggregate_mean(matrix),
                metrics.aggregate_median(matrix),
                metrics.aggregate_optimality_gap(matrix),
            ]
        )

    points, intervals = rly.get_interval_estimates({"x": scores}, four, reps=5_000)
    rng = np.random.default_rng(2)
    for column, name in enumerate(("IQM", "Mean", "Median", "Optimality gap")):
        ours = bootstrap.estimate(scores, aggregates.AGGREGATES[name], rng, resamples=5_000)
        low, high = intervals["x"][:, column]
        # The 2.5 % quantile of 5,000 samples has a standard error of 1 % of the interval's width, two of them
        # differ by 1.4 %; this is three times that.
        tolerance = 0.04 * (high - low)
        assert ours.value == pytest.approx(points["x"][column])
        assert (ours.low, ours.high) == (
            pytest.approx(low, abs=tolerance),
            pytest.approx(high, abs=tolerance),
        )


def test_interval_of_the_probability_of_improvement_agrees(rly, metrics, scores) -> None:
    # Of some tasks: rliable takes 30 ms per resample for all of them.
    scores = scores[:, :8]
    better = scores * np.random.default_rng(3).lognormal(0.2, 0.5, size=scores.shape)
    _, intervals = rly.get_interval_estimates(
        {"x": (better, scores)},
        metrics.probability_of_improvement,
        reps=400,
    )
    rng = np.random.default_rng(5)
    blocks = zip(bootstrap.count_blocks(better, rng, 4_000), bootstrap.count_blocks(scores, rng, 4_000), strict=True)
    samples = np.concatenate([aggregates.probability_of_improvement(better, scores, x, y) for x, y in blocks])
    low, high = bootstrap.percentile_interval(samples)
    width = float(intervals["x"][1, 0] - intervals["x"][0, 0])
    assert float(low) == pytest.approx(float(intervals["x"][0, 0]), abs=0.15 * width)
    assert float(high) == pytest.approx(float(intervals["x"][1, 0]), abs=0.15 * width)


def test_five_runs_cover_less_than_they_promise() -> None:
    # What docs/report.md warns of: the percentile interval of the mean of five normal runs.
    rng = np.random.default_rng(6)
    hits = [
        e.low <= 0 <= e.high
        for e in (
            bootstrap.estimate(rng.normal(size=(5, 1)), aggregates.mean, rng, resamples=1_000) for _ in range(1_500)
        )
    ]
    assert np.mean(hits) == pytest.approx(0.85, abs=0.03)
