"""Both loops tell the same visits, and a run that is stopped counts as one that never was."""

import numpy as np
import pytest

from chorus.config.resolution import Request, resolve
from chorus.replay.ring import Ring
from chorus.runs.assembly import Assembly
from chorus.runs.lifecycle import create_run, resume_run, train_run
from chorus.runs.progress import Silent
from chorus.runs.resources import ring_layout
from chorus.runs.training import training_keys
from chorus.training.compiled import CompiledLoop
from chorus.training.episodes import EpisodeRecorder
from chorus.training.exploration import exploration_log
from chorus.training.loop import Collected
from running import logs, records, status

TINY = {
    "members": 3, "num_envs": 2, "total_steps": 160, "iteration_steps": 80, "learning_starts": 40, "buffer_size": 60,
    "batch_size": 4, "eval_episodes": 2, "eval_envs": 2,
}  # fmt: skip


def resolved(**options):
    request = Request(preset="bootstrapped-dqn", env="DeepSea-5-v0", scale="smoke", options=TINY | options)
    return resolve(request)


def explored(loop, config, spec):
    """What an iteration explores, and what is left after it."""
    log, recorder = exploration_log(config.states, spec, config.agent.members), EpisodeRecorder(2)
    ring, seen = Ring(ring_layout(config, spec)), []
    state = loop.agent.init(training_keys(0, 1).act)
    for event in loop.run(state, ring, 1, training_keys(0, 1), np.random.default_rng(0)):
        if isinstance(event, Collected):
            log.record(event, recorder.record(event.owner[None], event.reward[None], event.ended[None]))
            seen.append([np.array(column) for column in event.visited])
    return log, seen


@pytest.mark.slow
def test_the_compiled_loop_and_the_host_loop_tell_the_same_visits():
    """Before learning starts nothing differs between them, not even the batches."""
    config = resolved(learning_starts=100).config
    assembly = Assembly.of(config)
    assert isinstance(assembly.loop(), CompiledLoop)
    (ours, compiled), (others, host) = (
        explored(loop, config, assembly.spec) for loop in (assembly.loop(), assembly.host_loop())
    )
    assert len(compiled) == 40
    for one, other in zip(compiled, host, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])
    assert ours.metrics() == others.metrics()
    # 40 steps of each of 2 slots are 16 episodes of 5, so the start is seen 16 times.
    np.testing.assert_array_equal(ours.visit_map(), others.visit_map())
    assert ours.visit_map()[0, 0] == 16 and ours.visit_map().sum() == 80
    assert 1 < ours.metrics()["exploration/states_visited"] <= 15


def test_a_loop_that_was_not_asked_shows_no_visits():
    assembly = Assembly.of(resolved(count_states=None).config)
    assert not assembly.loop().shows_visits and not assembly.host_loop().shows_visits


class StopsAt(Silent):
    def __init__(self, step: int) -> None:
        self._step = step

    def advance(self, step: int) -> None:
        if step >= self._step:
            raise KeyboardInterrupt


@pytest.mark.slow
def test_a_stopped_run_resumes_to_the_same_counts(tmp_path):
    asked = resolved(total_steps=320)
    assembly, whole = create_run(asked, tmp_path / "whole")
    train_run(assembly, whole, Silent())
    _, stopped = create_run(asked, tmp_path / "stopped")
    for step in (60, 200):
        with pytest.raises(KeyboardInterrupt):
            train_run(assembly, stopped, StopsAt(step))
    resume_run(stopped, Silent())
    assert status(stopped)["state"] == "finished"
    assert logs(stopped) == logs(whole)
    assert (stopped / "visits.json").read_bytes() == (whole / "visits.json").read_bytes()
    for lost in ("status.json", "visits.json"):
        (stopped / lost).unlink()
    resume_run(stopped, Silent())
    assert (stopped / "visits.json").read_bytes() == (whole / "visits.json").read_bytes()
    logged = [r["value"] for r in records(whole / "metrics.jsonl") if r["metric"] == "exploration/states_visited"]
    assert len(logged) == 4 and logged == sorted(logged)
