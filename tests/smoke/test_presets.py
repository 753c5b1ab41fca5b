"""Every preset trains, evaluates, checkpoints and finishes; the core ones on every family of environments."""

import itertools
import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
import smoke_worlds  # noqa: F401  (registers its environments)

import chorus
from chorus.config.presets import PRESETS
from chorus.config.resolution import option_applies
from running import records, status

SINGLE, ENSEMBLE, TANDEM = ("individual",), ("individual", "aggregate"), ("active", "passive")
SOFT_SINGLE = ("individual", "individual-mode")
SOFT_ENSEMBLE = (*SOFT_SINGLE, "aggregate", "aggregate-mode")
# What each preset evaluates.
DISCRETE = {
    "double-dqn": SINGLE,
    "bootstrapped-dqn": ENSEMBLE,
    "cerl": ENSEMBLE,
    "cerl-self-target": ENSEMBLE,
    "tandem": TANDEM,
    "qr-dqn": SINGLE,
    "bootstrapped-qr-dqn": ENSEMBLE,
    "double-dqn-mh": SINGLE,
    "bootstrapped-dqn-mh": ENSEMBLE,
    "double-dqn-mico": SINGLE,
    "bootstrapped-dqn-mico": ENSEMBLE,
    "per-step": ENSEMBLE,
    "self-oversampled": ENSEMBLE,
    "separate": ENSEMBLE,
    "observer": (*ENSEMBLE, "observer"),
    "data-bootstrapped": ENSEMBLE,
    "life-loss": ENSEMBLE,
    "wide": ENSEMBLE,
    "bootstrapped-dqn-prior": ENSEMBLE,
    "cerl-prior": ENSEMBLE,
}
CONTINUOUS = {
    "sac": SOFT_SINGLE,
    "sac-critics": SOFT_SINGLE,
    "ensemble-sac": SOFT_ENSEMBLE,
    "ensemble-sac-cerl": SOFT_ENSEMBLE,
    "ensemble-sac-cerl-self-target": SOFT_ENSEMBLE,
    "sac-tandem": TANDEM,
}
POLICIES = DISCRETE | CONTINUOUS
# Every preset once, on environments that cost little, by turns in the compiled loop and in that of the host: no learner
# knows where its batches come from. Families are then trained in by one preset each; Hopper and an Atari game with
# several members are trained in `repro`.
BY_TURNS = itertools.cycle(("Probe/Both-v0", "CartPole-v1"))
SOFT_BY_TURNS = itertools.cycle(("Probe/ContinuousBoth-v0", "Pendulum-v1"))
COMBINATIONS = [
    *((preset, "ALE/Breakout-v5" if preset == "life-loss" else next(BY_TURNS)) for preset in DISCRETE),
    *((preset, next(SOFT_BY_TURNS)) for preset in CONTINUOUS),
    ("cerl", "MinAtar/Breakout-v1"),
    ("ensemble-sac-cerl", "Humanoid-v5"),
    ("ensemble-sac-cerl", "SmokeBox-v0"),
    ("cerl", "SmokePictures-v0"),
    ("tandem", "SmokeChannelsFirst-v0"),
]
# The paper's main algorithms, each in one environment, are part of `make test`; the others are left to the long tests.
MAIN = ("double-dqn", "bootstrapped-dqn", "cerl", "tandem", "sac", "ensemble-sac-cerl")


def with_marks() -> Iterator[Any]:
    left = set(MAIN)
    for preset, env in COMBINATIONS:
        yield pytest.param(preset, env, marks=pytest.mark.slow if preset in left else pytest.mark.long)
        left.discard(preset)
    assert not left, f"{left} are in no combination"


