"""Every preset on every family of environments: trains, evaluates its policies, checkpoints, finishes."""

import itertools
import math

import pytest
import smoke_worlds  # noqa: F401  (registers its environments)

import chorus
from running import records, status

POLICIES = {
    "double-dqn": ("individual",),
    "bootstrapped-dqn": ("individual", "aggregate"),
    "cerl": ("individual", "aggregate"),
    "cerl-self-target": ("individual", "aggregate"),
    "tandem": ("active", "passive"),
}
ENVS = ("MinAtar/Breakout-v1", "CartPole-v1", "SmokePictures-v0")
TINY = {
    "total_steps": 120, "iteration_steps": 60, "num_envs": 2, "max_episode_steps": 20, "learning_starts": 30,
    "buffer_size": 50, "batch_size": 4, "eval_episodes": 2,
}  # fmt: skip


def check(run, policies) -> None:
    assert status(run)["state"] == "finished"
    metrics = {(r["iteration"], r["metric"]): r["value"] for r in records(run / "metrics.jsonl")}
    evaluated = {name.split("/")[1] for _, name in metrics if name.startswith("eval/")}
    assert evaluated == set(policies)
    for iteration in (1, 2):
        for policy in policies:
            assert metrics[iteration, f"eval/{policy}/episodes"] == 2.0
            assert 0 < metrics[iteration, f"eval/{policy}/episodic_length"] <= 20
        assert metrics[iteration, "losses/td_loss"] >= 0
        assert metrics[iteration, "members/diverged"] == 0.0
        # Large rows leave less room for the final observations of short episodes.
        assert 40 <= metrics[iteration, "replay/transitions"] <= 50
    assert all(math.isfinite(value) for value in metrics.values())
    assert (run / "checkpoints" / "000002" / "state.safetensors").is_file()


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "env"), [*itertools.product(POLICIES, ENVS), ("tandem", "SmokeChannelsFirst-v0")])
def test_every_preset_trains_on_every_family(tmp_path, preset, env):
    more = {} if preset in ("double-dqn", "tandem") else {"members": 2}
    run = chorus.train(preset, env, scale="smoke", out=tmp_path, quiet=True, **TINY, **more)
    check(run, POLICIES[preset])


@pytest.mark.slow
def test_actions_are_given_to_the_environment_by_its_own_names(tmp_path):
    """Discrete(3, start=5): the environment itself refuses any other number."""
    run = chorus.train("double-dqn", "SmokeCountsFromFive-v0", scale="smoke", out=tmp_path, quiet=True, **TINY)
    check(run, ("individual",))
    player = chorus.load(run)
    action, _ = player.predict(player.assembly.spec.example())
    assert action in (5, 6, 7)
