"""Every field of the configuration can be set, in every way, and help knows the numbers."""

import json
import subprocess

import pytest

from chorus.cli.main import main
from chorus.cli.train_options import single_settings, swept_settings
from chorus.config.resolution import Request, resolve
from chorus.errors import ChorusError
from running import command, environment


def shown(capsys, *words: str) -> dict:
    assert main(["show", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *words: str) -> str:
    assert main([*words]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1
    return said.err


def test_dotted_paths_reach_every_field(capsys):
    changes = ["agent.torso.dense=128,64", "agent.optimizer.learning_rate=1e-3", "evaluation.max_episode_steps=700"]
    config = shown(capsys, "cerl", "--scale", "smoke", "--set", *changes)
    assert config["agent"]["torso"]["dense"] == [128, 64]
    assert config["agent"]["optimizer"]["learning_rate"] == 1e-3
    assert config["evaluation"]["max_episode_steps"] == 700


def test_a_component_is_set_by_its_kind(capsys):
    config = shown(capsys, "bootstrapped-dqn", "--set", "replay.sampler=bootstrap_masked", "keep-probability=0.5")
    assert config["replay"]["sampler"] == {"kind": "bootstrap_masked", "keep_probability": 0.5}
    config = shown(capsys, "double-dqn", "--set", "agent.optimizer=centred_rms_prop")
    assert config["agent"]["optimizer"]["kind"] == "centred_rms_prop"


@pytest.mark.parametrize(
    ("changes", "place", "value"),
    [
        (["acting=tandem", "agent.members=2"], "acting.kind", "tandem"),
        (["acting.kind=uniform_each_step"], "acting.kind", "uniform_each_step"),
        (["agent.torso=mlp_torso", "agent.torso.dense=64,32"], "agent.torso.dense", [64, 32]),
        (["evaluation.policies.individual.mode=true"], "evaluation.policies.individual.mode", True),
        (["evaluation.policies.two=member", "evaluation.policies.two.index=2"], "evaluation.policies.two.index", 2),
        (["agent.loss.threshold=2"], "agent.loss.threshold", 2.0),
    ],
)
def test_components_and_what_is_inside_them_are_exchanged_together(capsys, changes, place, value):
    node = shown(capsys, "bootstrapped-dqn", "--env", "CartPole-v1", "--set", *changes)
    for name in place.split("."):
        node = node[name]
    assert node == value


def test_yaml_and_json_say_the_same(tmp_path, capsys):
    (tmp_path / "part.yaml").write_text("agent:\n  members: 4\n  optimizer: {learning_rate: 1e-3}\n", encoding="utf-8")
    (tmp_path / "part.json").write_text('{"agent": {"members": 4, "optimizer": {"learning_rate": 0.001}}}')
    found = [shown(capsys, "cerl", "--config", str(tmp_path / name)) for name in ("part.yaml", "part.json")]
    assert found[0] == found[1] and found[0]["agent"]["members"] == 4
    (tmp_path / "kind.yaml").write_text("agent: {value_map: cross}", encoding="utf-8")
    config = shown(capsys, "bootstrapped-dqn", "--config", str(tmp_path / "kind.yaml"))
    assert config["agent"]["value_map"] == {"kind": "cross"}
    (tmp_path / "broken.yaml").write_text("agent: [", encoding="utf-8")
    assert "broken.yaml cannot be read" in refused(capsys, "show", "cerl", "--config", str(tmp_path / "broken.yaml"))


def test_a_sweep_separates_values_and_keeps_lists_together():
    given = ["agent.torso.dense=[128,64],[64,64]", "members=5,10", "agent.value_map=members,cross"]
    assert swept_settings(given) == {
        "agent.torso.dense": [[128, 64], [64, 64]],
        "members": [5, 10],
        "agent.value_map": [{"kind": "members"}, {"kind": "cross"}],
    }
    assert swept_settings(["agent.torso.dense=128,64"]) == {"agent.torso.dense": [[128], [64]]}


def test_one_option_is_given_once():
    problems: list[str] = []
    given = ["agent.members=3", "seed=3", "batch_size=16"]
    assert single_settings(given, {"members": 4}, problems) == {"batch_size": 16}
    assert "is given twice" in problems[0] and "use --seed, or --seeds in a sweep" in problems[1]


def test_one_keyword_of_python_is_given_once():
    options = {"batch_size": 8, "replay.batch_size": 11}
    with pytest.raises(ChorusError, match=r"replay\.batch_size is given twice"):
        resolve(Request(preset="cerl", env="CartPole-v1", scale="smoke", options=options))


@pytest.mark.parametrize("setting", ["env.atari=" + "[" * 5_000, 'agent.loss={"a":' + "[" * 5_000])
def test_a_value_that_is_nested_too_deeply_is_refused(capsys, setting):
    assert "nested too deeply" in refused(capsys, "train", "cerl", "--env", "CartPole-v1", "--set", setting)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--set", "agent.torso.dens=3"], ("agent.torso.dens", "did you mean 'agent.torso.dense'?")),
        (["--set", "agent.value_map=crosss"], ("'crosss' is not a known value map", "did you mean 'cross'?")),
        (["--set", "agent.members=many"], ("agent.members=many cannot be read", "not a whole number")),
        (
            ["--members", "0", "--batch-size", "0", "--passive-share", "0.2", "--set", "agent.discount=7"],
            ("--members is 0", "--batch-size is 0", "--passive-share 0.2 does not apply", "--discount is 7"),
        ),
    ],
)
def test_all_that_is_wrong_is_said_at_once(capsys, words, parts):
    said = refused(capsys, "train", "cerl", "--env", "CartPole-v1", *words)
    for part in parts:
        assert part in said


def test_an_unknown_preset_and_an_unknown_environment_are_both_named(capsys):
    said = refused(capsys, "train", "cerll", "--env", "CartPolle-v1")
    assert "'cerll'" in said and "'CartPolle-v1'" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "members", "steps"),
    [
        (["cerl", "--scale", "smoke"], "default: 3", "default: 3_000"),
        (["cerl"], "default: 10", "default: 500_000"),
        (["ensemble-sac", "--env", "Pendulum-v1", "--scale", "paper"], "default: 10", "default: 1_000_000"),
    ],
)
def test_help_prints_the_numbers_of_the_chosen_scale(words, members, steps):
    wide = environment(COLUMNS="300")
    said = subprocess.run(
        command("train", *words, "--help"), env=wide, capture_output=True, text=True, check=True
    ).stdout
    (line,) = (line for line in said.splitlines() if line.strip().startswith("--members N"))
    assert members in line
    (line,) = (line for line in said.splitlines() if line.strip().startswith("--total-steps STEPS"))
    assert steps in line
    assert f"Defaults are those of {words[0]}" in said


def test_components_are_listed_and_shown(capsys):
    assert main(["list", "components"]) == 0
    said = capsys.readouterr().out
    assert "value map" in said and "cross_own" in said and "acting rule" in said
    assert main(["show", "tandem_"]) == 2
    capsys.readouterr()
    assert main(["show", "bootstrap_masked"]) == 0
    said = capsys.readouterr().out
    assert "--keep-probability" in said and "above 0 and at most 1" in said and "default: 0.75" in said
