"""`chorus.load(run).predict` where actions are numbers between bounds."""

import gymnasium
import numpy as np
import pytest

import chorus
from chorus.cli.main import main
from running import RUNS, made_once, train

TINY = {
    "total_steps": 200, "iteration_steps": 200, "num_envs": 1, "learning_starts": 30, "buffer_size": 300,
    "batch_size": 8, "eval_episodes": 1, "members": 3,
}  # fmt: skip
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def pendulum_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("pendulum")
    return chorus.train("ensemble-sac", "Pendulum-v1", scale="smoke", out=out, quiet=True, **TINY)


def observations(count):
    return np.random.default_rng(0).normal(size=(count, 3)).astype(np.float32)


def test_actions_are_the_environments_own(pendulum_run):
    player = chorus.load(pendulum_run)
    assert player.policy_name == "aggregate"
    action, state = player.predict(observations(1)[0])
    assert gymnasium.make("Pendulum-v1").action_space.contains(action) and state[0].shape == (1,)
    actions, _ = player.predict(observations(64))
    assert actions.shape == (64, 1) and np.abs(actions).max() <= 2.0 and actions.std() > 0


def test_deterministic_takes_modes_and_the_aggregate_is_the_members_mean(pendulum_run):
    batch = observations(16)

    def modes(policy):
        return chorus.load(pendulum_run, policy).predict(batch, deterministic=True)[0]

    members = [modes(f"member_{i}") for i in range(3)]
    np.testing.assert_allclose(modes("aggregate"), np.mean(members, axis=0), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(modes("member_0"), members[0])
    player = chorus.load(pendulum_run, "member_0")
    drawn = [player.predict(batch)[0] for _ in range(2)]
    assert (drawn[0] != drawn[1]).any()


def test_the_policies_of_a_run_can_be_evaluated_by_name(pendulum_run, capsys):
    for policy in ("individual-mode", "aggregate-mode", "member_2"):
        assert main(["evaluate", str(pendulum_run), "--policy", policy, "--episodes", "1"]) == 0
        said = capsys.readouterr().out
        assert f"policy {policy}, 1 episodes" in said and "action distance" in said


def test_a_film_of_a_mujoco_task_needs_no_screen(tmp_path, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    run = made_once("control", lambda out: train(out, *RUNS["control"], "--seed", "3"))
    film = tmp_path / "hopper.mp4"
    assert main(["evaluate", str(run), "--episodes", "1", "--video", str(film)]) == 0
    assert film.stat().st_size > 1_000
