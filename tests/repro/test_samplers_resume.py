"""Runs whose samplers know more than the ring's window resume to the same bytes: owners and masks are in the replay."""

import pytest

from chorus.config.resolution import Request, resolve
from chorus.runs.lifecycle import create_run, resume_run, train_run
from chorus.runs.progress import Silent
from running import logs, records, status

# A replay of 60 transitions, written round and round; iterations of 100 steps.
TINY = {
    "members": 3, "num_envs": 2, "total_steps": 800, "iteration_steps": 100, "learning_starts": 40, "buffer_size": 60,
    "batch_size": 8, "eval_episodes": 2,
}  # fmt: skip


class StopsAt(Silent):
    def __init__(self, step: int) -> None:
        self._step = step

    def advance(self, step: int) -> None:
        if step >= self._step:
            raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["self-oversampled", "data-bootstrapped"])
def test_a_stopped_run_resumes_to_the_same_bytes(tmp_path, preset):
    resolved = resolve(Request(preset=preset, env="Probe/Discount-v0", scale="smoke", options={**TINY, "n_step": 2}))
    assembly, whole = create_run(resolved, tmp_path / "whole")
    train_run(assembly, whole, Silent())
    assembly, stopped = create_run(resolved, tmp_path / "stopped")
    for step in (60, 350, 640):  # before the first checkpoint, and in the middle of later iterations
        with pytest.raises(KeyboardInterrupt):
            train_run(assembly, stopped, StopsAt(step))
        assert status(stopped)["state"] == "stopped"
    resume_run(stopped, Silent())
    assert status(stopped)["state"] == "finished"
    assert logs(stopped) == logs(whole)

    metrics = {(r["iteration"], r["metric"]): r["value"] for r in records(whole / "metrics.jsonl")}
    assert {iteration for iteration, _ in metrics} == set(range(1, 9))
    # 25 updates of three members in each of 7 iterations: 525 coins, a deviation of 0.02 at most.
    expected = 0.5 + 0.5 / 3 if preset == "self-oversampled" else 1 / 3
    for name in ("replay/own_sampled/mean", "replay/own_sampled_episodes/mean"):
        own = [metrics[iteration, name] for iteration in range(2, 9)]
        assert sum(own) / len(own) == pytest.approx(expected, abs=0.08)
