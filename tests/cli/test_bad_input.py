"""Every wrong input: one sentence with the value and the remedy, exit code 2, nothing on disk touched."""

import errno
import json
import os
import sys
import textwrap
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from chorus.cli.main import main
from chorus.envs.gym import GymEnvs
from chorus.errors import ChorusError
from chorus.runs import resources
from refusals import assert_refused
from running import chorus, listing

CARTPOLE = ("cerl", "--env", "CartPole-v1")
BREAKOUT = ("cerl", "--env", "ALE/Breakout-v5")
CERL_SAC = ("ensemble-sac-cerl", "--env", "Pendulum-v1")

# (arguments after `chorus train`, what the sentence must contain: the value, and the remedy)
WRONG_OPTIONS = [
    (("cerll", "--env", "CartPole-v1"), ("'cerll'", "did you mean 'cerl'?")),
    (("dqn", "--env", "CartPole-v1"), ("'dqn'", "did you mean 'double-dqn'?")),
    (("cerl,tandem", "--env", "CartPole-v1"), ("2 presets", "`chorus sweep --preset cerl tandem --env ID`")),
    (("cerl", "CartPole-v1"), ("'CartPole-v1'", "`chorus train cerl --env CartPole-v1 ")),
    (("CartPole-v1", "cerl"), ("'cerl' has no option", "`chorus train cerl --env CartPole-v1 --out")),
    (("cerl", "--env", "Breakout"), ("'Breakout'", "MinAtar/Breakout-v1 or ALE/Breakout-v5", "give one")),
    (("cerl", "--env", "breakout"), ("'breakout'", "MinAtar/Breakout-v1 or ALE/Breakout-v5", "give one")),
    ((), ("a preset is missing", "chorus list")),
    (("cerl",), ("--env is missing", "chorus list envs")),
    (("cerl", "--env", "MinAtar/Brekout-v1"), ("'MinAtar/Brekout-v1'", "did you mean 'MinAtar/Breakout-v1'?")),
    (("cerl", "--env", "CartPolle-v1"), ("'CartPolle-v1'", "chorus list envs")),
    (("cerl", "--env", "CartPole-v99"), ("'CartPole-v99'", "chorus list envs")),
    (("cerl", "--env", "no_such_package:MyEnv-v0"), ("'no_such_package:MyEnv-v0'", "No module named")),
    ((*CARTPOLE, "--membres", "3"), ("'--membres'", "did you mean '--members'?")),
    ((*CARTPOLE, "surplus"), ("'surplus'", "chorus train --help")),
    ((*CARTPOLE, "--members", "three"), ("--members", "'three'", "whole number")),
    ((*CARTPOLE, "--members", "2.5"), ("--members", "'2.5'", "whole number")),
    ((*CARTPOLE, "--members", "inf"), ("--members", "'inf'", "whole number")),
    ((*CARTPOLE, "--members", "0"), ("--members is 0", "at least 1")),
    ((*CARTPOLE, "--members", "-3"), ("--members is -3", "at least 1")),
    ((*CARTPOLE, "--members", "70000"), ("--members is 70000", "at most 1,000")),
    ((*CARTPOLE, "--seed", "-1"), ("--seed is -1", "not be negative")),
    ((*CARTPOLE, "--batch-size", "-8"), ("--batch-size is -8", "at least 1")),
    ((*CARTPOLE, "--buffer-size", "-8"), ("--buffer-size is -8", "at least 1")),
    ((*CARTPOLE, "--num-envs", "0"), ("--num-envs is 0", "at least 1")),
    ((*CARTPOLE, "--n-step", "0"), ("--n-step is 0", "at least 1")),
    ((*CARTPOLE, "--threads", "0"), ("--threads is 0", "at least 1")),
    ((*CARTPOLE, "--max-episode-steps", "0"), ("--max-episode-steps is 0", "at least 1")),
    ((*CARTPOLE, "--eval-episodes", "0"), ("--eval-episodes is 0", "at least 1")),
    ((*CARTPOLE, "--eval-steps", "-1"), ("--eval-steps is -1", "not be negative")),
    ((*CARTPOLE, "--sticky-actions", "0.25"), ("--sticky-actions", "CartPole-v1 is none", "leave it out")),
    ((*CARTPOLE, "--terminal-on-life-loss"), ("--terminal-on-life-loss", "CartPole-v1 is none", "leave it out")),
    (("cerl", "--env", "MinAtar/Breakout-v1", "--noop-max", "3"), ("--noop-max", "MinAtar/Breakout-v1 is none")),
    ((*BREAKOUT, "--sticky-actions", "1"), ("--sticky-actions is 1.0", "from 0 to below 1")),
    ((*BREAKOUT, "--noop-max", "-1"), ("--noop-max is -1", "not be negative")),
    ((*BREAKOUT, "--max-episode-steps", "1e9"), ("--max-episode-steps is 1000000000", "use at most 536870911")),
    (("cerl", "--env", "ALE/Brekout-v5"), ("'ALE/Brekout-v5'", "did you mean 'ALE/Breakout-v5'?")),
    ((*CARTPOLE, "--learning-rate", "fast"), ("--learning-rate", "'fast'", "not a number")),
    ((*CARTPOLE, "--learning-rate", "nan"), ("--learning-rate", "'nan'", "finite")),
    ((*CARTPOLE, "--learning-rate", "-0.1"), ("--learning-rate is -0.1", "positive")),
    ((*CARTPOLE, "--discount", "1.5"), ("--discount is 1.5", "between 0 and 1")),
    ((*CARTPOLE, "--epsilon-decay", "0"), ("--epsilon-decay is 0", "at least 1")),
    ((*CARTPOLE, "--learning-starts", "0"), ("--learning-starts is 0", "at least 4")),
    ((*CARTPOLE, "--scale", "huge"), ("'huge'", "'smoke', 'laptop', 'paper'")),
    ((*CARTPOLE, "--device", "abacus"), ("'abacus'", "'cpu', 'gpu'")),
    ((*CARTPOLE, "--shared-layers", "3"), ("--shared-layers is 3", "choose 0 to 2")),
    ((*CARTPOLE, "--shared-layers", "-1"), ("--shared-layers is -1", "choose 0 to 2")),
    ((*CARTPOLE, "--shared-layers", "2"), ("--shared-layers 2", "CERL", "choose at most 1")),
    ((*CARTPOLE, "--buffer-size", "10"), ("--buffer-size 10", "--batch-size 64", "enlarge the buffer")),
    ((*CARTPOLE, "--total-steps", "100001"), ("--total-steps is 100001", "multiple of --num-envs, 4")),
    ((*CARTPOLE, "--iteration-steps", "100"), ("25 steps", "500 an episode may last", "--iteration-steps 2000")),
    ((*CARTPOLE, "--total-steps", "100"), ("25 steps", "may last: use --total-steps 2000 or more, or --max-episode-")),
    ((*CARTPOLE, "--passive-share", "0.2"), ("--passive-share 0.2", "belongs to tandem")),
    (("double-dqn", "--env", "CartPole-v1", "--members", "3"), ("--members 3", "belongs to bootstrapped-dqn")),
    (("tandem", "--env", "CartPole-v1", "--passive-share", "2"), ("--passive-share is 2.0", "between 0 and 1")),
    (("cerl", "--env", "Pendulum-v1"), ("cerl chooses among Discrete actions", "has a Box", "a preset for Box")),
    (("sac", "--env", "CartPole-v1"), ("sac acts within a Box", "2 Discrete actions", "a preset for Discrete")),
    (("sac", "--env", "Pendulum-v1", "--members", "3"), ("--members 3", "belongs to", "ensemble-sac")),
    (("sac-tandem", "--env", "Pendulum-v1", "--members", "3"), ("--members 3", "does not apply to sac-tandem")),
    (
        ("ensemble-sac", "--env", "Pendulum-v1", "--huber-threshold", "5"),
        ("--huber-threshold 5.0", "ensemble-sac-cerl"),
    ),
    ((*CERL_SAC, "--huber-threshold", "0"), ("--huber-threshold is 0.0", "positive")),
    ((*CERL_SAC, "--shared-layers", "1"), ("--shared-layers 1", "does not apply to ensemble-sac-cerl")),
    ((*CERL_SAC, "--target-rate", "0"), ("--target-rate is 0.0", "above 0")),
    (("cerl", "--env", "FrozenLake-v1"), ("'FrozenLake-v1'", "Discrete", "FlattenObservation")),
    ((*CARTPOLE, "--hyperparameters", "table"), ("--hyperparameters table", "leave the option out")),
]


