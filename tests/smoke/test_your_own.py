"""What users bring themselves: an environment in a package of their own, a torso of their own."""

import json
import re
import shutil
import textwrap

import flax.linen as nn
import jax.numpy as jnp
import numpy as np
import pytest
import smoke_worlds  # noqa: F401  (registers its environments)

import chorus
from chorus.cli.main import main
from chorus.config.resolution import Request, resolve
from chorus.networks.torsos import custom
from chorus.runs.lifecycle import create_run, train_run
from chorus.runs.progress import Silent
from running import chorus as chorus_command
from running import environment, logs, status

TINY = {
    "total_steps": 120, "iteration_steps": 60, "num_envs": 2, "max_episode_steps": 20, "learning_starts": 30,
    "buffer_size": 50, "batch_size": 4, "eval_episodes": 2,
}  # fmt: skip


@pytest.mark.long
def test_a_package_of_the_users_own_is_imported_for_its_environment(tmp_path):
    (tmp_path / "my_package.py").write_text(
        textwrap.dedent("""
            import gymnasium
            import numpy as np
            from gymnasium import spaces

            class MyEnv(gymnasium.Env):
                observation_space = spaces.Box(-1, 1, (3,), np.float64)
                action_space = spaces.Discrete(2)

                def reset(self, *, seed=None, options=None):
                    super().reset(seed=seed)
                    self.time = 0
                    return self.observation_space.low, {}

                def step(self, action):
                    self.time += 1
                    return self.observation_space.high, 1.0, self.time == 4, False, {}

            gymnasium.register("MyEnv-v0", entry_point=MyEnv)
        """)
    )
    given = [f"--{name.replace('_', '-')}={value}" for name, value in TINY.items()]
    path = f"{tmp_path}:{environment().get('PYTHONPATH', '')}"
    done = chorus_command("train", "double-dqn", "--env", "my_package:MyEnv-v0", "--scale", "smoke", *given,
                          "--out", tmp_path / "out", PYTHONPATH=path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "out").iterdir()
    assert run.name.startswith("my_package-MyEnv-v0__double-dqn-")
    assert re.search(r"individual +4\.00 ", done.stdout)


class Residual(nn.Module):
    """A torso nobody here has thought of."""

    width: int = 8

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)
        return x + nn.tanh(nn.Dense(self.width)(x))


class Clumsy(nn.Module):
    @nn.compact
    def __call__(self, x):
        return jnp.reshape(x, (x.shape[0], 17))


@pytest.fixture(scope="module")
def own_torso_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("own")
    return chorus.train("cerl", "CartPole-v1", scale="smoke", out=out, torso=Residual(), quiet=True, members=2, **TINY)


@pytest.mark.long
def test_a_torso_of_the_users_own_is_lifted_over_members(own_torso_run):
    assert status(own_torso_run)["state"] == "finished"
    player = chorus.load(own_torso_run, torso=Residual())
    shapes = {leaf.shape for leaf in np.asarray(player.params["members"]["layer_0"]["Dense_0"]["kernel"])[None]}
    assert shapes == {(2, 4, 8)}
    kernels = np.asarray(player.params["members"]["layer_0"]["Dense_0"]["kernel"])
    assert not np.array_equal(kernels[0], kernels[1])
    action, _ = player.predict(np.zeros(4, np.float32))
    assert action in (0, 1)
    stored = json.loads((own_torso_run / "config.json").read_text())["agent"]["torso"]
    assert stored["kind"] == "custom_torso" and "Residual" in stored["description"]


@pytest.mark.slow
def test_without_its_torso_a_run_says_what_is_missing(own_torso_run, capsys):
    with pytest.raises(chorus.ChorusError, match=r"torso given from Python \(.*Residual.*torso=\.\.\."):
        chorus.load(own_torso_run)
    assert main(["evaluate", str(own_torso_run)]) == 2
    said = capsys.readouterr().err
    assert "chorus.load(run, torso=...)" in said


@pytest.mark.slow
def test_a_run_with_a_torso_of_the_users_own_resumes_to_the_same_bytes(own_torso_run, tmp_path):
    """A run that was stopped before its first checkpoint; another torso than the run's does not fit it."""
    request = Request(preset="cerl", env="CartPole-v1", seed=0, scale="smoke", options={"members": 2, **TINY},
                      torso=custom(Residual()))  # fmt: skip
    _, run = create_run(resolve(request), tmp_path)
    assert status(run)["state"] == "running"
    with pytest.raises(chorus.ChorusError, match="torso="):
        chorus.resume(run, quiet=True)
    assert chorus.resume(run, torso=Residual(), quiet=True) == run
    assert logs(run) == logs(own_torso_run)
    with pytest.raises(chorus.ChorusError, match="has changed since the checkpoint"):
        chorus.load(run, torso=Residual(width=16))


def test_a_torso_that_does_not_fit_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(chorus.ChorusError, match=r"shape \(4,\) .*change agent\.torso"):
        chorus.train("double-dqn", "CartPole-v1", scale="smoke", out=tmp_path / "out", torso=Clumsy(), **TINY)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_an_environment_that_cannot_draw_is_refused_a_film_with_a_sentence(tmp_path, capsys):
    request = Request(preset="double-dqn", env="SmokeCountsFromFive-v0", scale="smoke", options=TINY)
    assembly, run = create_run(resolve(request), tmp_path)
    train_run(assembly, run, Silent())
    shutil.rmtree(run / "replay", ignore_errors=True)
    assert main(["evaluate", str(run), "--video", str(tmp_path / "film.mp4")]) == 2
    said = capsys.readouterr().err
    assert "cannot be filmed" in said and "render_mode" in said
    assert not (tmp_path / "film.mp4").exists()
