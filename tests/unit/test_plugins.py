"""Modules outside the package are loaded by name, by file or by entry point; a missing one gets a sentence."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import running
from chorus.cli.main import main
from chorus.config.presets import PRESETS
from chorus.errors import ChorusError
from chorus.plugins import load_plugins, load_recorded, plugins_of
from running import command, environment

REPOSITORY = Path(__file__).parents[2]
EXAMPLE = REPOSITORY / "examples" / "new_algorithm.py"
PLUGIN = """
from chorus.extend import preset

@preset("{name}", title="Mine", summary="as its parent", parent="bootstrapped-dqn")
def mine(config, row):
    return config
"""


def write_plugin(folder: Path, name: str) -> Path:
    file = folder / f"{name}.py"
    file.write_text(PLUGIN.format(name=name.replace("_", "-")), encoding="utf-8")
    return file


def test_a_missing_plugin_gets_a_sentence():
    with pytest.raises(ChorusError, match=r"the plugin 'no_such_module' cannot be imported .*PYTHONPATH"):
        load_plugins(["no_such_module"])
    (problem,) = load_recorded(["nowhere.py"])
    assert "the plugin 'nowhere.py' cannot be imported (FileNotFoundError" in problem


def test_a_broken_plugin_is_named_with_its_error(tmp_path):
    broken = tmp_path / "broken_plugin.py"
    broken.write_text("1 / 0", encoding="utf-8")
    with pytest.raises(
        ChorusError, match=r"broken_plugin.py' fails while it is imported \(ZeroDivisionError.*repair it"
    ):
        load_plugins([str(broken)])
    assert not any(name.startswith("chorus_plugin_broken_plugin") for name in sys.modules)


def test_a_plugin_in_the_current_folder_is_recorded_by_its_file(tmp_path, monkeypatch, capsys):
    file = write_plugin(tmp_path, "mine_in_a_folder")
    monkeypatch.chdir(tmp_path)
    assert main(["show", "mine-in-a-folder", "--plugin", "mine_in_a_folder"]) == 0
    assert "Mine (mine-in-a-folder)" in capsys.readouterr().out
    assert str(file) in plugins_of([])


def test_only_modules_outside_the_package_are_recorded():
    assert not {"chorus", "chorus.config.catalogue"} & set(plugins_of(["chorus", "chorus.config.catalogue"]))
    assert "json" in plugins_of(["json"])


@pytest.mark.long
def test_an_installed_plugin_needs_no_option(tmp_path):
    """The entry point of a distribution as an installer leaves it."""
    write_plugin(tmp_path, "installed_plugin")
    info = tmp_path / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[chorus.plugins]\nmine = installed_plugin\n", encoding="utf-8")
    path = environment(PYTHONPATH=f"{tmp_path}:{REPOSITORY / 'src'}")
    found = subprocess.run(command("list"), env=path, capture_output=True, text=True, check=True).stdout
    assert "installed-plugin" in found
    (tmp_path / "installed_plugin.py").unlink()
    broken = subprocess.run(command("list"), env=path, capture_output=True, text=True, check=True)
    assert "Note: the installed plugin 'mine' (installed_plugin) cannot be loaded" in broken.stderr
    assert "double-dqn" in broken.stdout, "what does not need it goes on"


def test_two_files_of_one_name_are_two_plugins(tmp_path):
    for folder, preset in (("one", "first-of-two"), ("two", "second-of-two")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same_name.py").write_text(PLUGIN.format(name=preset), encoding="utf-8")
    load_plugins([str(tmp_path / "one" / "same_name.py"), str(tmp_path / "two" / "same_name.py")])
    assert {"first-of-two", "second-of-two"} <= set(PRESETS)


def test_a_plugin_may_be_named_before_the_command(tmp_path, capsys):
    file = write_plugin(tmp_path, "before_the_command")
    assert main(["--plugin", str(file), "show", "before-the-command"]) == 0
    assert f"next: chorus --plugin {file} train before-the-command" in capsys.readouterr().out


def test_a_plugin_that_trains_while_it_is_imported_is_refused(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text("import chorus\nchorus.train('cerl', 'CartPole-v1')\n", encoding="utf-8")
    with pytest.raises(ChorusError, match="guard it by"):
        load_plugins([str(script)])


@pytest.mark.long
def test_a_new_algorithm_goes_from_its_class_to_train_sweep_and_report(tmp_path):
    """No file of the package is touched; workers, resume, evaluate and report load the plugin by themselves."""
    runs, folder = tmp_path / "runs", tmp_path / "elsewhere"
    folder.mkdir()

    def chorus(*words: str | Path) -> str:
        done = running.chorus(*words, cwd=folder)
        assert done.returncode == 0, done.stderr
        return done.stdout

    small = ["--scale", "smoke", "--total-steps", "400", "--iteration-steps", "200", "--eval-episodes", "2"]
    cartpole = ["--env", "CartPole-v1", "--max-episode-steps", "30"]
    chorus("train", "neighbours", "--plugin", EXAMPLE, *cartpole, *small, "--reach", "2", "--out", runs, "--quiet")
    (run,) = runs.glob("*neighbours*")
    meta = json.loads((run / "meta.json").read_text(encoding="utf-8"))
    assert meta["plugins"] == [str(EXAMPLE)]
    assert meta["identity"]["title"] == "Bootstrapped DQN + neighbours"
    assert meta["identity"]["settings"]["agent.value_map.reach"] == {"value": 2, "label": "reach 2", "default": 1}
    assert "policy aggregate" in chorus("evaluate", run, "--episodes", "2")
    assert "has ended already" in chorus("resume", run)

    settings = ["max_episode_steps=30", "total_steps=400", "iteration_steps=200", "eval_episodes=2", "reach=1,2"]
    sweep = ["--preset", "neighbours", "bootstrapped-dqn", "--env", "CartPole-v1", "--scale", "smoke"]
    said = chorus("sweep", "--plugin", EXAMPLE, *sweep, "--set", *settings, "--out", runs, "--quiet")
    assert "Bootstrapped DQN" in said
    # The run with a reach of 2 exists already and is shared.
    swept = [json.loads((path / "meta.json").read_text())["identity"] for path in sorted(runs.glob("*neighbours*"))]
    assert sorted(one["settings"]["agent.value_map.reach"]["label"] for one in swept if one["swept"]) == ["reach 1"]

    page = tmp_path / "report.html"
    chorus("report", runs, "-o", page)
    text = page.read_text(encoding="utf-8")
    assert "Bootstrapped DQN + neighbours" in text and "reach 2" in text
