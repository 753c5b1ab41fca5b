"""Final scores and smoothing, with the arithmetic shown."""

import numpy as np
import pytest

from chorus.analysis.results import final_score, smooth


def test_final_score_is_the_mean_of_the_last_evaluations() -> None:
    assert final_score([1.0, 2.0, 3.0, 7.0], 2) == pytest.approx(5.0)
    assert final_score([1.0, 2.0, 3.0], 10) == pytest.approx(2.0)  # fewer than asked for: all of them
    assert final_score([1.0, 3.0, np.nan], 1) == pytest.approx(3.0)  # the run ended early


def test_smoothing_looks_back_over_the_window() -> None:
    values = np.array([[2.0, 4.0, 6.0, 8.0, np.nan]])
    # window 3: 2; (2+4)/2; (2+4+6)/3; (4+6+8)/3; missing stays missing
    smoothed = smooth(values, window=3)[0]
    assert smoothed[:4] == pytest.approx([2.0, 3.0, 4.0, 6.0])
    assert np.isnan(smoothed[4])
    assert smooth(values, window=1)[0, :4] == pytest.approx(values[0, :4])
