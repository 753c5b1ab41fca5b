"""Which heads are evaluated, and where a source is found among them."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from chorus.config.resolution import Request, resolve
from chorus.config.validation import validate
from chorus.ensemble.value_map import Cross, CrossOwn, Horizons, Members, ValueMap
from chorus.errors import ChorusError


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


TABLES = {
    "policy": np.array([[0], [1]]),
    "source": np.array([[[0, 0]], [[1, 0]]]),
    "gamma": np.full((2, 1), 0.9),
    "main": np.zeros(2, int),
}


@pytest.mark.parametrize(
    ("table", "value", "sentence"),
    [
        ("policy", np.array([[0], [2]]), "policy has 2; with 2 members its entries must lie between 0 and 1"),
        ("policy", np.zeros(2, int), r"policy has the shape \(2,\); it must be \[members, heads\]"),
        ("policy", np.zeros((2, 0), int), r"policy has the shape \(2, 0\)"),
        ("policy", np.zeros((2, 1)), "policy has the type float64; it must hold integers"),
        ("source", np.array([[[0, 0]], [[2, 0]]]), r"source\[..., 0\] has 2; with 2 members"),
        ("source", np.array([[[0, 0]], [[1, 1]]]), r"source\[..., 1\] has 1; with 1 heads"),
        ("source", np.array([[[0, 0]], [[-1, 0]]]), r"source\[..., 0\] has -1"),
        ("source", np.zeros((2, 1), int), r"source has the shape \(2, 1\); it must be an array of shape \(2, 1, 2\)"),
        ("gamma", np.full((2, 2), 0.9), r"gamma has the shape \(2, 2\)"),
        ("gamma", np.full((2, 1), 1.5), "gamma has 1.5; a discount must lie between 0 and 1"),
        ("gamma", np.full((2, 1), np.nan), "gamma has nan"),
        ("main", np.array([0, 1]), "main has 1; with 1 heads"),
        ("main", [0, 0], "main has the type list"),
    ],
)
def test_impossible_tables_are_refused_with_the_table_and_the_value(table, value, sentence):
    assert ValueMap(**TABLES).members == 2
    # Past the constructor, whose annotations are checked in tests only.
    impossible = object.__new__(ValueMap)
    impossible.__dict__.update({**TABLES, table: value})
    with pytest.raises(ChorusError, match=sentence):
        impossible.__post_init__()


@dataclass(frozen=True, kw_only=True)
class Elsewhere(Members):
    """Bootstraps from a member that does not exist, or forgets the last member."""

    def build(self, members, discount):
        if members == 2:
            return super().build(1, discount)
        own = super().build(members, discount)
        return ValueMap(own.policy, own.source + 1, own.gamma, own.main)


@pytest.mark.parametrize(("members", "sentence"), [(3, "has 3; with 3 members"), (2, "tables for 1 members")])
@pytest.mark.parametrize(("preset", "env"), [("bootstrapped-dqn", "CartPole-v1"), ("ensemble-sac", "Pendulum-v1")])
def test_impossible_tables_are_found_by_validation(preset, env, members, sentence):
    resolved = resolve(Request(preset=preset, env=env, scale="smoke", options={"members": members}))
    config = replace(resolved.config, agent=replace(resolved.config.agent, value_map=Elsewhere()))
    with pytest.raises(ChorusError, match=sentence):
        validate(config, resolved.spec)
