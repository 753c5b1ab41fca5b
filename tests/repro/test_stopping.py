"""The first signal lets an iteration finish and saves it; the second stops at once; neither changes a byte."""

import shutil
import signal
import time
from pathlib import Path

import pytest

import chorus
from chorus import api
from chorus.cli.main import main
from chorus.runs import stopping
from chorus.runs.lifecycle import resume_run
from chorus.runs.logs import MetricNames, read_run
from chorus.runs.progress import Silent
from chorus.runs.run_directory import RunDirectory
from chorus.runs.stopping import StopRequest
from killing import PATIENCE_SECONDS, in_the_middle_of_an_iteration, lines_since_checkpoint, newest_checkpoint, wait_for
from running import RUNS, heard, logs, status
from warm import HeardProcess

# Iterations of many steps take long enough for a second signal.
LONG = ("--total-steps", "400000", "--iteration-steps", "100000")


def started(*arguments: str) -> HeardProcess:
    return heard("train", *RUNS["probe"], "--seed", "3", *arguments)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_saves_the_iteration_under_way(undisturbed, tmp_path, how, capsys):
    run = tmp_path / undisturbed["probe"].name
    process = started("--out", str(tmp_path))
    wait_for(lambda: in_the_middle_of_an_iteration(run), PATIENCE_SECONDS)
    assert RunDirectory(run).current_state() == "running"
    process.send_signal(how)
    said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130
    saved = newest_checkpoint(run)
    assert f"stopped; saved up to iteration {saved}, nothing is lost. Resume with: chorus resume {run}" in said
    assert status(run) == {"state": "stopped", "reason": None, "iteration": saved}
    assert lines_since_checkpoint(run) == 0

    assert main(["list", "runs", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("stopped")
    assert main(["resume", str(run), "--quiet"]) == 0
    assert logs(run) == logs(undisturbed["probe"])


@pytest.mark.slow
def test_the_second_signal_stops_at_once_and_says_what_is_lost(tmp_path):
    process = started("--out", str(tmp_path), *LONG)
    run = wait_for(lambda: next(iter(tmp_path.glob("[!.]*__s3")), None), PATIENCE_SECONDS)
    wait_for(lambda: newest_checkpoint(run) >= 1 and lines_since_checkpoint(run) > 100, PATIENCE_SECONDS)
    process.send_signal(signal.SIGINT)
    time.sleep(1.0)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    said, shown = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130
    assert "stopping after iteration 2, which takes about" in shown and "Ctrl-C again stops at once" in shown
    assert "saved up to iteration 1, what was done since then is lost and will be repeated" in said
    assert status(run)["state"] == "stopped"


def test_a_signal_that_is_repeated_at_once_is_one_request(monkeypatch):
    """`timeout` sends it to the process and to its group."""
    clock = [0.0]
    monkeypatch.setattr(stopping.time, "monotonic", lambda: clock[0])
    stop = StopRequest()
    stop.receive(signal.SIGTERM, None)
    clock[0] += 0.01
    stop.receive(signal.SIGTERM, None)
    assert stop.asked
    clock[0] += 1.0
    with pytest.raises(KeyboardInterrupt):
        stop.receive(signal.SIGTERM, None)


def test_another_signal_is_a_second_request():
    stop = StopRequest()
    stop.receive(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        stop.receive(signal.SIGTERM, None)


@pytest.mark.slow
def test_in_python_a_stopped_run_ends_the_loop_over_runs_too(killed, tmp_path, monkeypatch):
    run = Path(shutil.copytree(killed, tmp_path / killed.name))
    before = newest_checkpoint(run)

    class Interrupted(Silent):
        def phase(self, name):
            if name == "saving":
                signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(api, "for_terminal", lambda quiet: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        chorus.resume(run)
    assert newest_checkpoint(run) == before + 1
    assert status(run)["state"] == "stopped"


def test_a_request_before_the_first_step_stops_before_it(killed, tmp_path):
    run = Path(shutil.copytree(killed, tmp_path / killed.name))
    before, stop = newest_checkpoint(run), StopRequest()
    stop.ask()
    assert resume_run(run, Silent(), stop=stop)["state"] == "stopped"
    assert newest_checkpoint(run) == before == status(run)["iteration"]


def test_a_killed_run_is_listed_as_stopped(killed, tmp_path, capsys):
    shutil.copytree(killed, tmp_path / killed.name)
    assert status(killed)["state"] == "running"
    assert main(["list", "runs", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("stopped")
    assert read_run(tmp_path / killed.name, MetricNames())[0].state == "stopped", "in reports, too"


@pytest.mark.slow
def test_a_request_by_file_is_heard_once(killed, undisturbed, tmp_path):
    run = Path(shutil.copytree(killed, tmp_path / killed.name))
    directory = RunDirectory(run)

    class Asking:
        """Asks when training begins, as a grid does while it stops."""

        def __getattr__(self, name):
            return lambda *about: directory.ask_to_stop() if name == "phase" and about == ("training",) else None

    before = newest_checkpoint(run)
    assert resume_run(run, Asking())["state"] == "stopped"
    assert newest_checkpoint(run) == before + 1
    assert not directory.is_asked_to_stop()
    assert resume_run(run, Silent())["state"] == "finished"
    assert logs(run) == logs(undisturbed["probe"])
