"""A member that diverges is named and marked; the others go on, and a run ends only when none is left."""

import dataclasses
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chorus.agents.q import Agent, AgentState
from chorus.cli.main import main
from chorus.config.resolution import Request, resolve
from chorus.runs.assembly import Assembly
from chorus.runs.progress import Silent
from chorus.runs.run_directory import RunDirectory
from chorus.runs.stopping import StopRequest
from chorus.runs.trackers import Trackers
from chorus.training import checkpoint
from running import records, status

OPTIONS = {
    "members": 3, "total_steps": 600, "iteration_steps": 200, "learning_starts": 240, "buffer_size": 60,
    "batch_size": 8, "eval_episodes": 2, "num_envs": 2,
}  # fmt: skip


class Listening(Silent):
    """A progress view that remembers what was said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, message: str) -> None:
        self.said.append(message)


def poisoned(agent: Agent, members: tuple[int, ...], value: float) -> Agent:
    """The same agent, born with some members' heads at `value`."""

    def init(key: jax.Array) -> AgentState:
        state = agent.init(key)
        heads = jax.tree.map(lambda leaf: leaf.at[jnp.array(members)].set(value), state.params["heads"])
        return state._replace(params={**state.params, "heads": heads})

    return dataclasses.replace(agent, init=init)


def train_poisoned(path: Path, members: tuple[int, ...], value: float) -> tuple[dict, list[str]]:
    config = resolve(Request(preset="bootstrapped-dqn", env="Probe/Discount-v0", scale="smoke", options=OPTIONS)).config
    whole = Assembly.of(config)
    assembly = Assembly(config, whole.spec, poisoned(whole.agent, members, value))
    directory, progress = RunDirectory(path), Listening()
    directory.create(config.to_json(), {})
    directory.lock()
    return assembly.training(
        directory, progress, Trackers(), keep_replay=False, stop=StopRequest()
    ).run(), progress.said


@pytest.mark.slow
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_member_that_diverges_is_named_and_marked_and_the_others_go_on(tmp_path, value):
    ended, said = train_poisoned(tmp_path / "run", (1,), value)
    assert ended == {"state": "finished", "reason": None, "iteration": 3, "diverged_members": [1]}
    assert status(tmp_path / "run") == ended
    assert said == ["member 1 diverged: its values are no longer finite; the others go on"]
    metrics = {(r["iteration"], r["metric"]): r["value"] for r in records(tmp_path / "run" / "metrics.jsonl")}
    # Learning starts in the second iteration: before it no loss tells.
    assert [metrics[i, "members/diverged"] for i in (1, 2, 3)] == [0.0, 1.0, 1.0]
    assert metrics[3, "losses/td_loss"] > 0
    assert (1, "losses/td_loss") not in metrics
    found, complaints = checkpoint.find(tmp_path / "run" / "checkpoints")
    assert [kept.diverged_members for kept in found] == [(1,), (1,)] and not complaints
    state = found[-1].load_state(jax.eval_shape(Assembly.of(_stored(tmp_path / "run")).agent.init, jax.random.key(0)))
    for leaf in jax.tree.leaves(state.params["heads"]):
        assert np.isfinite(np.asarray(leaf)[[0, 2]]).all()


@pytest.mark.long
def test_a_continuous_member_that_diverges_does_not_reach_the_others_through_the_replay(tmp_path):
    given = {**OPTIONS, "max_episode_steps": 50}
    config = resolve(Request(preset="ensemble-sac", env="Pendulum-v1", scale="smoke", options=given)).config
    whole = Assembly.of(config)

    def init(key: jax.Array) -> AgentState:
        state = whole.agent.init(key)
        policy = jax.tree.map(lambda leaf: leaf.at[1].set(np.nan), state.params["policy"])
        critic = jax.tree.map(lambda leaf: leaf.at[:, 1].set(np.nan), state.params["critic"])
        return state._replace(params={**state.params, "policy": policy, "critic": critic})

    assembly = Assembly(config, whole.spec, dataclasses.replace(whole.agent, init=init))
    directory = RunDirectory(tmp_path / "run")
    directory.create(config.to_json(), {})
    directory.lock()
    ended = assembly.training(directory, Listening(), Trackers(), keep_replay=False, stop=StopRequest()).run()
    assert (ended["state"], ended["diverged_members"]) == ("finished", [1])
    metrics = {(r["iteration"], r["metric"]): r["value"] for r in records(tmp_path / "run" / "metrics.jsonl")}
    for policy in ("individual", "aggregate"):
        assert metrics[3, f"eval/{policy}/episodic_return"] < 0


def _stored(path: Path):
    from chorus.runs.lifecycle import stored_config

    return stored_config(RunDirectory(path))


@pytest.mark.slow
def test_when_all_members_diverge_the_run_ends_diverged_with_its_last_good_checkpoint(tmp_path):
    ended, said = train_poisoned(tmp_path / "run", (0, 1, 2), np.nan)
    assert ended["state"] == "diverged" and ended["iteration"] == 2
    assert ended["diverged_members"] == [0, 1, 2]
    assert ended["reason"] == "no member has finite values any more"
    assert [line.split(":")[0] for line in said] == [f"member {i} diverged" for i in range(3)]
    assert [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()] == ["000001"]


@pytest.mark.long
def test_a_step_size_that_ruins_every_member_exits_with_code_1(tmp_path, capsys):
    given = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
    arguments = ["--env", "Probe/Discount-v0", "--scale", "smoke", "--learning-rate", "1e30", "--out", str(tmp_path)]
    assert main(["train", "bootstrapped-dqn", *arguments, *given]) == 1
    said = capsys.readouterr()
    (run,) = tmp_path.iterdir()
    assert f"run: {run} (diverged: no member has finite values any more)" in said.out
    assert "member 2 diverged" in said.err
    assert status(run)["state"] == "diverged"
    assert (run / "checkpoints" / "000001" / "state.safetensors").is_file()
    assert main(["resume", str(run)]) == 1
    assert main(["evaluate", str(run), "--episodes", "2"]) == 0


def test_a_run_that_diverged_before_its_first_checkpoint_is_not_sent_to_resume(tmp_path, capsys):
    config = resolve(Request(preset="bootstrapped-dqn", env="Probe/Discount-v0", scale="smoke", options=OPTIONS)).config
    directory = RunDirectory(tmp_path / "run")
    directory.create(config.to_json(), {})
    directory.write_status("diverged", "no member has finite values any more", iteration=1)
    assert main(["evaluate", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert "diverged: no member has finite values" in said and "smaller --learning-rate" in said
    assert "resume" not in said
