"""The Slurm engine with submitit's local executor: real jobs in processes of this machine, really stopped."""

import os
import signal
import stat
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from chorus.errors import ChorusError
from chorus.runs.tracking import Tracking
from chorus.scheduling.engines.local import LocalEngine
from chorus.scheduling.engines.slurm import Cluster, SlurmEngine
from chorus.scheduling.engines.slurm_folder import own_folder
from chorus.scheduling.engines.slurm_queue import JobState
from chorus.scheduling.engines.slurm_request import SlurmRequest
from chorus.scheduling.engines.slurm_task import SIGNALS, Order, StopOrRequeue, Task
from chorus.scheduling.grid import run_grid
from chorus.scheduling.view import GridLines, Snapshot
from killing import PATIENCE_SECONDS, newest_checkpoint
from processes import holder
from running import logs
from small_jobs import small_jobs
from tracked import scalars


def states_of_processes(job_ids: Iterable[str]) -> dict[str, JobState]:
    """Jobs of the local executor are named by their processes."""
    return {job_id: JobState("RUNNING") for job_id in job_ids if _lives(job_id)}


def _lives(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


LOCAL = Cluster(executor="local", read_states=states_of_processes, longest_array=lambda: 100)


def local_engine(jobs) -> SlurmEngine:
    return SlurmEngine(jobs, SlurmRequest(minutes=60), cluster=LOCAL, settle_seconds=1.0)


class Interfering(GridLines):
    """Sends each run's process a signal of its own, once, after its second checkpoint."""

    def __init__(self, signals: dict[Path, int]) -> None:
        super().__init__()
        self.signals = signals
        self.said: list[str] = []

    def update(self, snapshot: Snapshot) -> None:
        for run, number in list(self.signals.items()):
            if newest_checkpoint(run) >= 2 and (process := holder(run)):
                os.kill(process, number)
                del self.signals[run]

    def say(self, message: str) -> None:
        self.said.append(message)


@pytest.mark.slow
@pytest.mark.usefixtures("warm_workers")
def test_signalled_runs_are_requeued_and_have_the_bytes_of_the_local_engine(tmp_path):
    signals = (signal.SIGTERM, signal.SIGUSR1)
    jobs = small_jobs(tmp_path / "slurm", seeds=2, total_steps=8_000)
    jobs = [replace(job, tracking=Tracking(tensorboard=True)) for job in jobs]
    view = Interfering(dict(zip((job.path for job in jobs), signals, strict=True)))
    result = run_grid(jobs, local_engine(jobs), view=view)
    assert result.exit_code == 0, result.failures
    assert not view.signals
    said = sorted(log.read_text() for log in own_folder(tmp_path / "slurm").glob("*_log.err"))
    for number in signals:
        (log,) = [text for text in said if f"received {number.name}; stopping after this iteration" in text]
        assert "requeueing" in log
    here = small_jobs(tmp_path / "local", seeds=2, total_steps=8_000)
    assert run_grid(here, LocalEngine(2), quiet=True).exit_code == 0
    assert [logs(job.path) for job in jobs] == [logs(job.path) for job in here]
    for job in jobs:
        # Of the process that was stopped and of the one that resumed it, together complete.
        assert len(list((job.path / "tensorboard").iterdir())) == 2
        assert list(scalars(job.path / "tensorboard")["charts/episodes"]) == list(range(200, 8_001, 200))
    # Nothing is left that a later command would take for jobs in the queue.
    assert not list(own_folder(tmp_path / "slurm").glob("*.json"))


@pytest.mark.slow
def test_a_failure_is_reported_by_the_job_and_a_hopeless_one_is_not_retried(tmp_path):
    (job,) = small_jobs(tmp_path, seeds=1)
    job.path.mkdir(parents=True)
    (job.path / "of another program").touch()
    result = run_grid([job], local_engine([job]), view=(view := Interfering({})))
    (failure,) = result.failures
    assert "exists already and is no run" in failure.problem
    assert not any("trying once more" in message for message in view.said)


@pytest.mark.slow
def test_a_job_that_ends_without_a_word_is_tried_again_and_resumed(tmp_path):
    jobs = small_jobs(tmp_path, seeds=1, total_steps=8_000)
    view = Interfering({jobs[0].path: signal.SIGKILL})
    result = run_grid(jobs, local_engine(jobs), view=view)
    assert result.exit_code == 0, result.failures
    assert any("gone from the queue; its log is" in message and "trying once more" in message for message in view.said)
    assert any("resumed near step" in message for message in view.said)


@pytest.fixture
def restored_signals():
    numbers = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2])
@pytest.mark.usefixtures("restored_signals")
def test_a_signal_asks_once_however_often_it_is_repeated(number):
    stop = StopOrRequeue(PATIENCE_SECONDS)
    with stop.listening(SIGNALS):
        assert not stop.asked
        signal.raise_signal(number)
        signal.raise_signal(number)
        assert stop.asked
    # Slurm repeats its signals; they must not end a process that requeues its job.
    signal.raise_signal(number)


@pytest.mark.usefixtures("restored_signals")
def test_an_iteration_that_takes_too_long_is_cut():
    stop = StopOrRequeue(0.01)
    with pytest.raises(KeyboardInterrupt), stop.listening(SIGNALS):
        signal.raise_signal(signal.SIGUSR1)
        while True:
            signal.pause()


def test_a_job_that_is_requeued_before_its_run_began_has_the_same_order():
    text = Order(message={"path": "somewhere"}, failure="", grace_seconds=1.0).to_text()
    again = Task().checkpoint(text)
    assert isinstance(again.function, Task) and again.args == (text,)


def test_a_run_that_never_finishes_an_iteration_is_given_up():
    order = Order(message={}, failure="", grace_seconds=1.0)
    order = order.after_stop(progressed=False).after_stop(progressed=False)
    assert order.after_stop(progressed=True).stalls == 0
    with pytest.raises(ChorusError, match=r"3 times in a row .* \(--time\)"):
        order.after_stop(progressed=False)


def test_the_folder_of_submissions_is_for_its_owner_alone(tmp_path):
    folder = own_folder(tmp_path)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o770)
    with pytest.raises(ChorusError, match="only you can write to"):
        own_folder(tmp_path)
    folder.rmdir()
    folder.touch()
    with pytest.raises(ChorusError, match="must be a folder"):
        own_folder(tmp_path)
