"""The paper's 55 games, each trained for a hundred steps with a shrunk network."""

import pytest

import chorus
from chorus.envs.atari_games import named_sets
from running import records, status

SHRUNK = {
    "total_steps": 100, "iteration_steps": 100, "max_episode_steps": 30, "learning_starts": 40, "buffer_size": 50,
    "batch_size": 8, "num_envs": 1, "eval_episodes": 1, "eval_envs": 1,
}  # fmt: skip
GAMES = named_sets()["atari55"]


@pytest.mark.slow
@pytest.mark.parametrize("env_id", GAMES)
def test_every_game_of_the_paper_trains(tmp_path, env_id):
    run = chorus.train("double-dqn", env_id, scale="smoke", out=tmp_path, quiet=True, **SHRUNK)
    assert status(run)["state"] == "finished"
    metrics = {record["metric"]: record for record in records(run / "metrics.jsonl")}
    assert metrics["losses/td_loss"]["value"] >= 0.0
    assert metrics["replay/transitions"]["value"] == 50
    assert metrics["eval/individual/episodic_length"]["value"] <= 30
    step = metrics["losses/td_loss"]["step"]
    assert 100 <= step < 130 and metrics["losses/td_loss"]["frames"] == 4 * step
    assert len(records(run / "episodes.jsonl")) == metrics["charts/episodes"]["value"] >= 3