@pytest.mark.parametrize(("arguments", "parts"), WRONG_OPTIONS, ids=lambda case: " ".join(case) or "nothing")
def test_wrong_options_are_refused_with_value_and_remedy(tmp_path, capsys, arguments, parts):
    assert_refused(["train", *arguments, "--out", str(tmp_path)], capsys, *parts)
    assert listing(tmp_path) == {}


def test_all_problems_are_reported_at_once(tmp_path, capsys):
    wrong = ["--members", "0", "--batch-size", "-1", "--seed", "-4", "--discount", "7"]
    assert_refused(["train", *CARTPOLE, *wrong, "--out", str(tmp_path)], capsys, "--members is 0", "--batch-size is -1",
           "--seed is -4", "--discount is 7.0")  # fmt: skip
    assert listing(tmp_path) == {}


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["trian"], ("'trian'", "did you mean 'train'?")),
        (["--verbose"], ("'--verbose'", "chorus --help")),
        (["list", "preset"], ("'preset'", "did you mean 'presets'?")),
        (["show", "doubl-dqn"], ("'doubl-dqn'", "double-dqn")),
        (["resume"], ("RUN", "chorus resume --help")),
        (["resume", "no/such/run"], ("no/such/run", "chorus list runs")),
        (["evaluate", "no/such/run"], ("no/such/run", "chorus list runs")),
        (["evaluate", "no/such/run", "--episodes", "0"], ("--episodes is 0", "at least 1")),
        (["report", "no/such/run", "--seed", "-1"], ("--seed is -1", "not be negative")),
        (
            ["show", "qr-dqn", "--env", "ALE/Pong-v5", "--scale", "paper", "--hyperparameters", "table"],
            ("changes nothing in qr-dqn", "leave the option out"),
        ),
    ],
    ids=lambda case: " ".join(case),
)
def test_other_commands_refuse_what_they_do_not_know(capsys, arguments, parts):
    assert_refused(arguments, capsys, *parts)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("{", ("cannot be read", "config.json")),
        ("[1]", ("holds no object",)),
        ('{"scale": "huge"}', ("config.scale is 'huge'", "smoke, laptop, paper")),
        ('{"seed": "one"}', ("config.seed is 'one'", "int")),
        ('{"preset": 3}', ("config.preset is 3", "str")),
        ('{"preset": "tandem"}', ("'tandem'", "leave out the preset")),
        ('{"env": "CartPole-v1"}', ("config.env is 'CartPole-v1'", "object")),
        ('{"agent": {"reward_clip": NaN}}', ("config.agent.reward_clip is nan", "finite")),
        ('{"agent": {"reward_clip": -1}}', ("agent.reward_clip is -1", "positive")),
        ('{"agent": {"loss": {"threshold": 0}}}', ("agent.loss.threshold is 0", "positive")),
        ('{"agent": {"loss": {"kind": "hinge"}}}', ("config.agent.loss.kind is 'hinge'", "huber")),
        ('{"agent": {"torso": {"kind": "mlp_torso", "dense": [-4]}}}', ("dense is [-4]", "at least 1 unit")),
        ('{"agent": {"torso": {"kind": "mlp_torso", "dense": [8, 0]}}}', ("dense is [8, 0]", "at least 1 unit")),
        ('{"agent": {"torso": {"kind": "mlp_torso", "dense": []}}}', ("no layers", "give agent.torso.dense a width")),
        (
            '{"agent": {"torso": {"kind": "conv_torso", "dense": [8], "convolutions": '
            '[{"features": 8, "kernel": 3, "stride": 0}]}}}',
            ("kernel 3 and stride 0", "at least 1"),
        ),
        ('{"agent": {"optimizer": {"kind": "adam", "epsilon": -1e-8}}}', ("epsilon is -1e-08", "positive")),
        ('{"agent": {"optimizer": {"kind": "centred_rms_prop", "decay": 1.0}}}', ("decay is 1.0", "below 1")),
        ('{"evaluation": {"max_episode_steps": 0}}', ("evaluation.max_episode_steps is 0", "at least 1")),
        ('{"scale": "smoke", "seed": 3}', ("'smoke', not 'laptop'", "leave out --scale")),
        ('{"hyperparameters": "table"}', ("'table', not 'code'", "leave out --hyperparameters")),
        ('{"agent": {"torso": {"kind": "custom_torso", "description": "mine"}}}', ("mine", "torso=")),
        ('{"exploration": {"warmup_steps": -5}}', ("warmup_steps is -5", "not be negative")),
    ],
)
def test_wrong_configuration_files_are_refused(tmp_path, capsys, content, parts):
    (tmp_path / "file.json").write_text(content)
    asked = ["--scale", "laptop", "--hyperparameters", "code"]
    arguments = ["train", *CARTPOLE, *asked, "--config", str(tmp_path / "file.json"), "--out", str(tmp_path / "out")]
    assert_refused(arguments, capsys, *parts)
    assert list(listing(tmp_path)) == ["file.json"]


