"""Law 2: the value maps contain one another."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from chorus.ensemble.targets import td_targets
from chorus.ensemble.value_map import Cross, CrossOwn, Horizons, Members

N, A = 3, 4


def targets(value_map, heads=None):
    """Targets of one random transition; every map reads its heads from the same [N, N, A] table of target values."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(N, N, A, 1)).astype(np.float32)
    read = value_map.heads_read() if heads is None else heads
    own_heads = read if value_map.heads > 1 else np.arange(N)[:, None]
    return np.asarray(
        jax.jit(partial(td_targets, value_map, read))(
            jnp.asarray(rng.integers(A, size=N)[: value_map.members]),
            jnp.asarray(table[np.arange(value_map.members)[:, None], own_heads[: value_map.members]]),
            np.float32([[0.5]]),
            np.array([1]),
            np.array([False]),
        )
    )[..., 0]


def test_the_diagonal_of_cross_equals_members():
    cross, members = targets(Cross().build(N, 0.9)), targets(Members().build(N, 0.9))
    np.testing.assert_array_equal(np.diagonal(cross), members[:, 0])
    assert len(np.unique(cross)) == N, "one target for each policy, shared by all learners"


def test_self_target_differs_from_cross_off_the_diagonal_only():
    cross, own = targets(Cross().build(N, 0.9)), targets(CrossOwn().build(N, 0.9))
    np.testing.assert_array_equal(np.diagonal(cross), np.diagonal(own))
    assert np.all((cross != own) == ~np.eye(N, dtype=bool))


def test_the_heads_that_nobody_bootstraps_from_do_not_matter():
    value_map = Cross().build(N, 0.9)
    every_head = np.tile(np.arange(N), (N, 1))
    np.testing.assert_array_equal(targets(value_map), targets(value_map, every_head))


def assert_same_tables(one, other):
    for table in ("policy", "source", "gamma", "main"):
        np.testing.assert_array_equal(getattr(one, table), getattr(other, table), err_msg=table)


def test_one_horizon_equals_members():
    assert_same_tables(Horizons(horizons=(100,)).build(N, 0.99), Members().build(N, 0.99))


def test_cross_of_one_equals_members_of_one():
    assert_same_tables(Cross().build(1, 0.99), Members().build(1, 0.99))
    assert_same_tables(CrossOwn().build(1, 0.99), Members().build(1, 0.99))
