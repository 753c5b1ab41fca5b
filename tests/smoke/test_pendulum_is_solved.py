"""SAC learns: Pendulum swings up and stays there."""

import pytest

import chorus
from running import records

ENOUGH = -200.0


@pytest.mark.long
def test_sac_solves_pendulum(tmp_path):
    """A player that does nothing gets about -1,200; one that swings up at once -150."""
    run = chorus.train(
        "sac", "Pendulum-v1", seed=0, out=tmp_path, quiet=True, total_steps=8_000, iteration_steps=8_000,
        learning_rate=1e-3, eval_episodes=20,
    )  # fmt: skip
    metrics = {record["metric"]: record["value"] for record in records(run / "metrics.jsonl")}
    assert metrics["eval/individual/episodic_return"] > ENOUGH
    assert metrics["eval/individual-mode/episodic_return"] > ENOUGH
