"""Which heads are evaluated, and where a source is found among them."""

import numpy as np
import pytest

from chorus.ensemble.value_map import Cross, CrossOwn, Horizons, Members, ValueMap


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        (Members(), [[0], [0], [0]]),
        (Cross(), [[0], [1], [2]]),  # only main heads are bootstrapped from
        (CrossOwn(), [[0, 1, 2]] * 3),
        (Horizons(horizons=(100, 10)), [[0, 1]] * 3),
    ],
    ids=["members", "cross", "cross_own", "horizons"],
)
def test_only_heads_that_some_target_reads_are_evaluated(kind, read):
    value_map = kind.build(3, 0.99)
    assert value_map.heads_read().tolist() == read
    source = value_map.source_in(value_map.heads_read())
    member, position = source[..., 0], source[..., 1]
    np.testing.assert_array_equal(value_map.heads_read()[member, position], value_map.source[..., 1])


def test_members_that_are_read_unequally_are_evaluated_whole():
    # Everyone bootstraps from member 0's head 1, nobody from member 1.
    tables = {"policy": np.zeros((2, 2), int), "gamma": np.full((2, 2), 0.9), "main": np.zeros(2, int)}
    value_map = ValueMap(source=np.tile([0, 1], (2, 2, 1)), **tables)
    assert value_map.heads_read().tolist() == [[0, 1], [0, 1]]


def test_the_longest_horizon_is_the_main_head_wherever_it_stands():
    assert Horizons(horizons=(10, 100, 50)).build(2, 0.99).main.tolist() == [1, 1]


@pytest.mark.parametrize("kind", [Members(), Cross(), CrossOwn(), Horizons()])
def test_the_main_head_of_a_member_is_the_value_of_its_own_policy_learnt_from_itself(kind):
    value_map = kind.build(3, 0.99)
    for i in range(3):
        k = value_map.main[i]
        assert value_map.policy[i, k] == i
        assert value_map.source[i, k].tolist() == [i, k]
        assert value_map.gamma[i, k] == 0.99
