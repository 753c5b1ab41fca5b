"""How likely a number of seeds settles a difference, and how many it takes."""

import numpy as np
import pytest

from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.intervals import mean_estimate
from chorus.analysis.power import chance_to_exclude, chance_to_settle, seeds_needed
from chorus.analysis.wording import why_unsettled


@pytest.mark.slow
def test_the_chance_is_how_often_intervals_of_drawn_runs_exclude_zero() -> None:
    rng = np.random.default_rng(0)
    pilot = mean_estimate(1.0 + np.array([-1.0, -0.5, 0.0, 0.5, 1.0]))  # mean 1, standard deviation √(2.5 / 4)
    drawn = rng.normal(1.0, np.sqrt(2.5 / 4), size=(4_000, 7))
    settled = np.mean([mean_estimate(runs).low > 0 for runs in drawn])
    assert chance_to_settle(pilot, 7) == pytest.approx(settled, abs=0.02)


@pytest.mark.parametrize(
    ("estimate", "needed"),
    [
        # Half a width of 4 with 5 runs: a spread of 4 x √5 / 2.776 = 3.22, 1.61 times the difference. The usual
        # approximation is (1.96 + 1.28)² x 1.61² = 27.3 runs; with Student's t it is two more.
        (IntervalEstimate(-2.0, -6.0, 2.0, 5), 30),
        (IntervalEstimate(0.0, -1.0, 1.0, 5), None),
        (IntervalEstimate(0.1, -9.9, 10.1, 5), None),  # a spread of 80 times the difference
        (IntervalEstimate(1.0, np.nan, np.nan, 1), None),
        (IntervalEstimate(1.0, 1.0, 1.0, 4), 3),  # no spread: the fewest that settle anything
    ],
)
def test_how_many_seeds_a_difference_would_take(estimate: IntervalEstimate, needed: int | None) -> None:
    assert seeds_needed(estimate) == needed


def test_the_number_found_is_the_first_with_that_chance() -> None:
    estimate = IntervalEstimate(1.0, -0.2, 2.2, 5)
    needed = seeds_needed(estimate, power=0.8)
    assert needed is not None
    assert chance_to_settle(estimate, needed) >= 0.8 > chance_to_settle(estimate, needed - 1)


def test_the_distance_to_another_value_than_zero() -> None:
    estimate = IntervalEstimate(1.0, 0.5, 1.5, 5)
    assert chance_to_settle(estimate, 8, distance=-0.25) == chance_to_settle(IntervalEstimate(0.25, -0.25, 0.75, 5), 8)


def test_without_an_error_every_other_value_is_excluded() -> None:
    assert [chance_to_exclude(away, error=0.0, freedom=4) for away in (0.0, 1e-9, 2.0)] == [0.0, 1.0, 1.0]


def test_what_is_not_settled_is_told_how_many_seeds_it_takes() -> None:
    said = why_unsettled(IntervalEstimate(-2.0, -6.0, 2.0, 5))
    assert said == (
        "Not settled: the interval includes zero; if it is as large as it looks, 30 seeds would settle it in nine of "
        "ten cases."
    )
