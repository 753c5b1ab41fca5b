"""Laying a part of a configuration over a whole one."""

from chorus.agents.optimizers import CentredRMSProp
from chorus.components import snake_case
from chorus.config.codec import merge
from chorus.files import flatten


def test_objects_are_merged_name_by_name():
    base = {"agent": {"members": 3, "discount": 0.99}, "seed": 0}
    assert merge(base, {"agent": {"members": 5}}) == {"agent": {"members": 5, "discount": 0.99}, "seed": 0}
    assert base["agent"]["members"] == 3, "the base is left alone"


def test_another_kind_replaces_the_whole_value():
    base = {"optimizer": {"kind": "adam", "learning_rate": 0.1, "epsilon": 1e-8}}
    assert merge(base, {"optimizer": {"kind": "sgd"}}) == {"optimizer": {"kind": "sgd"}}
    assert merge(base, {"optimizer": {"learning_rate": 0.2}})["optimizer"]["epsilon"] == 1e-8


def test_lists_and_single_values_are_replaced():
    assert merge({"dense": [16, 16], "clip": {"a": 1}}, {"dense": [8], "clip": None}) == {"dense": [8], "clip": None}


def test_a_map_named_as_whole_is_replaced():
    base = {"evaluation": {"steps": 1, "policies": {"individual": {"kind": "random_member"}}}}
    whole = frozenset({"evaluation.policies"})
    assert merge(base, {"evaluation": {"policies": {}}}, whole) == {"evaluation": {"steps": 1, "policies": {}}}


def test_flattening_names_every_leaf_by_its_path():
    tree = {"agent": {"members": 3, "torso": {"dense": [1, 2]}}, "policies": {}, "seed": 0}
    assert flatten(tree) == {"agent.members": 3, "agent.torso.dense": [1, 2], "policies": {}, "seed": 0}


def test_kinds_are_written_in_snake_case():
    assert [snake_case("CrossOwn"), CentredRMSProp.kind] == ["cross_own", "centred_rms_prop"]
