"""Files of a run that are lost altogether: what can be found out again is, and nothing starts over unasked."""

import json
import shutil
from pathlib import Path

import pytest

from chorus.cli.main import main
from chorus.runs.published import publish
from chorus.runs.run_directory import RunDirectory
from killing import before_the_first_checkpoint, kill_at
from running import RUNS, background, listing, logs, status


@pytest.fixture
def finished(undisturbed, tmp_path) -> Path:
    run = undisturbed["probe"]
    return Path(shutil.copytree(run, tmp_path / run.name))


@pytest.fixture
def run(killed, tmp_path) -> Path:
    """Killed late in its training."""
    return Path(shutil.copytree(killed, tmp_path / killed.name))


@pytest.fixture(scope="module")
def young(undisturbed, tmp_path_factory) -> Path:
    """Killed before its first checkpoint; copy it before you touch it."""
    out = tmp_path_factory.mktemp("young")
    run = out / undisturbed["probe"].name
    kill_at(background("train", *RUNS["probe"], "--seed", "3", "--out", out), run, before_the_first_checkpoint)
    return run


@pytest.mark.parametrize("also", ["metrics.jsonl", "episodes.jsonl", "timings.jsonl"])
def test_without_checkpoints_and_status_the_logs_show_that_there_was_a_checkpoint(run, capsys, also):
    """Each log alone shows it: another one may be lost, too."""
    shutil.rmtree(run / "checkpoints")
    (run / "status.json").unlink()
    for name in {"metrics.jsonl", "episodes.jsonl", "timings.jsonl"} - {also}:
        (run / name).unlink()
    before = listing(run)
    assert main(["resume", str(run), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert "has been trained and none of its checkpoints is intact" in said
    assert "remove the folder and train again" in said and len(said.splitlines()) == 1
    assert listing(run) == before


@pytest.mark.slow
def test_a_finished_run_that_lost_its_status_gets_it_back(finished, undisturbed, capsys):
    stood = status(finished)
    (finished / "status.json").unlink()
    checkpoints = listing(finished / "checkpoints")
    assert main(["resume", str(finished), "--quiet"]) == 0
    assert "(finished)" in capsys.readouterr().out
    assert status(finished) == stood and logs(finished) == logs(undisturbed["probe"])
    assert listing(finished / "checkpoints") == checkpoints and not (finished / "replay").exists()


def test_a_finished_run_without_status_and_last_checkpoint_is_refused(finished, capsys):
    """The replay that iteration 8 would need was deleted when the run finished."""
    (finished / "status.json").unlink()
    shutil.rmtree(finished / "checkpoints" / "000008")
    before = listing(finished)
    assert main(["resume", str(finished), "--quiet"]) == 2
    assert "none of its checkpoints is intact" in capsys.readouterr().err
    assert listing(finished) == before


@pytest.mark.slow
def test_a_configuration_changed_before_the_first_checkpoint_is_refused(young, undisturbed, tmp_path, capsys):
    run = Path(shutil.copytree(young, tmp_path / young.name))
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**config, "seed": 4}))
    before = listing(run)
    assert main(["resume", str(run), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert "config.json has changed since the run was created" in said and "set it back" in said
    assert listing(run) == before
    # Formatted anew it is the same; the run says that it starts again.
    (run / "config.json").write_text(json.dumps(config))
    assert main(["resume", str(run)]) == 0
    assert "stopped before its first checkpoint: it starts again" in "".join(capsys.readouterr())
    assert logs(run) == logs(undisturbed["probe"])


def test_a_replay_is_kept_if_nothing_says_that_it_may_go(finished):
    (finished / "replay").mkdir()
    (finished / "meta.json").unlink()
    assert main(["resume", str(finished)]) == 0
    assert (finished / "replay").exists()


@pytest.mark.parametrize("harm", ["removed", "damaged"])
def test_a_published_run_that_lost_its_status_does_not_start_again(finished, tmp_path, capsys, harm):
    """It has compressed logs only; a new log beside them would take their place in every report."""
    run = publish(finished, tmp_path / "published")
    (run / "status.json").unlink()
    if harm == "damaged":
        (run / "status.json").write_text("{")
    before = listing(run)
    assert main(["resume", str(run), "--quiet"]) == 2
    assert "has been trained and none of its checkpoints is intact" in capsys.readouterr().err
    assert listing(run) == before


@pytest.mark.slow
def test_commands_on_a_published_run_suggest_what_works_without_checkpoints(finished, tmp_path, capsys):
    run = publish(finished, tmp_path / "published")
    assert main(["evaluate", str(run)]) == 2
    assert f"published without its checkpoints, so there is nothing to play; `chorus train --config {run}" in (
        capsys.readouterr().err
    )
    assert main(["resume", str(run)]) == 0
    assert f"next: chorus report {run}" in capsys.readouterr().out


def test_lines_that_cannot_be_read_show_nothing(tmp_path):
    run = RunDirectory(tmp_path)
    (tmp_path / "episodes.jsonl").write_bytes(b'\xff\n{"iteration": 1}\n{"iteration": "2"}\n[2]\n{"iteration": 2')
    assert not run.has_been_saved() and run.logs.has_content()
    with (tmp_path / "episodes.jsonl").open("ab") as log:
        log.write(b"}\n")
    assert run.has_been_saved()
