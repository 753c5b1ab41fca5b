"""Processes of the local engine that train one run after the other."""

import subprocess
import tempfile
from dataclasses import replace

import pytest

from chorus import plugins
from chorus.runs.tracking import Tracking
from chorus.scheduling.engines import Ended, local
from chorus.scheduling.engines.local import LocalEngine, leaves_nothing_behind
from chorus.scheduling.grid import run_grid
from killing import PATIENCE_SECONDS, wait_for
from running import finished_probe_run, logs
from small_jobs import small_jobs

PRESET = ("bootstrapped-dqn",)


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch):
    """Runs that a plugin may be part of have processes of their own, and other tests load plugins."""
    monkeypatch.setattr(plugins, "_LOADED", [])


@pytest.mark.slow
@pytest.mark.usefixtures("warm_workers")
def test_one_process_trains_run_after_run_to_the_bytes_of_each_alone_and_a_new_one_follows_if_it_is_killed(tmp_path):
    jobs = small_jobs(tmp_path, seeds=4, presets=PRESET, members=2)[1:]
    engine = LocalEngine(1)
    processes, begin = [], engine.start

    def start(job):
        begin(job)
        processes.append(engine._running[0].process)
        if len(processes) == 2:
            # In the middle of the second run of the process.
            wait_for(lambda: job.step() > 0, PATIENCE_SECONDS)
            processes[-1].kill()

    engine.start = start
    result = run_grid(jobs, engine, quiet=True)
    assert (result.exit_code, [job.state for job in jobs]) == (0, ["finished"] * 3)
    first, second, third, again = processes
    assert first is second is not third is again
    assert [process.returncode is not None for process in processes] == [True] * 4
    reference = finished_probe_run()
    assert jobs[2].name == reference.name and logs(jobs[2].path) == logs(reference)


def test_only_runs_that_leave_nothing_behind_share_a_process(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")

    def shares(tracking=None, **options):
        (job,) = small_jobs(tmp_path, seeds=1, **options)
        return leaves_nothing_behind(replace(job, tracking=tracking) if tracking else job)

    assert shares()
    assert not shares(device="gpu")
    assert not shares(env="CartPole-v1", max_episode_steps=20)
    assert not shares(tracking=Tracking(tensorboard=True))
    monkeypatch.setattr(plugins, "_LOADED", [plugins._Plugin("my_plugin", "my_plugin", None, asked_for=True)])
    assert not shares()


@pytest.mark.slow
@pytest.mark.usefixtures("warm_workers")
def test_a_waiting_process_makes_room_for_a_run_that_needs_one_of_its_own(tmp_path):
    jobs = small_jobs(tmp_path, seeds=1) + small_jobs(tmp_path, seeds=1, env="CartPole-v1", max_episode_steps=20)
    engine, processes = LocalEngine(1), []
    for job in jobs:
        engine.start(job)
        processes.append(engine._running[0].process)
        wait_for(lambda: engine.wait(0.1), PATIENCE_SECONDS)
        assert job.state == "finished"
    first, second = processes
    assert first is not second and first.poll() is not None and second.poll() is not None
    engine.stop()


def test_a_run_whose_process_dies_after_its_end_has_ended_well(tmp_path):
    """Its last word is read before its exit code."""
    (job,) = small_jobs(tmp_path, seeds=1)
    process = subprocess.Popen(["sh", "-c", "echo done; kill -9 $$"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.wait()
    with tempfile.TemporaryFile("w+") as stderr:
        worker = local._Worker(job, process, stderr, gpu=None)
        assert worker.has_ended_run() and worker.has_ended_run()
        engine = LocalEngine(1)
        engine._running.append(worker)
        assert engine._end(worker) == Ended(job)
