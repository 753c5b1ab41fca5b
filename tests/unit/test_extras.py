"""A missing optional package is one sentence with its remedy, before anything is written."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from chorus.errors import ChorusError
from chorus.extras import EXTRAS, require, require_named
from running import environment, finished_probe_run, listing

ROOT = Path(__file__).parents[2]
# Python runs this module of that name when it starts: imports of these packages fail as if they were not installed.
BLOCKING = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(EXTRAS)}:
            raise ModuleNotFoundError(f"No module named '{{name}}'", name=name)

sys.meta_path.insert(0, Blocked())
"""
# One process for all of them, because importing JAX takes longer than the commands.
COMMANDS = """
import contextlib, io, json, sys
from chorus.cli.main import main

for words in json.loads(sys.argv[1]):
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = main(words)
    print(json.dumps([code, said.getvalue()]))
"""
TRAIN = ("train", "double-dqn", "--env", "Probe/Discount-v0", "--scale", "smoke", "--out", "runs")
SWEEP = ("sweep", "--preset", "double-dqn", "--env", "Probe/Discount-v0", "--scale", "smoke", "--out", "runs")
NEEDED = {
    "ale_py": ("train", "double-dqn", "--env", "ALE/Breakout-v5", "--out", "runs"),
    "mujoco": ("train", "sac", "--env", "Hopper-v4", "--out", "runs"),
    "imageio_ffmpeg": ("evaluate", "RUN", "--video", "film.mp4"),
    "tensorboard": (*TRAIN, "--tensorboard"),
    "wandb": (*SWEEP, "--track"),
    "ray": (*SWEEP, "--engine", "ray"),
    "submitit": (*SWEEP, "--engine", "slurm"),
}


@pytest.mark.long
def test_commands_without_their_package_write_nothing_and_say_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(BLOCKING, encoding="utf-8")
    (tmp_path / "empty").mkdir()
    run = finished_probe_run()
    before = listing(run)
    words = [[str(run) if word == "RUN" else word for word in command] for command in NEEDED.values()]
    path = f"{tmp_path / 'site'}:{ROOT / 'src'}"
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, json.dumps(words)],
        env=environment(PYTHONPATH=path),
        cwd=tmp_path / "empty",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(NEEDED)
    for (module, command), (code, said) in zip(NEEDED.items(), answers, strict=True):
        assert code == 2, f"{command} exits with {code}: {said}"
        assert len(said.splitlines()) == 1 and f"needs {module}" in said
        assert f'`pip install "chorus-rl[{EXTRAS[module]}]"`' in said
    assert not list((tmp_path / "empty").iterdir())
    assert listing(run) == before


def test_a_package_that_is_there_is_imported() -> None:
    assert require("imageio_ffmpeg", "a video").__name__ == "imageio_ffmpeg"


def test_only_a_missing_package_that_a_problem_names_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    require_named(ImportError("No module named 'pandas'"), "a task")
    require_named(ImportError("mujoco is too old"), "a task")
    # What Python itself does for a name that is None here: the import fails.
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ChorusError, match=re.escape('`pip install "chorus-rl[video]"`')):
        require_named(ImportError("pygame is not installed"), "a video of 'CartPole-v1'")


def test_every_package_is_in_the_extra_that_the_message_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    # Gymnasium's own extras bring MuJoCo and pygame.
    distributions = {"mujoco": "gymnasium[mujoco]", "pygame": "gymnasium[classic-control]"}
    for module, extra in EXTRAS.items():
        name = distributions.get(module, module.replace("_", "-"))
        assert any(line.startswith(name) for line in extras[extra])
        assert not any(line.startswith(name) for line in project["dependencies"])
        assert f"chorus-rl[{','.join(sorted(set(EXTRAS.values())))}]" == extras["all"][0]
