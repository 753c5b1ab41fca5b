"""Small runs, made in this process, for the Python interface."""

from pathlib import Path

import pytest

import chorus
from running import finished_probe_run


@pytest.fixture(scope="session")
def probe_run() -> Path:
    return finished_probe_run()


@pytest.fixture(scope="session")
def cartpole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    options = {"members": 3, "total_steps": 200, "iteration_steps": 200, "max_episode_steps": 60, "eval_episodes": 2}
    out = tmp_path_factory.mktemp("cartpole")
    return chorus.train("bootstrapped-dqn", "CartPole-v1", 1, scale="smoke", out=out, quiet=True, **options)
