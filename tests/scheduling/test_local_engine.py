"""The local engine: real processes, real interrupts, real kills."""

import os
import platform
import re
import signal
import subprocess
import textwrap
import time
from dataclasses import replace

import pytest

from chorus.envs.registry import describe
from chorus.errors import ChorusError, ChorusWarning
from chorus.runs.resources import ring_layout
from chorus.runs.run_directory import RunDirectory
from chorus.runs.tracking import Tracking
from chorus.scheduling.engines import choose_engine, local
from chorus.scheduling.engines.local import LocalEngine, workers_that_fit
from chorus.scheduling.grid import run_grid
from chorus.scheduling.jobs import jobs_of, memory_bytes
from chorus.studies.table import find_study
from killing import PATIENCE_SECONDS, end_in_the_middle, lines_since_checkpoint, wait_for
from running import chorus, finished_probe_run, logs, status
from small_jobs import ScriptedEngine, small_jobs, small_sweep
from tracked import scalars, wandb_history

PRESET = ("bootstrapped-dqn",)


def sweep(out, seeds, *more):
    return small_sweep(out, seeds, *more, preset=PRESET[0], members=2)


@pytest.mark.long
def test_a_process_a_run_and_the_bytes_of_chorus_train_with_trackers_that_work_and_fail(tmp_path, monkeypatch):
    monkeypatch.delenv("WANDB_MODE", raising=False)
    jobs = small_jobs(tmp_path, seeds=4, presets=PRESET, members=2)[2:]
    failing, working = (Tracking(tensorboard=True, track=True, wandb={"mode": mode}) for mode in ("none", "offline"))
    jobs = [replace(job, tracking=one) for job, one in zip(jobs, (failing, working), strict=True)]
    with pytest.warns(ChorusWarning, match=f"{jobs[0].name}: Weights & Biases failed .* goes on without it"):
        result = run_grid(jobs, choose_engine("local", jobs, workers=2), quiet=True)
    assert len(wandb_history(jobs[1].path)) > 8
    assert [len(scalars(job.path / "tensorboard")["charts/SPS"]) for job in jobs] == [8, 8]
    assert (result.exit_code, [job.state for job in jobs]) == (0, ["finished"] * 2)
    reference = finished_probe_run()
    assert jobs[1].name == reference.name
    assert logs(jobs[1].path) == logs(reference)
    assert logs(jobs[0].path)["metrics.jsonl"] != logs(reference)["metrics.jsonl"]


