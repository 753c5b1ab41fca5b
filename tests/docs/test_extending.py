"""The blocks of docs/extending.md together are a plugin, and everything in it trains."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from chorus.cli.main import main
from running import command, environment

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
SMALL = ("--scale", "smoke", "--total-steps", "400", "--iteration-steps", "200", "--eval-episodes", "2", "--quiet")
# Preset -> where it is trained, and the part of the configuration that shows the component.
PRESETS = {
    "optimistic": ("Corridor-v0", ("acting", "kind"), "optimistic"),
    "largest": ("Corridor-v0", ("replay", "sampler", "kind"), "largest"),
    "dqn-reward": ("Corridor-v0", ("agent", "auxiliary", "kind"), "reward_prediction"),
    "sac-reward": ("Probe/ContinuousBoth-v0", ("agent", "auxiliary", "kind"), "reward_prediction"),
    "normalised": ("Corridor-v0", ("agent", "torso", "kind"), "normalised"),
}


@pytest.fixture(scope="module")
def plugin(tmp_path_factory) -> Path:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file = tmp_path_factory.mktemp("plugin") / "tutorial.py"
    file.write_text("\n\n".join(blocks), encoding="utf-8")
    return file


def chorus(*words: str | Path) -> str:
    done = subprocess.run(command(*words), env=environment(COLUMNS="300"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_every_component_of_the_page_is_listed(plugin):
    listed = chorus("list", "components", "--plugin", plugin)
    for kind in ("optimistic", "largest", "reward_prediction", "normalised"):
        assert re.search(rf"^  {kind} .*\[tutorial\.py\]$", listed, re.MULTILINE)
    assert set(PRESETS) <= set(re.findall(r"^(\S+) ", chorus("list", "--plugin", plugin), re.MULTILINE))


@pytest.mark.long
@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_of_the_page_trains(preset, plugin, tmp_path, capsys):
    env, place, kind = PRESETS[preset]
    assert main(["train", preset, "--plugin", str(plugin), "--env", env, *SMALL, "--out", str(tmp_path)]) == 0
    (run,) = tmp_path.iterdir()
    node = json.loads((run / "config.json").read_text(encoding="utf-8"))
    for name in place:
        node = node[name]
    assert node == kind
    assert json.loads((run / "status.json").read_text(encoding="utf-8"))["state"] == "finished"
    capsys.readouterr()
    assert main(["evaluate", str(run), "--episodes", "2"]) == 0
    assert "policy" in capsys.readouterr().out
