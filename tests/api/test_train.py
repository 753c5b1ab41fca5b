"""`chorus.train` from notebooks and scripts: environments as objects, callbacks, a process of its own, and `Run`."""

import subprocess
import sys
import threading

import gymnasium
import numpy as np
import pytest

import chorus
from chorus.envs import given
from chorus.runs.progress import Silent
from running import environment, logs

OPTIONS = {
    "members": 2, "total_steps": 1600, "iteration_steps": 200, "learning_starts": 40,
    "buffer_size": 60, "batch_size": 8, "eval_episodes": 2, "num_envs": 2,
}  # fmt: skip
TINY = {
    "total_steps": 120, "iteration_steps": 60, "num_envs": 2, "max_episode_steps": 20, "learning_starts": 30,
    "buffer_size": 50, "batch_size": 4, "eval_episodes": 2,
}  # fmt: skip


class World(gymnasium.Env):
    """Four steps of reward 1 per episode."""

    observation_space = gymnasium.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return np.zeros(3, np.float32), {}

    def step(self, action):
        self.time += 1
        return np.ones(3, np.float32), 1.0, self.time == 4, False, {}


class Failing(World):
    def step(self, action):
        print("about to fail")
        raise ValueError("the world ends here")


def probe(out, **more):
    return chorus.train(
        "bootstrapped-dqn", "Probe/Discount-v0", 3, scale="smoke", out=out, quiet=True, **{**OPTIONS, **more}
    )


@pytest.mark.slow
def test_callbacks_see_every_episode_and_iteration_and_may_stop_the_run(probe_run, tmp_path):
    episodes, iterations = [], []

    def stop_after_two(record):
        iterations.append(record)
        if record["iteration"] == 2:
            raise chorus.StopRun

    # Numbers as on the command line.
    run = probe(tmp_path, total_steps=1.6e3, iteration_steps="2e2", on_episode=episodes.append,
                on_iteration=stop_after_two)  # fmt: skip
    assert (run.state, run.status["iteration"]) == ("stopped", 2)
    assert [record["step"] for record in iterations] == [200, 400]
    assert iterations[0]["metrics"]["charts/episodes"] == sum(record["iteration"] == 1 for record in episodes)
    assert set(episodes[0]) == {"iteration", "step", "slot", "member", "return", "length"}
    with pytest.raises(chorus.ChorusError, match=r"has not ended; pass resume=True"):
        probe(tmp_path, exist_ok=True)
    assert probe(tmp_path, resume=True) == run
    assert logs(run) == logs(probe_run), "as if it had never been stopped"
    assert probe(tmp_path, exist_ok=True).resume() == run


@pytest.mark.slow
def test_the_first_gradient_step_is_announced_because_it_compiles(tmp_path, monkeypatch):
    phases = []

    class Phases(Silent):
        def phase(self, name):
            phases.append(name)

    monkeypatch.setattr("chorus.api.for_terminal", lambda quiet: Phases())
    chorus.train("double-dqn", World, scale="smoke", out=tmp_path, **TINY)
    assert phases[:2] == ["training", "compiling"] and phases.count("compiling") == 1


@pytest.mark.slow
def test_what_a_callback_raises_is_raised_after_the_iteration_was_saved(tmp_path):
    def fail(record):
        raise RuntimeError(f"at step {record['step']}")

    with pytest.raises(RuntimeError, match="at step"):
        probe(tmp_path, on_episode=fail)
    (run,) = chorus.runs(tmp_path)
    assert (run.state, run.status["iteration"]) == ("stopped", 1)


