"""The name of a run says what it is, is safe for every file system, and finds runs of earlier versions."""

import pytest

from chorus.config.identity import digest_name, name_of_seed, run_name
from chorus.config.resolution import Request, resolve
from chorus.runs.lifecycle import planned_path
from chorus.runs.run_directory import RunDirectory
from chorus.scheduling.jobs import jobs_for

MINATAR = "MinAtar/Breakout-v1"


def named(preset="cerl", env=MINATAR, **more):
    options = more.pop("options", {})
    return resolve(Request(preset=preset, env=env, options=options, **more))


@pytest.mark.parametrize(
    ("options", "more", "name"),
    [
        ({}, {}, "MinAtar-Breakout-v1__cerl__s0"),
        ({}, {"seed": 7}, "MinAtar-Breakout-v1__cerl__s7"),
        ({"members": 7}, {}, "MinAtar-Breakout-v1__cerl__members=7__s0"),
        ({"members": 7}, {"scale": "smoke"}, "MinAtar-Breakout-v1__cerl__smoke__members=7__s0"),
        ({"learning_rate": 1e-5, "members": 7}, {}, "MinAtar-Breakout-v1__cerl__members=7__learning_rate=1e-05__s0"),
        ({"agent.torso.dense": [64, 32]}, {}, "MinAtar-Breakout-v1__cerl__agent.torso.dense=64x32__s0"),
    ],
)
def test_a_name_states_scale_and_settings(options, more, name):
    assert run_name(named(options=options, **more)) == name


def test_what_is_too_long_or_no_name_of_a_file_has_a_digest(tmp_path):
    long = {"members": 7, "total_steps": 120_000, "iteration_steps": 40_000, "buffer_size": 60_000, "batch_size": 8,
            "learning_starts": 4_000}  # fmt: skip
    for resolved in (named(options=long), named(eval_members=True)):
        assert run_name(resolved) == name_of_seed(digest_name(resolved), 0)
        assert f"cerl-{resolved.config.digest()}__s0" in run_name(resolved)


def test_different_configurations_have_different_names():
    changes = [{}, {"members": 2}, {"members": 1}, {"learning_starts": 400}, {"agent.loss": {"kind": "squared"}},
               {"n_step": 3}, {"agent.reward_clip": None}]  # fmt: skip
    resolved = [named(options=options, scale=scale) for options in changes for scale in ("smoke", "laptop")]
    resolved += [named(eval_members=True), named(options={"learning_starts": 400, "exploration.warmup_steps": 300})]
    # Two of the changes are the default.
    assert len({one.config.digest() for one in resolved}) == len({run_name(one) for one in resolved}) == 14


def test_a_run_with_the_name_of_an_earlier_version_is_found(tmp_path):
    request = Request(preset="cerl", env=MINATAR, seed=2, options={"members": 7})
    resolved = resolve(request)
    former = tmp_path / name_of_seed(digest_name(resolved), 2)
    RunDirectory(former).create(resolved.config.to_json(), {})
    assert planned_path(resolved, tmp_path) == former
    (job,) = jobs_for([request], tmp_path)
    assert job.path == former and job.state == "stopped"
    RunDirectory(tmp_path / run_name(resolved)).create(resolved.config.to_json(), {})
    assert planned_path(resolved, tmp_path) == tmp_path / run_name(resolved), "the new name counts if both are there"
