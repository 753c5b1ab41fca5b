"""Exact aggregates of small matrices, with the arithmetic shown."""

import numpy as np
import pytest

from chorus.analysis import aggregates

# Two runs (rows) of three tasks (columns).
SMALL = np.array([[1.0, 4.0, 0.0], [3.0, 8.0, 2.0]])


def test_mean_is_the_mean_of_task_means() -> None:
    # task means 2, 6, 1; (2 + 6 + 1) / 3 = 3
    assert aggregates.mean(SMALL) == pytest.approx(3.0)


def test_median_is_the_median_of_task_means() -> None:
    # task means 2, 6, 1; the middle one is 2 (the median of all six numbers would be 2.5)
    assert aggregates.median(SMALL) == pytest.approx(2.0)


def test_iqm_drops_a_quarter_at_either_end() -> None:
    # sorted 0 1 2 3 4 8; floor(6 / 4) = 1 dropped at either end; (1 + 2 + 3 + 4) / 4 = 2.5
    assert aggregates.iqm(SMALL) == pytest.approx(2.5)


def test_iqm_of_five_by_fifty_five_keeps_139() -> None:
    # 275 numbers 0..274: 68 dropped at either end leaves 68..206, whose mean is 137
    assert aggregates.iqm(np.arange(275.0).reshape(5, 55)) == pytest.approx(137.0)
    # making the 68 smallest smaller changes nothing; the 69th does
    scores = np.arange(275.0)
    scores[:68] = -1e6
    assert aggregates.iqm(scores.reshape(5, 55)) == pytest.approx(137.0)
    scores[68] = 68 - 139
    assert aggregates.iqm(scores.reshape(5, 55)) == pytest.approx(136.0)


def test_optimality_gap_counts_what_is_missing_to_the_goal() -> None:
    # min(score, 4): 1 4 0 3 4 2, mean 14 / 6; the gap to 4 is 4 - 14 / 6 = 10 / 6
    assert aggregates.optimality_gap(SMALL, goal=4.0) == pytest.approx(10 / 6)
    # min(score, 1): 1 1 0 1 1 1, mean 5 / 6; the gap to 1 is 1 / 6
    assert aggregates.optimality_gap(SMALL) == pytest.approx(1 / 6)


def test_probability_of_improvement_counts_pairs_and_half_ties() -> None:
    x = np.array([[1.0, 5.0], [3.0, 6.0]])
    y = np.array([[2.0, 5.0], [0.0, 7.0]])
    # task 1: 1>0, 3>2, 3>0 of 4 pairs = 3/4; task 2: 5=5 (1/2), 6>5 of 4 pairs = 3/8; mean 9/16
    assert aggregates.probability_of_improvement(x, y) == pytest.approx(9 / 16)
    assert aggregates.probability_of_improvement(y, x) == pytest.approx(7 / 16)
    assert aggregates.probability_of_improvement(x, x) == pytest.approx(0.5)


def test_performance_profile_is_the_share_above_each_threshold() -> None:
    # above 0: 1 4 . / 3 8 2 -> tasks 1, 1, 1/2; above 2: tasks 1/2, 1, 0; above 8: none
    profile = aggregates.performance_profile(SMALL, [0.0, 2.0, 8.0])
    assert profile == pytest.approx([5 / 6, 0.5, 0.0])


def test_leading_axes_are_separate_matrices() -> None:
    stacked = np.stack([SMALL, SMALL + 1, 2 * SMALL])
    for aggregate in aggregates.AGGREGATES.values():
        assert aggregate(stacked) == pytest.approx([float(aggregate(matrix)) for matrix in stacked])


def test_a_missing_run_is_left_out() -> None:
    ragged = np.array([[1.0, 4.0, 0.0], [3.0, np.nan, 2.0]])
    # task means 2, 4, 1
    assert aggregates.mean(ragged) == pytest.approx(7 / 3)
    assert aggregates.median(ragged) == pytest.approx(2.0)
    # sorted 0 1 2 3 4, one dropped at either end: (1 + 2 + 3) / 3 = 2
    assert aggregates.iqm(ragged) == pytest.approx(2.0)
    # min(score, 1): 1 1 0 1 1 -> gap 1/5
    assert aggregates.optimality_gap(ragged) == pytest.approx(0.2)


def test_iqm_refuses_no_scores_and_unequal_holes() -> None:
    with pytest.raises(ValueError, match="no scores"):
        aggregates.iqm(np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="miss the same runs"):
        aggregates.iqm(np.stack([SMALL, np.where(SMALL == 8, np.nan, SMALL)]))
