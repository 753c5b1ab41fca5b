"""Values that make no sense are refused before anything is written, and files are not overruled by defaults."""

import json

import pytest

from chorus.config.resolution import Request, resolve
from chorus.errors import ChorusError

MIXED = {"kind": "main_and_auxiliary", "main": {"kind": "huber"}, "auxiliary": {"kind": "quantile_huber"}}
ONLY_CONVOLUTIONS = {"kind": "conv_torso", "convolutions": [{"features": 2, "kernel": 2}], "dense": []}


def asked(tmp_path, preset, change, env="CartPole-v1", **more):
    file = tmp_path / "part.json"
    file.write_text(json.dumps(change))
    return resolve(Request(preset=preset, env=env, file=file, **more)).config


@pytest.mark.parametrize(
    ("preset", "change", "part"),
    [
        ("double-dqn-mh", {"agent": {"discount": 0.9}}, "longest horizon, 100 steps"),
        ("double-dqn-mh", {"agent": {"value_map": {"kind": "horizons", "horizons": []}}}, "there must be one"),
        ("double-dqn-mh", {"agent": {"value_map": {"kind": "horizons", "horizons": [0, 10]}}}, "at least 2 steps"),
        ("qr-dqn", {"agent": {"estimate": {"kind": "quantile", "quantiles": 0}}}, "quantiles is 0"),
        ("qr-dqn", {"agent": {"loss": {"kind": "quantile_huber", "kappa": -1.0}}}, "kappa is -1.0"),
        (
            "qr-dqn",
            {"agent": {"loss": {"kind": "huber"}}},
            "estimate quantile predicts distributions and agent.loss huber",
        ),
        (
            "cerl",
            {"agent": {"loss": {"kind": "quantile_huber"}}},
            "scalar predicts expected returns and agent.loss quant",
        ),
        (
            "cerl",
            {"agent": {"loss": MIXED}},
            "main is huber and agent.loss.auxiliary is quantile_huber, of which only one",
        ),
        (
            "wide",
            {"agent": {"torso": {"torso": {"kind": "mlp_torso", "dense": []}}}},
            "agent.torso.torso has no layers",
        ),
        ("wide", {"agent": {"torso": {"torso": ONLY_CONVOLUTIONS}}}, "agent.torso.torso ends with a layer Conv"),
        ("cerl", {"replay": {"sampler": {"kind": "self_oversampled"}}}, "every member's network on every other"),
        ("cerl-self-target", {"replay": {"sampler": {"kind": "self_oversampled"}}}, "N times the work"),
        ("cerl", {"replay": {"sampler": {"kind": "own_only"}}}, "N times the work"),
        ("separate", {"agent": {"auxiliary": {"kind": "mico"}}}, "cannot leave out a member"),
        (
            "self-oversampled",
            {"agent": {"value_map": {"kind": "beside", "first": {"kind": "cross"}, "second": {"kind": "horizons"}}}},
            "CERL cannot learn from one batch per member",
        ),
        (
            "cerl",
            {
                "agent": {
                    "shared_layers": 2,
                    "value_map": {"kind": "beside", "first": {"kind": "cross"}, "second": {"kind": "horizons"}},
                }
            },
            "CERL has nothing to add",
        ),
        ("self-oversampled", {"replay": {"sampler": {"own_probability": 1.5}}}, "--own-probability is 1.5"),
        ("data-bootstrapped", {"replay": {"sampler": {"keep_probability": 0.0}}}, "--keep-probability is 0.0"),
        ("data-bootstrapped", {"replay": {"sampler": {"keep_probability": 1.1}}}, "--keep-probability is 1.1"),
    ],
)
def test_values_that_make_no_sense_are_refused(tmp_path, preset, change, part):
    with pytest.raises(ChorusError, match=part):
        asked(tmp_path, preset, change)


def test_actions_must_suit_the_learner():
    with pytest.raises(ChorusError, match=r"cerl chooses among Discrete actions .*: use a preset for Box actions"):
        resolve(Request(preset="cerl", env="Pendulum-v1"))
    with pytest.raises(ChorusError, match=r"sac acts within a Box .*: use a preset for Discrete actions"):
        resolve(Request(preset="sac", env="CartPole-v1"))


def test_critics_that_read_actions_cannot_be_widened(tmp_path):
    torso = {"kind": "widened", "torso": {"kind": "mlp_torso", "dense": [8]}}
    with pytest.raises(ChorusError, match="the critics of sac read actions as inputs"):
        asked(tmp_path, "sac", {"agent": {"torso": torso}}, env="Pendulum-v1")


def test_any_loss_that_reads_distributions_goes_with_quantiles(tmp_path):
    both = {"kind": "main_and_auxiliary", "main": {"kind": "quantile_huber"}, "auxiliary": {"kind": "quantile_huber"}}
    agent = {"estimate": {"kind": "quantile", "quantiles": 4}, "loss": both}
    assert asked(tmp_path, "cerl", {"agent": agent}).agent.loss.reads_distribution


@pytest.mark.parametrize("option", ["own_probability", "joint_coin", "keep_probability"])
def test_options_of_a_sampler_belong_to_its_preset(option):
    with pytest.raises(ChorusError, match=r"does not apply to bootstrapped-dqn; it belongs to (self|data)-"):
        resolve(Request(preset="bootstrapped-dqn", env="CartPole-v1", options={option: True}))


@pytest.mark.parametrize("env", ["CartPole-v1", "MinAtar/Breakout-v1"])
def test_only_atari_games_have_lives(env):
    with pytest.raises(ChorusError, match=f"{env} has no lives; use bootstrapped-dqn"):
        resolve(Request(preset="life-loss", env=env))
    assert resolve(Request(preset="life-loss", env="ALE/Breakout-v5")).config.env.atari.terminal_on_life_loss


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
