"""Which seeds are run: a number of them, a range, or a list."""

import pytest

from chorus.errors import ChorusError
from chorus.studies.seeds import read_seeds, seeds_in_words


@pytest.mark.parametrize(
    ("given", "seeds", "words"),
    [
        ("5", (0, 1, 2, 3, 4), "5"),
        (3, (0, 1, 2), "3"),
        ("1e1", tuple(range(10)), "10"),
        ("0-9", tuple(range(10)), "10"),
        ("3-5", (3, 4, 5), "3-5"),
        ("8,3,5", (3, 5, 8), "3,5,8"),
        ("0-2, 7", (0, 1, 2, 7), "0,1,2,7"),
        ("7-7", (7,), "7-7"),
        ([4, 2, 4], (2, 4), "2,4"),
    ],
)
def test_seeds_are_a_number_a_range_or_a_list(given, seeds, words):
    assert read_seeds("--seeds", given) == seeds
    assert seeds_in_words(seeds) == words
    assert read_seeds("--seeds", words) == seeds


def test_a_number_of_seeds_may_begin_elsewhere():
    assert read_seeds("--seeds", "3", first=70) == read_seeds("--seeds", 3, first=70) == (70, 71, 72)
    assert read_seeds("--seeds", "0-2", first=70) == (0, 1, 2)
    assert [seeds_in_words(seeds, first=70) for seeds in ((70, 71, 72), (0, 1, 2))] == ["3", "0-2"]


@pytest.mark.parametrize("given", ["", "five", "5-", "-", "9-0", "1,,2", "1.5", True, None, 2.5, ["a"], [], {"a": 1}])
def test_anything_else_is_refused_with_what_can_be_given(given):
    with pytest.raises(ChorusError, match=r"--seeds is .*; give a number of seeds \(5\), a range \(0-9\), or a list"):
        read_seeds("--seeds", given)


@pytest.mark.parametrize(("given", "words"), [("0", "at least 1"), (-2, "at least 1"), ("1e9", "at most 100,000")])
def test_a_number_of_seeds_has_limits(given, words):
    with pytest.raises(ChorusError, match=words):
        read_seeds("--seeds", given)