@pytest.mark.long
def test_a_failing_run_is_tried_twice_and_reported_with_its_last_words(tmp_path, monkeypatch):
    (tmp_path / "broken_robot.py").write_text(
        textwrap.dedent("""
        import gymnasium

        class Robot(gymnasium.Env):
            observation_space, action_space = gymnasium.spaces.Box(-1, 1, (2,)), gymnasium.spaces.Discrete(2)
            def reset(self, *, seed=None, options=None):
                return self.observation_space.sample(), {}
            def step(self, action):
                raise RuntimeError("the arm fell off")

        gymnasium.register("Robot-v0", Robot, max_episode_steps=20)
        """)
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.syspath_prepend(tmp_path)
    broken = small_jobs(tmp_path / "runs", seeds=1, env="broken_robot:Robot-v0")
    sound = small_jobs(tmp_path / "runs", seeds=1, presets=PRESET, members=2)
    engine = LocalEngine(1)
    started = []
    begin, engine.start = engine.start, lambda job: (started.append(job.name), begin(job))
    result = run_grid(broken + sound, engine, quiet=True)
    assert [failure.job for failure in result.failures] == broken
    assert result.failures[0].problem.splitlines()[-1] == "RuntimeError: the arm fell off"
    assert started == [broken[0].name, sound[0].name, broken[0].name]
    assert sound[0].state == "finished" and broken[0].state == "failed"


@pytest.mark.slow
def test_what_a_sentence_explains_is_not_tried_again(tmp_path):
    """A folder that is no run: the sentence says so, and the second attempt would say the same."""
    (job,) = small_jobs(tmp_path, seeds=1)
    job.path.mkdir()
    (job.path / "notes.txt").write_text("mine")
    engine = LocalEngine(1)
    engine.start(job)
    (ended,) = engine.wait(PATIENCE_SECONDS)
    assert ended.hopeless and "is no run" in ended.problem
    assert (job.path / "notes.txt").read_text() == "mine"


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_stopped_in_the_middle_the_same_command_goes_on_to_the_same_bytes(tmp_path, how):
    out = tmp_path / "runs"
    arguments = sweep(out, "2-3", "--workers", "2")
    said, code = end_in_the_middle(out, arguments, how)
    if how == signal.SIGINT:
        assert code == 130
        assert "stopped; " in said and "Resume with: " in said and "chorus sweep --preset" in said
        # Iterations were finished and saved before the command ended.
        under_way = [run for run in out.glob("[!.]*__s*") if status(run)["state"] != "finished"]
        assert under_way and all(status(run)["state"] == "stopped" for run in under_way)
        assert not any(map(lines_since_checkpoint, under_way))
    # Whatever happened to the command, its runs have let go of their folders.
    wait_for(lambda: not any(in_use(run) for run in out.glob("[!.]*__s*")), PATIENCE_SECONDS)
    again = chorus(*arguments)
    assert again.returncode == 0, again.stderr
    assert "2 of 2 runs have ended" in again.stdout
    assert "resumed near step" in again.stderr
    reference = finished_probe_run()
    assert logs(out / reference.name) == logs(reference)


@pytest.mark.slow
def test_a_batch_system_is_heard_like_an_interrupt(tmp_path):
    said, code = end_in_the_middle(tmp_path, sweep(tmp_path, 1), signal.SIGTERM)
    assert code == 130 and "stopped; 0 of 1 runs have ended" in said


def in_use(run):
    import fcntl

    with (run / "config.json").open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_stop_ends_what_is_under_way(tmp_path):
    jobs = small_jobs(tmp_path, seeds=2)
    engine = LocalEngine(2)
    for job in jobs:
        engine.start(job)
    processes = [one.process for one in engine._running]
    began = time.monotonic()
    engine.stop()
    # Before they listen, the first of the two signals ends them.
    assert all(process.returncode in (-signal.SIGINT, -signal.SIGTERM) for process in processes)
    assert engine.wait(0.0) == [] and time.monotonic() - began < PATIENCE_SECONDS


def test_as_many_runs_at_once_as_fit(tmp_path, monkeypatch):
    jobs = small_jobs(tmp_path, seeds=9, threads=2)
    monkeypatch.setattr(local, "usable_cores", lambda: 8)
    monkeypatch.setattr(local, "free_memory_bytes", lambda: 100e9)
    assert workers_that_fit(jobs) == 8 // 2
    assert workers_that_fit(jobs[:3]) == 3
    need = memory_bytes(jobs[0])
    monkeypatch.setattr(local, "free_memory_bytes", lambda: int(3.5 * need))
    assert workers_that_fit(jobs) == 3
    monkeypatch.setattr(local, "free_memory_bytes", lambda: need // 2)
    assert workers_that_fit(jobs) == 1
    assert workers_that_fit([]) == 1


def test_the_replay_counts_towards_the_memory_a_run_needs(tmp_path):
    (small,) = small_jobs(tmp_path, seeds=1, env="MinAtar/Breakout-v1", max_episode_steps=50, buffer_size=2_000)
    (large,) = small_jobs(tmp_path, seeds=1, env="MinAtar/Breakout-v1", max_episode_steps=50, buffer_size=102_000)
    # 10 x 10 x 4 cells of a bit and the columns of a transition beside them, 50 and 11 bytes: half of the mapped file,
    # and the whole ring again as arrays of the compiled loop, with its slack of rows that do not depend on capacity.
    assert memory_bytes(large) - memory_bytes(small) == 100_000 * 61 / 2 + _ring_bytes(large) - _ring_bytes(small)
    assert _ring_bytes(large) - _ring_bytes(small) > 100_000 * 61


def _ring_bytes(job):
    return ring_layout(job.config, describe(job.config.env.id, job.config.env.max_episode_steps)).total_bytes


def test_learner_batches_and_evaluation_count_towards_the_memory_a_run_needs(tmp_path):
    """Scheduling counts what the run itself checks when it starts; an observation of the probe is one float32."""

    def need(**more):
        options = {"members": 2, "buffer_size": 60_000, "eval_envs": 2} | more
        (job,) = small_jobs(tmp_path, seeds=1, presets=PRESET, **options)
        return memory_bytes(job)

    # States and next states, each as 4 stored bytes and 4 bytes of input.
    assert need(batch_size=50_008) - need() == 2 * 50_000 * (4 + 4)
    assert need(eval_envs=1_002) - need() == 1_000 * (4 + 4 + 1_000)
    # A member has 1x16 + 16x16 + 16x2 weights, 16 + 16 + 1 biases and three totals: network, target and two moments.
    parameters = 1 * 16 + 16 * 16 + 16 * 2 + 16 + 16 + 1
    assert need(members=12) - need() == 10 * 4 * (4 * parameters + 3)


@pytest.mark.slow
def test_four_million_frames_fit_a_node_of_24_gigabytes(tmp_path):
    """The paper's largest replay, 28 GB of mapped files, half of which stays in memory."""
    job = jobs_of(find_study("figure18").parts[0], "paper", tmp_path, "gpu")[0]
    assert job.config.replay.capacity == 4_000_000 and 14e9 < memory_bytes(job) < 16e9


def test_a_process_that_dies_before_it_reads_is_one_failed_run(tmp_path, monkeypatch):
    """Real processes that end at once; each is waited for, so that writing to it meets a closed pipe."""
    start = subprocess.Popen

    def dead(command, **more):
        process = start(["false"], **more)
        process.wait()
        return process

    monkeypatch.setattr(local.subprocess, "Popen", dead)
    jobs = small_jobs(tmp_path, seeds=2)
    result = run_grid(jobs, LocalEngine(1), quiet=True)
    assert [failure.job for failure in result.failures] == jobs
    assert "exit code 1 without an error message" in result.failures[0].problem


def test_more_workers_than_graphics_processors_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    jobs = small_jobs(tmp_path, seeds=3, device="gpu")
    with pytest.raises(
        ChorusError, match=r"--workers is 3, and 3 runs .* of which 2 can be seen here; use --workers 2"
    ):
        choose_engine("local", jobs, workers=3)


@pytest.mark.slow
def test_a_graphics_processor_of_a_run_that_could_not_start_is_free_again(tmp_path, monkeypatch):
    def refused(*args, **more):
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5")
    monkeypatch.setattr(local.subprocess, "Popen", refused)
    jobs = small_jobs(tmp_path, seeds=2, device="gpu")
    result = run_grid(jobs, LocalEngine(1), quiet=True)
    assert [failure.problem for failure in result.failures] == ["[Errno 11] Resource temporarily unavailable"] * 2


def test_runs_get_graphics_processors_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    jobs = small_jobs(tmp_path, seeds=3, device="gpu")
    assert workers_that_fit(jobs) <= 2
    given = []
    monkeypatch.setattr(local.subprocess, "Popen", lambda *args, env, **more: given.append(env) or _NoProcess())
    engine = LocalEngine(2)
    for job in jobs[:2]:
        engine.start(job)
    assert [env["CUDA_VISIBLE_DEVICES"] for env in given] == ["2", "5"]
    assert {env["OMP_NUM_THREADS"] for env in given} == {"1"}
    engine._running[0].process.returncode = 0
    assert [ended.job for ended in engine.wait(0.0)] == [jobs[0]]
    engine.start(jobs[2])
    assert given[-1]["CUDA_VISIBLE_DEVICES"] == "2"


class _NoProcess:
    """Stands where a process would be."""

    def __init__(self):
        import io

        self.stdin, self.stdout, self.returncode = io.StringIO(), None, None

    def poll(self):
        return self.returncode


def test_caches_of_killed_sweeps_are_removed_and_those_of_living_ones_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(local.tempfile, "tempdir", str(tmp_path))
    ended = subprocess.Popen(["true"])
    ended.wait()
    start = f"chorus-compiled-{platform.node()}-"
    names = [f"{start}{ended.pid}-abc", f"{start}{os.getpid()}-abc", f"{start}abc-def"]
    names += [f"chorus-compiled-another-machine-{ended.pid}-abc"]
    for name in names:
        (tmp_path / name / "inside").mkdir(parents=True)
    local.remove_abandoned_caches()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names[1:])


def test_a_grid_says_that_a_run_fell_back_to_an_older_checkpoint_even_if_quiet(tmp_path):
    (job,) = small_jobs(tmp_path, seeds=1)
    note = "checkpoint 000007 is damaged (its arrays do not match their hash) and is left aside"

    class Fallback(ScriptedEngine):
        def end_well(self, job):
            super().end_well(job)
            RunDirectory(job.path).write_status("finished", notes=[note])

    with pytest.warns(ChorusWarning, match=re.escape(f"{job.name}: {note}")):
        run_grid([job], Fallback(), quiet=True)
