"""A sweep is every combination, read as `chorus train` reads its options, checked before anything is run."""

import warnings

import pytest

from chorus.cli.main import main
from chorus.cli.train_options import swept_settings
from chorus.envs.registry import env_sets, expand
from chorus.errors import ChorusError
from chorus.studies.sweep import Sweep
from running import listing
from small_jobs import PROBE

SMALL = ["--scale", "smoke", "--env", PROBE]


def test_every_combination_seed_by_seed():
    sweep = Sweep(
        presets=["cerl", "double-dqn"],
        envs=[PROBE, "CartPole-v1"],
        seeds=2,
        scale="smoke",
        settings={"members": [2, 3], "batch_size": [8, 16]},
    )
    requests = sweep.requests()
    # CERL in four combinations; the single agent has no members and is run with each batch size.
    assert len(requests) == 2 * 2 * (4 + 2)
    assert [request.seed for request in requests] == [0] * 12 + [1] * 12
    # Side by side are different presets, whose programs differ.
    assert [request.preset for request in requests[:5]] == ["cerl", "double-dqn", "cerl", "double-dqn", "cerl"]
    here = [r.options for r in requests if (r.preset, r.env, r.seed) == ("cerl", PROBE, 0)]
    assert here == [{"members": n, "batch_size": b} for n in (2, 3) for b in (8, 16)]
    assert sweep.left_out() == ["double-dqn has no option --members; it runs without it"]


def test_settings_are_read_as_the_options_of_train():
    given = ["members=5,10", "learning-rate=1e-4", "total_steps=5e5,500_000", "terminal_on_life_loss=true,false"]
    assert swept_settings(given) == {
        "members": [5, 10],
        "learning_rate": [1e-4],
        "total_steps": [500_000, 500_000],
        "terminal_on_life_loss": [True, False],
    }


def test_sets_of_environments_have_names():
    assert len(expand(["minatar5"])) == 5 and len(expand(["atari55"])) == 55
    assert expand([PROBE, "mujoco4", "Ant-v4"]) == (PROBE, *env_sets()["mujoco4"])


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--preset", "cerl", *SMALL, "--set", "membres=2"], ("membres=2", "did you mean 'members'?")),
        (["--preset", "cerl", *SMALL, "--set", "members"], ("--set members has no value", "members=V1,V2")),
        (["--preset", "cerl", *SMALL, "--set", "members=2,two"], ("members=two", "whole number")),
        (["--preset", "cerl", *SMALL, "--set", "members=2,0"], ("--members is 0", "at least 1")),
        (["--preset", "cerl", *SMALL, "--set", "members=2", "members=3"], ("members twice", "members=V1,V2")),
        (["--preset", "cerl", *SMALL, "--set", "device=abacus"], ("device=abacus", "cpu, gpu")),
        (["--preset", "cerl", *SMALL, "--set", "terminal-on-life-loss=maybe"], ("maybe", "neither true nor false")),
        (["--preset", "double-dqn", *SMALL, "--set", "members=2"], ("applies to none", "double-dqn", "leave it out")),
        (["--preset", "cerll", *SMALL], ("'cerll'", "did you mean 'cerl'?")),
        (["--preset", "cerl", "--env", "CartPolle-v1"], ("'CartPolle-v1'", "chorus list envs")),
        (["--preset", "cerl", *SMALL, "--seeds", "0"], ("--seeds is 0", "at least 1")),
        (["--preset", "cerl", *SMALL, "--engine", "slurmm"], ("'slurmm'", "did you mean 'slurm'?")),
        (["--preset", "cerl", *SMALL, "--workers", "0"], ("--workers is 0", "at least 1")),
        (["--preset", "cerl", *SMALL, "--address", "h:1"], ("--address h:1", "--engine ray")),
        (["--env", PROBE], ("--preset", "chorus sweep --help")),
    ],
    ids=lambda case: " ".join(case)[:60],
)
def test_wrong_sweeps_are_refused_before_anything_is_touched(tmp_path, capsys, arguments, parts):
    assert main(["sweep", *arguments, "--quiet", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1
    for part in parts:
        assert part in said.err
    assert listing(tmp_path) == {}


def test_a_setting_that_no_preset_has_is_refused():
    sweep = Sweep(presets=["double-dqn"], envs=[PROBE], seeds=1, settings={"members": [2]})
    with pytest.raises(ChorusError, match="applies to none of the presets double-dqn"):
        sweep.left_out()


def test_a_dry_run_says_what_would_be_run_and_touches_nothing(tmp_path, capsys):
    sizes = ["--preset", "bootstrapped-dqn", "double-dqn", *SMALL, "--seeds", "3", "--set", "members=2,3"]
    assert main(["sweep", *sizes, "--dry-run", "--workers", "2", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("double-dqn has no option --members; it runs without it\n")
    assert said.count("3 missing ") == 3 and said.count("__s{0..2}\n") == 3
    assert "9 runs, 0 already ended: about " in said and "with 2 at once" in said
    assert listing(tmp_path) == {}


def test_what_a_short_name_is_taken_for_is_said_once():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        requests = Sweep(presets=["cerl"], envs=["cartpole"], seeds=(0, 1, 2), settings={}).requests()
    assert [request.env for request in requests] == ["CartPole-v1"] * 3
    assert [str(one.message) for one in said] == ["the environment 'cartpole' is taken to be CartPole-v1"]