@pytest.mark.slow
def test_a_run_is_a_path_with_numbers_curves_and_an_agent(probe_run, monkeypatch):
    run = chorus.Run(probe_run)
    assert run == probe_run and open(run / "metrics.jsonl").readline().startswith("{")  # noqa: PTH123, SIM115
    assert run.config["seed"] == 3 and run.state == "finished" and type(run / "config.json") is type(probe_run)
    table = run.metrics()
    assert list(table["iteration"]) == list(range(1, 9)) and table["step"].iloc[-1] == 1600
    step, value = run.curve("individual")
    np.testing.assert_array_equal(value, table["eval/individual/episodic_return"])
    assert run.scores()["individual"] == pytest.approx(value[-10:].mean())
    with pytest.raises(chorus.ChorusError, match="'passive' was not evaluated in this run; there are aggregate"):
        run.curve("passive")
    evaluation = run.evaluate(20, "individual", seed=1)
    assert len(evaluation.returns) == 20 and evaluation.interval[0] <= evaluation.mean <= evaluation.interval[1]
    axes = run.plot("individual")
    assert list(axes.lines[0].get_xdata()) == list(step) and axes.get_xlabel() == "agent steps"
    assert axes.get_title() == "bootstrapped-dqn on Probe/Discount-v0, seed 3"
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert run.metrics()["step"].tolist() == table["step"].tolist()


@pytest.mark.long
def test_an_environment_may_be_a_class_or_a_function(tmp_path, monkeypatch):
    run = chorus.train("double-dqn", World, scale="smoke", out=tmp_path, quiet=True, **TINY)
    assert run.config["env"]["id"] == "test_train:World" and run.scores() == {"individual": 4.0}
    limited = chorus.train("double-dqn", lambda: gymnasium.wrappers.TimeLimit(World(), 3), scale="smoke", out=tmp_path,
                           quiet=True, in_process=True, on_iteration=lambda record: False, **TINY)  # fmt: skip
    assert limited.config["env"]["id"] == "python:lambda"
    assert limited.curve().value.tolist() == [3.0]
    # As in another program: the environment is code, and is given again.
    monkeypatch.setattr(given, "_MAKERS", {})
    with pytest.raises(chorus.ChorusError, match=r"'python:lambda' was given from Python .*env=\.\.\."):
        limited.player()
    assert chorus.resume(limited, env=lambda: World(), in_process=True, quiet=True).state == "finished"


def test_an_environment_that_cannot_be_handed_over_needs_this_process(tmp_path):
    lock = threading.Lock()
    with pytest.raises(chorus.ChorusError, match=r"'python:lambda' cannot be handed to another.*in_process=True"):
        chorus.train(
            "double-dqn", lambda: World() if lock else 0, scale="smoke", out=tmp_path, in_process=False, **TINY
        )
    with pytest.raises(chorus.ChorusError, match=r"made: its constructor raised TypeError: it made int"):
        chorus.train("double-dqn", lambda: 3, scale="smoke", out=tmp_path)
    assert not list(tmp_path.iterdir())


# As in a notebook: JAX has computed with other threads, and the classes can be imported by nobody.
NOTEBOOK = """
import sys
import flax.linen as nn, gymnasium, jax
import chorus

jax.numpy.arange(3).sum()

class Corridor(gymnasium.Env):
    observation_space, action_space = gymnasium.spaces.Box(-1, 1, (2,)), gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 5
        return self.observation_space.low, {}
    def step(self, action):
        self.left -= 1
        return self.observation_space.low, 1.0, self.left == 0, False, {}

class Torso(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(8)(x))

budget = dict(total_steps=400, iteration_steps=200, max_episode_steps=20)
options = dict(torso=Torso(), scale="smoke", out=sys.argv[1], quiet=True, **budget)
run = chorus.train("double-dqn", Corridor, on_iteration=lambda record: False, **options)
assert run.state == "stopped", run.status
again = chorus.train("double-dqn", Corridor, resume=True, tensorboard=True, **options)
assert again == run and run.scores() == {"individual": 5.0}, run.scores()
assert list((run / "tensorboard").iterdir()), "trackers of a run that is resumed"
player = run.player(torso=Torso())
assert player.predict(player.observation_example())[0] in (0, 1)
"""


