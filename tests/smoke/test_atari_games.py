"""Atari games of the paper with the fewest and the most actions, trained for a hundred steps with a shrunk network.

To the learner games differ in this number only; `unit/test_atari.py` makes and steps all of them.
"""

import pytest

from chorus.config.resolution import Request, resolve
from chorus.envs.atari_games import games, minimal_actions, named_sets
from chorus.runs.lifecycle import create_run, train_run
from chorus.runs.progress import Silent
from running import records, status

SHRUNK = {
    "total_steps": 100, "iteration_steps": 100, "max_episode_steps": 30, "learning_starts": 40, "buffer_size": 50,
    "batch_size": 8, "num_envs": 1, "eval_episodes": 1, "eval_envs": 1,
}  # fmt: skip
BY_ACTIONS = sorted(named_sets()["atari55"], key=lambda env_id: minimal_actions(games()[env_id]))


@pytest.mark.long
@pytest.mark.parametrize("env_id", (BY_ACTIONS[0], BY_ACTIONS[-1]))
def test_games_with_few_and_with_many_actions_train(tmp_path, env_id):
    request = Request(preset="double-dqn", env=env_id, scale="smoke", options=SHRUNK)
    made, run = create_run(resolve(request), tmp_path)
    train_run(made, run, Silent())
    assert status(run)["state"] == "finished"
    metrics = {record["metric"]: record for record in records(run / "metrics.jsonl")}
    assert metrics["losses/td_loss"]["value"] >= 0.0
    assert metrics["replay/transitions"]["value"] == 50
    assert metrics["eval/individual/episodic_length"]["value"] <= 30
    step = metrics["losses/td_loss"]["step"]
    assert 100 <= step < 130 and metrics["losses/td_loss"]["frames"] == 4 * step
    assert len(records(run / "episodes.jsonl")) == metrics["charts/episodes"]["value"] >= 3
