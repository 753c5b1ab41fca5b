"""Exact aggregates of small matrices, with the arithmetic shown."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_counts_stand_for_the_matrix_they_would_build() -> None:
    # Drawing run 0 twice in task 0, run 1 twice in task 1, and each run once in task 2 is this matrix:
    built = np.array([[1.0, 8.0, 0.0], [1.0, 8.0, 2.0]])
    counts = np.array([[2, 0, 1], [0, 2, 1]])[:, :, None]
    for aggregate in aggregates.AGGREGATES.values():
        assert aggregate(SMALL, counts) == pytest.approx([float(aggregate(built))])
    assert aggregates.performance_profile(SMALL, [0.5, 1.5], counts)[:, 0] == pytest.approx(
        aggregates.performance_profile(built, [0.5, 1.5])
    )
    other = SMALL[::-1] + 0.5
    # task 1: {1, 1} against {3.5, 3.5}: 0; task 2: {8, 8} against {4.5, 4.5}: 1; task 3: {0, 2} against
    # {2.5, 0.5}: 1/4
    assert aggregates.probability_of_improvement(SMALL, other, counts, counts) == pytest.approx([1.25 / 3])


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 2**31))
def test_counts_agree_with_explicit_resampling(runs: int, tasks: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(-3, 4, size=(runs, tasks)).astype(float)  # small whole numbers, so that ties happen
    rows = rng.integers(runs, size=(runs, tasks))
    built = scores[rows, np.arange(tasks)]
    counts = np.stack([(rows == run).sum(axis=0) for run in range(runs)])[:, :, None]
    for aggregate in aggregates.AGGREGATES.values():
        assert aggregate(scores, counts) == pytest.approx([float(aggregate(built))])


def test_a_missing_run_is_left_out() -> None:
    ragged = np.array([[1.0, 4.0, 0.0], [3.0, np.nan, 2.0]])
    # task means 2, 4, 1
    assert aggregates.mean(ragged) == pytest.approx(7 / 3)
    assert aggregates.median(ragged) == pytest.approx(2.0)
    # min(score, 1): task means 1, 1, 1/2 -> gap 1 - 5/6
    assert aggregates.optimality_gap(ragged) == pytest.approx(1 / 6)


def test_tasks_weigh_the_same_whatever_their_numbers_of_runs() -> None:
    ragged = np.array([[1.0, 4.0, 0.0], [3.0, np.nan, 2.0]])
    # 5 runs of 3 tasks: runs weigh 5/6, 5/3 and 5/6; sorted 0 1 2 3 4 with the weights 5/6 5/6 5/6 5/6 5/3 end at
    # 5/6 10/6 15/6 20/6 5; between 5/4 and 15/4 lie 0, 5/12, 5/6, 5/6, 5/12 of them:
    # (5/12 x 1 + 5/6 x 2 + 5/6 x 3 + 5/12 x 4) / (5/2) = (75/12) / (5/2) = 5/2
    assert aggregates.iqm(ragged) == pytest.approx(2.5)
    # Many runs of a task do not outvote another task: pooled, the IQM of 0 0 0 0 0 0 4 4 would be 0.
    many = np.full((6, 2), np.nan)
    many[:, 0], many[:2, 1] = 0.0, 4.0
    assert aggregates.iqm(many) == pytest.approx(2.0)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 2**31))
def test_counts_agree_with_explicit_resampling_where_tasks_have_different_numbers_of_runs(
    runs: list[int], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    scores, built = (np.full((max(runs), len(runs)), np.nan) for _ in range(2))
    counts = np.zeros((*scores.shape, 1), int)
    for task, count in enumerate(runs):
        scores[:count, task] = rng.integers(-3, 4, size=count)
        rows = rng.integers(count, size=count)
        built[:count, task] = scores[rows, task]
        np.add.at(counts[:, task, 0], rows, 1)
    for aggregate in aggregates.AGGREGATES.values():
        assert aggregate(scores, counts) == pytest.approx([float(aggregate(built))])


def test_unusable_matrices_are_refused() -> None:
    with pytest.raises(ValueError, match=r"tasks \[1\]"):
        aggregates.iqm([[1.0, np.nan], [2.0, np.nan]])
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        aggregates.mean([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="do not belong"):
        aggregates.mean(SMALL, np.ones((3, 3, 1), int))
