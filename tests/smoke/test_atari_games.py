"""The paper's 55 games, each trained for a hundred steps with a shrunk network."""

import pytest

from chorus.agents.agent import Agent
from chorus.config.resolution import Request, resolve
from chorus.envs.atari_games import named_sets
from chorus.runs.assembly import Assembly
from chorus.runs.lifecycle import create_run, train_run
from chorus.runs.progress import Silent
from running import records, status

SHRUNK = {
    "total_steps": 100, "iteration_steps": 100, "max_episode_steps": 30, "learning_starts": 40, "buffer_size": 50,
    "batch_size": 8, "num_envs": 1, "eval_episodes": 1, "eval_envs": 1,
}  # fmt: skip
GAMES = named_sets()["atari55"]


@pytest.fixture(scope="module")
def agents() -> dict[int, Agent]:
    """One agent per number of actions: games that have as many share its compiled functions."""
    return {}


@pytest.mark.slow
@pytest.mark.parametrize("env_id", GAMES)
def test_every_game_of_the_paper_trains(tmp_path, agents, env_id):
    request = Request(preset="double-dqn", env=env_id, scale="smoke", options=SHRUNK)
    made, run = create_run(resolve(request), tmp_path)
    agent = agents.setdefault(made.spec.actions.count, made.agent)
    train_run(Assembly(made.config, made.spec, agent), run, Silent())
    assert status(run)["state"] == "finished"
    metrics = {record["metric"]: record for record in records(run / "metrics.jsonl")}
    assert metrics["losses/td_loss"]["value"] >= 0.0
    assert metrics["replay/transitions"]["value"] == 50
    assert metrics["eval/individual/episodic_length"]["value"] <= 30
    step = metrics["losses/td_loss"]["step"]
    assert 100 <= step < 130 and metrics["losses/td_loss"]["frames"] == 4 * step
    assert len(records(run / "episodes.jsonl")) == metrics["charts/episodes"]["value"] >= 3
