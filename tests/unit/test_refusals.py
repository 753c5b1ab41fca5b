"""Values that make no sense are refused before anything is written, and files are not overruled by defaults."""

import json

import pytest

from chorus.errors import ChorusError
from chorus.experiments.resolve import Request, resolve


def asked(tmp_path, preset, change, **more):
    file = tmp_path / "part.json"
    file.write_text(json.dumps(change))
    return resolve(Request(preset=preset, env="CartPole-v1", file=file, **more)).config


@pytest.mark.parametrize(
    ("preset", "change", "part"),
    [
        ("double-dqn-mh", {"agent": {"discount": 0.9}}, "longest horizon, 100 steps"),
        ("double-dqn-mh", {"agent": {"value_map": {"kind": "horizons", "horizons": []}}}, "there must be one"),
        ("double-dqn-mh", {"agent": {"value_map": {"kind": "horizons", "horizons": [0, 10]}}}, "at least 2 steps"),
        ("qr-dqn", {"agent": {"estimate": {"kind": "quantile", "quantiles": 0}}}, "quantiles is 0"),
        ("qr-dqn", {"agent": {"error": {"kind": "quantile_huber", "kappa": -1.0}}}, "kappa is -1.0"),
    ],
)
def test_values_that_make_no_sense_are_refused(tmp_path, preset, change, part):
    with pytest.raises(ChorusError, match=part):
        asked(tmp_path, preset, change)


def test_seed_and_scale_of_a_file_stand_where_nothing_else_is_asked_for(tmp_path):
    config = asked(tmp_path, "double-dqn", {"seed": 7, "scale": "smoke"})
    assert (config.seed, config.scale, config.schedule.total_steps) == (7, "smoke", 3_000)


def test_the_policies_of_a_file_are_all_there_are(tmp_path):
    vote = {"aggregate": {"kind": "vote"}}
    assert asked(tmp_path, "cerl", {"evaluation": {"policies": {}}}).evaluation.policies == {}
    assert list(asked(tmp_path, "cerl", {"evaluation": {"policies": vote}}).evaluation.policies) == ["aggregate"]


def test_a_part_of_a_configuration_goes_with_any_scale(tmp_path):
    config = asked(tmp_path, "double-dqn", {"agent": {"discount": 0.9}}, scale="smoke")
    assert (config.scale, config.agent.discount) == ("smoke", 0.9)


def test_horizons_of_a_file_may_come_with_their_discount(tmp_path):
    change = {"agent": {"discount": 0.95, "value_map": {"kind": "horizons", "horizons": [20, 5]}}}
    assert asked(tmp_path, "double-dqn-mh", change).agent.discount == 0.95
