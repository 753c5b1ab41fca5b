"""`beside` keeps what its first part says and adds the shorter horizons of its second (equations E3 and E6)."""

import numpy as np

from chorus.ensemble.value_map import Beside, Cross, Horizons, Members


def test_cerl_beside_horizons_has_n_plus_k_minus_one_heads():
    table = Beside(first=Cross(), second=Horizons()).build(3, 0.99)
    cross, horizons = Cross().build(3, 0.99), Horizons().build(3, 0.99)
    assert table.heads == 3 + 10 - 1
    np.testing.assert_array_equal(table.policy[:, :3], cross.policy)
    np.testing.assert_array_equal(table.source[:, :3], cross.source)
    np.testing.assert_array_equal(table.main, cross.main)
    np.testing.assert_allclose(table.gamma[:, 3:], horizons.gamma[:, 1:])


def test_every_added_head_evaluates_its_member_and_bootstraps_from_itself():
    table = Beside(first=Cross(), second=Horizons()).build(4, 0.99)
    for member in range(4):
        for head in range(4, table.heads):
            assert table.policy[member, head] == member
            assert tuple(table.source[member, head]) == (member, head)


def test_members_beside_horizons_are_horizons_alone():
    both, alone = Beside(first=Members(), second=Horizons()).build(2, 0.99), Horizons().build(2, 0.99)
    for name in ("policy", "source", "gamma", "main"):
        np.testing.assert_array_equal(getattr(both, name), getattr(alone, name))