@pytest.mark.long
def test_a_class_of_a_notebook_trains_after_jax_has_been_used(tmp_path):
    (tmp_path / "notebook.py").write_text(NOTEBOOK)
    done = subprocess.run(
        [sys.executable, tmp_path / "notebook.py", tmp_path / "runs"],
        env=environment(CHORUS_IN_PROCESS=None, NPROC=None),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_a_process_of_its_own_trains_whatever_this_one_has_computed(probe_run, tmp_path, capsys):
    """This process computes with one thread, so that it could not train a run of two."""
    with pytest.raises(chorus.ChorusError, match="already computes with 1 threads"):
        probe(tmp_path, threads=2)
    seen = []
    run = probe(tmp_path, in_process=False, on_iteration=lambda record: seen.append(record) or len(seen) < 2)
    assert (run.state, run.status["iteration"], len(seen)) == ("stopped", 2, 2)
    assert run.resume(in_process=False, quiet=True, on_episode=seen.append).state == "finished"
    assert logs(run) == logs(probe_run) and len(seen) > 2
    two = probe(tmp_path, threads=2, in_process=False, on_episode=lambda record: False)
    assert (two.state, two.status["iteration"]) == ("stopped", 1)


@pytest.mark.slow
def test_what_goes_wrong_in_the_process_is_said_here(tmp_path, capsys):
    with pytest.raises(chorus.ChorusError, match=r"(?s)ended with exit code 1.*in_process=True.*the world ends here"):
        chorus.train("double-dqn", Failing, scale="smoke", out=tmp_path, quiet=True, in_process=False, **TINY)
    (run,) = chorus.runs(tmp_path)
    assert run.state == "failed" and "about to fail" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"preset": None}, "a preset is missing; `chorus list`"),
        ({"env": None}, "--env is missing; `chorus list envs`"),
        ({"env": 3}, "env is 3; it must be an environment id, a Gymnasium environment class"),
        ({"seed": "one"}, "seed is 'one'; it must be a whole number"),
        ({"seed": -1}, "--seed is -1; it must not be negative"),
        ({"quiet": "yes"}, "quiet is 'yes'; it must be True or False"),
        ({"torso": 3}, "torso is 3; it must be a flax module"),
        ({"on_episode": 3}, "on_episode is 3; it must be a function"),
        ({"members": "three"}, "members is 'three', which cannot be read: 'three' is not a whole number"),
        ({"members": 2.5}, "config.agent.members is 2.5; it must be of type int"),
        ({"scale": "huge"}, "scale is 'huge'; it must be one of smoke, laptop, paper"),
        ({"hyperparameters": "book"}, "hyperparameters is 'book'; it must be one of code, table"),
        ({"membres": 3}, "the option 'membres' is not known; did you mean 'members'?"),
        ({"config": {"agent": {"memberss": 3}}}, "config.agent.memberss is not known; did you mean 'members'?"),
        ({"config": {"seed": "x"}}, "config.seed is 'x'; it must be of type int"),
        ({"lr": 0.1, "learning_rate": 0.2}, "learning_rate is given twice"),
        ({"out": "x" * 300}, "out has a name of 300 bytes; file systems allow 255"),
    ],
    ids=str,
)
def test_wrong_arguments_get_the_sentences_of_the_command_line(tmp_path, wrong, sentence):
    with pytest.raises(chorus.ChorusError) as refused:
        chorus.train(**{"preset": "cerl", "env": "Probe/Discount-v0", "out": tmp_path / "out", **wrong})
    assert sentence in str(refused.value) and "cannot be used: config.agent.members is" not in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_configuration_may_be_a_dictionary_with_numpys_numbers(tmp_path):
    from chorus.api import _config
    from chorus.config.resolution import Request, resolve

    content = {"agent": {"members": np.int64(3)}, "schedule": {"total_steps": 1e5}, "seed": 4}
    config = resolve(Request(preset="cerl", env="CartPole-v1", file=_config(content))).config
    assert (config.agent.members, config.schedule.total_steps, config.seed) == (3, 100_000, 4)


def test_names_of_the_package_are_there_and_nothing_is_imported_for_them():
    import subprocess

    program = (
        "import sys, chorus; chorus.__version__, dir(chorus); sys.exit(any(n in sys.modules for n in ('jax', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
    assert all(getattr(chorus, name) is not None for name in chorus.__all__)
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        chorus.trian  # noqa: B018
