"""Wrong input about runs that are there: they are not touched, and the sentence says what to do with them."""

import json
import shutil
import signal
from pathlib import Path

import pytest

from chorus.cli.main import main
from killing import PATIENCE_SECONDS, in_the_middle_of_an_iteration, wait_for
from refusals import assert_refused
from running import RUNS, background, listing


@pytest.mark.parametrize("name", ["config.json", "meta.json"])
def test_a_damaged_file_of_a_run_is_named(finished, tmp_path, capsys, name):
    run = Path(shutil.copytree(finished, tmp_path / finished.name))
    (run / name).write_text("{")
    status = json.loads((run / "status.json").read_text())
    (run / "status.json").write_text(json.dumps({**status, "state": "running"}))
    assert_refused(["resume", str(run)], capsys, str(run / name), "cannot be read", "restore it")


def test_a_finished_run_is_not_trained_again(finished, capsys):
    before = listing(finished)
    arguments = ["train", *RUNS["probe"], "--seed", "3", "--out", str(finished.parent)]
    assert_refused(
        arguments, capsys, f"{finished} exists already and is finished", f"chorus evaluate {finished}", "--seed"
    )
    assert listing(finished) == before


def test_a_run_that_has_not_ended_is_to_be_resumed_by_a_path_that_the_shell_understands(finished, tmp_path, capsys):
    out = tmp_path / "my runs"
    run = Path(shutil.copytree(finished, out / finished.name))
    status = json.loads((run / "status.json").read_text())
    (run / "status.json").write_text(json.dumps({**status, "state": "stopped"}))
    arguments = ["train", *RUNS["probe"], "--seed", "3", "--out", str(out)]
    assert_refused(arguments, capsys, f"{run} exists already and has not ended", f"chorus resume '{run}'")


def test_the_next_command_quotes_a_path_with_spaces(finished, tmp_path, capsys):
    run = Path(shutil.copytree(finished, tmp_path / "my runs" / finished.name))
    assert main(["resume", str(run), "--quiet"]) == 0
    assert f"next: chorus evaluate '{run}' --episodes 100\n" in capsys.readouterr().out


def test_another_runs_directory_is_not_touched(finished, tmp_path, capsys):
    run = Path(shutil.copytree(finished, tmp_path / finished.name))
    config = json.loads((run / "config.json").read_text())
    config["agent"]["discount"] = 0.5
    (run / "config.json").write_text(json.dumps(config))
    before = listing(run)
    arguments = ["train", *RUNS["probe"], "--seed", "3", "--out", str(tmp_path)]
    assert_refused(arguments, capsys, str(run), "another run's directory", "another --out")
    assert listing(run) == before


def test_a_directory_that_is_no_run_is_not_touched(finished, tmp_path, capsys):
    (tmp_path / finished.name).mkdir()
    (tmp_path / finished.name / "thesis.tex").write_text("years of work")
    before = listing(tmp_path)
    arguments = ["train", *RUNS["probe"], "--seed", "3", "--out", str(tmp_path)]
    assert_refused(arguments, capsys, finished.name, "no run", "remove it, or choose another --out")
    assert listing(tmp_path) == before


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--policy", "majority"), ("'majority'", "individual, aggregate, member_0, member_1")),
        (("--policy", "member_2"), ("'member_2'", "member_0, member_1")),
        (("--video", "film.avi"), ("film.avi", ".mp4")),
        (("--video", "no/such/folder/film.mp4"), ("no/such/folder", "make it first")),
        (("--episodes", "many"), ("'many'", "whole number")),
    ],
    ids=lambda case: " ".join(case),
)
def test_wrong_evaluations_are_refused(finished, capsys, arguments, parts):
    before = listing(finished)
    assert_refused(["evaluate", str(finished), *arguments], capsys, *parts)
    assert listing(finished) == before


@pytest.mark.slow
def test_a_run_in_use_by_another_process_is_not_touched(tmp_path, capsys):
    process = background("train", *RUNS["probe"], "--total-steps", "200000", "--out", tmp_path)
    try:
        (run,) = wait_for(lambda: list(tmp_path.glob("[!.]*")), PATIENCE_SECONDS)
        wait_for(lambda: in_the_middle_of_an_iteration(run), PATIENCE_SECONDS)
        process.send_signal(signal.SIGSTOP)  # it keeps the lock, and nothing changes while we look
        before = listing(run)
        assert_refused(["resume", str(run)], capsys, str(run), "in use by another process", "wait for it or stop it")
        assert listing(run) == before
    finally:
        process.kill()
        process.wait()