def test_unknown_keys_of_a_configuration_file_are_reported_together_with_suggestions(tmp_path, capsys):
    wrong = {"agnet": 1, "agent": {"memberss": 2}, "replay": {"capacity": "big"}, "schedule": {"steps": 5}}
    (tmp_path / "file.json").write_text(json.dumps(wrong))
    parts = (
        "config.agnet is not known; did you mean 'agent'?",
        "config.agent.memberss is not known; did you mean 'members'?",
        "config.replay.capacity is 'big'; it must be of type int",
        "config.schedule.steps is not known",
    )
    assert_refused(["train", *CARTPOLE, "--config", str(tmp_path / "file.json")], capsys, *parts)


def test_a_missing_configuration_file_is_named(tmp_path, capsys):
    assert_refused(["train", *CARTPOLE, "--config", str(tmp_path / "none.json")], capsys, "none.json", "cannot be read")


def test_dict_observations_are_refused_with_the_wrapper_that_helps(tmp_path, capsys, monkeypatch):
    (tmp_path / "dictionary_world.py").write_text(
        textwrap.dedent("""
            import gymnasium
            from gymnasium import spaces

            class World(gymnasium.Env):
                observation_space = spaces.Dict({"place": spaces.Box(0, 1, (2,))})
                action_space = spaces.Discrete(2)

            gymnasium.register("DictionaryWorld-v0", entry_point=World)
        """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    arguments = ["train", "cerl", "--env", "dictionary_world:DictionaryWorld-v0", "--out", str(tmp_path / "out")]
    assert_refused(arguments, capsys, "observation space Dict", "FlattenObservation")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("error", ["TypeError('one argument is missing')", "RuntimeError('no display\\nat all')"])
def test_an_environment_whose_constructor_fails_is_refused_in_one_line(tmp_path, capsys, monkeypatch, error):
    (tmp_path / "failing_world.py").write_text(
        textwrap.dedent(f"""
            import gymnasium

            class World(gymnasium.Env):
                def __init__(self):
                    raise {error}

            gymnasium.register("FailingWorld-v0", entry_point=World)
        """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    arguments = ["train", "cerl", "--env", "failing_world:FailingWorld-v0", "--out", str(tmp_path / "out")]
    try:
        assert_refused(arguments, capsys, "FailingWorld-v0", "its constructor raised", error.split("(")[0], "by itself")
    finally:
        # The next case registers it again.
        del gymnasium.registry["FailingWorld-v0"], sys.modules["failing_world"]
    assert not (tmp_path / "out").exists()


def test_a_network_that_cannot_be_built_is_not_counted(tmp_path, capsys):
    torso = {"kind": "conv_torso", "convolutions": [{"features": 4, "kernel": 30}], "dense": [8]}
    (tmp_path / "file.json").write_text(json.dumps({"agent": {"torso": torso}}))
    arguments = ["show", "cerl", "--env", "MinAtar/Breakout-v1", "--config", str(tmp_path / "file.json")]
    assert_refused(arguments, capsys, "cannot be built", "change agent.torso")


def test_a_folder_that_may_not_be_looked_into_is_named(tmp_path, capsys, monkeypatch):
    """As for a user without rights, whoever runs the tests."""
    closed, allowed = tmp_path / "closed", Path.stat

    def stat(self, **how):
        if closed in self.parents:
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return allowed(self, **how)

    monkeypatch.setattr(Path, "stat", stat)
    arguments = ["train", *CARTPOLE, "--threads", "1", "--out", str(closed / "runs")]
    assert_refused(arguments, capsys, "Permission denied", "choose another --out")
    with pytest.raises(ChorusError, match=r"measured \(Permission denied\); choose another --out"):
        resources.free_disk_bytes(closed / "runs")


def test_a_path_that_cannot_be_written_is_refused_before_anything_is_said(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert_refused(
        ["train", *CARTPOLE, "--out", str(tmp_path / "file")], capsys, str(tmp_path / "file"), "another --out"
    )
    if os.geteuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o500)
        assert_refused(
            ["train", *CARTPOLE, "--out", str(tmp_path / "closed")], capsys, "Permission denied", "another --out"
        )
    assert {"file", "closed"} >= set(listing(tmp_path))
    if Path("/proc").is_dir():
        assert_refused(["train", *CARTPOLE, "--out", "/proc/x"], capsys, "/proc/x", "choose another --out")


@pytest.mark.parametrize(
    ("preset", "env", "found"),
    [
        ("CERL", "minatar/breakout-v1", ("cerl", "MinAtar/Breakout-v1")),
        ("Bootstrapped_DQN", "ale/breakout-V5", ("bootstrapped-dqn", "ALE/Breakout-v5")),
        ("double-dqn", "cartpole", ("double-dqn", "CartPole-v1")),
    ],
)
def test_names_are_found_up_to_case_and_without_a_version(capsys, preset, env, found):
    assert main(["show", preset, "--env", env, "--json"]) == 0
    said = capsys.readouterr()
    config = json.loads(said.out)
    assert (config["preset"], config["env"]["id"]) == found
    assert ("'cartpole' is taken to be CartPole-v1" in said.err) == (env == "cartpole")


def test_a_film_without_pygame_is_refused_with_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    envs = GymEnvs("CartPole-v1", 1, None, "rgb_array")
    envs.reset(np.zeros(1, np.int64))
    with pytest.raises(ChorusError, match=r"a video of 'CartPole-v1' needs pygame, .*; install it with `pip install"):
        envs.render()


@pytest.mark.slow
def test_a_gpu_that_is_not_there_is_refused(tmp_path):
    done = chorus("train", *CARTPOLE, "--device", "gpu", "--out", tmp_path, JAX_PLATFORMS=None)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "--device gpu" in done.stderr and "--device cpu" in done.stderr
    assert listing(tmp_path) == {}
