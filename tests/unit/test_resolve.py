"""From a file of anything to a configuration or a sentence."""

import json

import pytest

from chorus.config.presets import PRESETS
from chorus.config.resolution import Request, resolve
from chorus.errors import ChorusError

ANYTHING = (None, 5, -1, 0, 0.5, "x", [], {}, True, {"kind": []})


def request(**more):
    return Request(preset="cerl", env="Probe/Both-v0", scale="smoke", **more)


def paths(tree, path=()):
    for name, value in tree.items():
        yield (*path, name)
        if isinstance(value, dict):
            yield from paths(value, (*path, name))


@pytest.mark.slow
def test_whatever_a_file_holds_it_becomes_a_configuration_or_a_sentence(tmp_path):
    text = json.dumps(resolve(request()).config.to_json())
    file = tmp_path / "config.json"
    for path in paths(json.loads(text)):
        for value in ANYTHING:
            tree = json.loads(text)
            node = tree
            for name in path[:-1]:
                node = node[name]
            node[path[-1]] = value
            file.write_text(json.dumps(tree))
            try:
                resolve(Request(file=file))
            except ChorusError as problem:
                assert len(str(problem)) > 20


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"env": 5}, "config.env is 5; it must be an object"),
        ({"env": {"id": 5}}, "config.env.id is 5; it must be of type str"),
        ({"preset": 5}, "config.preset is 5; it must be of type str"),
        ({"seed": "x"}, "config.seed is 'x'; it must be of type int"),
        ({"scale": "huge"}, "config.scale is 'huge'; it must be one of smoke, laptop, paper"),
    ],
)
def test_the_head_of_a_file_is_checked_before_it_is_used(tmp_path, content, sentence):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(content))
    with pytest.raises(ChorusError) as caught:
        resolve(request(file=file))
    assert sentence in str(caught.value)


def test_an_unknown_scale_from_python_gets_a_sentence():
    with pytest.raises(ChorusError, match="'huge'; it must be one of smoke, laptop, paper"):
        resolve(Request(preset="cerl", env="Probe/Both-v0", scale="huge"))


def test_all_problems_are_reported_at_once_even_with_an_impossible_episode_limit():
    with pytest.raises(ChorusError) as caught:
        resolve(Request(preset="cerl", env="CartPole-v1", options={"max_episode_steps": 0, "members": 0, "threads": 0}))
    for option in ("--max-episode-steps is 0", "--members is 0", "--threads is 0"):
        assert option in str(caught.value)


def test_a_child_is_a_diff_from_its_parent_and_sources_say_who_decided():
    parent = resolve(Request(preset="bootstrapped-dqn", env="Probe/Both-v0", scale="smoke"))
    child = resolve(request(options={"batch_size": 8}))
    before, after = parent.config.to_json(), child.config.to_json()
    assert {name for name in after if after[name] != before[name]} == {"preset", "agent", "replay"}
    assert child.config.agent.value_map.__class__.__name__ == "Cross"
    assert child.sources["replay.batch_size"] == "given as an option"
    assert "cerl" in child.sources["agent.value_map.kind"]


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
@pytest.mark.parametrize("preset", [name for name in PRESETS if "sac" not in name])
def test_every_preset_is_valid_on_atari_at_every_scale(preset, scale):
    config = resolve(Request(preset=preset, env="ALE/Pong-v5", scale=scale)).config
    # QR-DQN brings its own length, MICo is defined for one step; everyone else follows the scale.
    of_scale = {"smoke": 1, "laptop": 5, "paper": 1}[scale]
    assert config.replay.n_step == (1 if "mico" in preset else 3 if "qr-dqn" in preset else of_scale)


def test_the_length_of_returns_is_the_scales_and_said_to_be():
    sources = resolve(Request(preset="cerl", env="ALE/Pong-v5", scale="laptop")).sources
    assert sources["replay.n_step"].startswith("laptop scale for Atari")