# Compositions nobody has named: laid over a preset as a configuration file. Each is of several, so that few runs have
# every pair.
QUANTILES = {"estimate": {"kind": "quantile", "quantiles": 5}, "loss": {"kind": "quantile_huber"}}
MICO = {"auxiliary": {"kind": "mico"}}
PRODUCTS = {
    "CERL x QR x masks x 3-step": (
        "cerl",
        {"agent": QUANTILES, "replay": {"n_step": 3, "sampler": {"kind": "bootstrap_masked"}}},
    ),
    "CERL x MH x MICo": (
        "cerl",
        {
            "agent": {
                **MICO,
                "value_map": {"kind": "beside", "first": {"kind": "cross"}, "second": {"kind": "horizons"}},
            }
        },
    ),
    "CERL x shared layers x priors x layer norm x votes while training": (
        "cerl",
        {"agent": {"shared_layers": 1, "prior_scale": 3.0, "torso": {"layer_norm": True}}, "acting": {"kind": "vote"}},
    ),
    "tandem x CERL x QR x 3-step": (
        "tandem",
        {
            "agent": {**QUANTILES, "selection": {"kind": "target"}, "value_map": {"kind": "cross"}},
            "replay": {"n_step": 3},
        },
    ),
    "tandem x QR x self-oversampling": (
        "tandem",
        {"agent": QUANTILES, "replay": {"sampler": {"kind": "self_oversampled"}}},
    ),
    "self-oversampling x MICo x a shared layer": ("self-oversampled", {"agent": {**MICO, "shared_layers": 1}}),
    "ensemble SAC x MH x layer norm x weight decay x switching each step": (
        "ensemble-sac",
        {
            "agent": {
                "value_map": {"kind": "horizons"},
                "torso": {"layer_norm": True},
                "optimizer": {"weight_decay": 0.01},
            },
            "acting": {"kind": "uniform_each_step"},
        },
    ),
    "SAC tandem x CERL x 3-step": ("sac-tandem", {"agent": {"value_map": {"kind": "cross"}}, "replay": {"n_step": 3}}),
}
TINY = {
    "total_steps": 120, "iteration_steps": 60, "num_envs": 2, "max_episode_steps": 20, "learning_starts": 30,
    "buffer_size": 50, "batch_size": 4, "eval_episodes": 2,
}  # fmt: skip


def check(run, preset) -> None:
    policies = POLICIES[preset]
    assert status(run)["state"] == "finished"
    metrics = {(r["iteration"], r["metric"]): r["value"] for r in records(run / "metrics.jsonl")}
    evaluated = {name.split("/")[1] for _, name in metrics if name.startswith("eval/")}
    assert evaluated == set(policies)
    for iteration in (1, 2):
        for policy in policies:
            assert metrics[iteration, f"eval/{policy}/episodes"] == 2.0
            assert 0 < metrics[iteration, f"eval/{policy}/episodic_length"] <= 20
        assert metrics[iteration, "losses/td_loss"] >= 0
        assert metrics[iteration, "members/diverged"] == 0.0
        assert metrics[iteration, "replay/transitions"] == 50
        assert 0 < metrics[iteration, "replay/coverage"] <= 1
        assert 1 <= metrics[iteration, "members/effective_rank/mean"] <= 16
        if preset in DISCRETE:
            assert 0 <= metrics[iteration, "replay/off_policy/mean"] <= 1
            assert ("diversity/disagreement/replay" in {name for _, name in metrics}) == (len(policies) > 1)
    assert all(math.isfinite(value) for value in metrics.values())
    assert (run / "checkpoints" / "000002" / "state.safetensors").is_file()


@pytest.mark.parametrize(("preset", "env"), list(with_marks()))
def test_every_preset_trains(tmp_path, preset, env):
    more = {"members": 2} if option_applies("members", preset) else {}
    # Most of a tiny run of an Atari game is starting its emulators.
    more |= {"eval_envs": 1} if env.startswith("ALE/") else {}
    run = chorus.train(preset, env, scale="smoke", out=tmp_path, quiet=True, **TINY, **more)
    check(run, preset)


@pytest.mark.long
@pytest.mark.parametrize("product", PRODUCTS)
def test_products_that_nobody_named_train(tmp_path, product):
    preset, change = PRODUCTS[product]
    file = tmp_path / "change.json"
    file.write_text(json.dumps(change))
    more = {"members": 2} if option_applies("members", preset) else {}
    env = "Pendulum-v1" if preset in CONTINUOUS else "CartPole-v1"
    run = chorus.train(preset, env, scale="smoke", out=tmp_path, quiet=True, config=file, **TINY, **more)
    check(run, preset)


def test_every_preset_is_in_the_matrix():
    # Other tests may have loaded plugins with presets of their own.
    own = {name for name, one in PRESETS.items() if one.change.__module__.startswith("chorus.")}
    assert set(POLICIES) == own


@pytest.mark.slow
def test_actions_are_given_to_the_environment_by_its_own_names(tmp_path):
    """Discrete(3, start=5): the environment itself refuses any other number."""
    run = chorus.train("double-dqn", "SmokeCountsFromFive-v0", scale="smoke", out=tmp_path, quiet=True, **TINY)
    check(run, "double-dqn")
    player = chorus.load(run)
    action, _ = player.predict(player.observation_example())
    assert action in (5, 6, 7)
