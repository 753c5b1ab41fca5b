"""A run killed with SIGKILL at any instant and resumed writes the same bytes as one that was never stopped."""

import json
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from chorus.cli.main import main
from killing import (
    PATIENCE_SECONDS,
    before_the_first_checkpoint,
    in_the_middle_of_an_iteration,
    kill_at,
    newest_checkpoint,
    while_a_checkpoint_is_written,
)
from running import RUNS, background, chorus, logs, status
from warm import WarmProcess


def kill_after(process: WarmProcess, seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def finish(run: Path) -> None:
    done = chorus("resume", run, "--quiet")
    assert done.returncode == 0, done.stderr
    assert status(run)["state"] == "finished"


@pytest.mark.slow
def test_a_run_killed_in_the_middle_of_an_iteration_resumes_to_the_same_bytes(undisturbed, killed, tmp_path):
    run = Path(shutil.copytree(killed, tmp_path / killed.name))
    assert status(run)["state"] == "running"
    assert logs(run) != logs(undisturbed["probe"])
    assert main(["resume", str(run), "--quiet"]) == 0
    assert logs(run) == logs(undisturbed["probe"])


@pytest.mark.slow
@pytest.mark.parametrize("family", ["cartpole", "minatar", "control"])
def test_a_run_killed_again_and_again_resumes_to_the_same_bytes(undisturbed, tmp_path, family):
    expected = undisturbed[family]
    run = tmp_path / expected.name
    kill_at(
        background("train", *RUNS[family], "--seed", "3", "--out", tmp_path, "--quiet"),
        run,
        before_the_first_checkpoint,
    )
    assert newest_checkpoint(run) == 0
    for instant in (in_the_middle_of_an_iteration, while_a_checkpoint_is_written):
        kill_at(background("resume", run), run, instant)
        assert newest_checkpoint(run) >= 2
    finish(run)
    assert logs(run) == logs(expected)


@pytest.mark.slow
def test_kills_at_random_instants_never_change_a_byte(undisturbed, tmp_path):
    expected = undisturbed["probe"]
    run = tmp_path / expected.name
    chance = random.Random(20_240_501)
    process = background("train", *RUNS["probe"], "--seed", "3", "--out", tmp_path)
    began = time.monotonic()
    while not (run / "status.json").exists():
        assert time.monotonic() - began < PATIENCE_SECONDS
        time.sleep(0.01)
    for _ in range(4):
        kill_after(process, chance.uniform(0.1, 2.0))
        process = background("resume", run)
    assert process.wait(PATIENCE_SECONDS) == 0
    assert logs(run) == logs(expected)


@pytest.mark.slow
def test_a_half_written_checkpoint_and_a_half_written_line_are_left_behind(undisturbed, tmp_path):
    """What a power cut may leave, put there by hand."""
    expected = undisturbed["probe"]
    run = tmp_path / expected.name
    kill_at(background("train", *RUNS["probe"], "--seed", "3", "--out", tmp_path), run, in_the_middle_of_an_iteration)
    newest = run / "checkpoints" / f"{newest_checkpoint(run):06d}"
    aside = run / "checkpoints" / ".writing"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    content = (newest / "state.safetensors").read_bytes()
    (aside / "state.safetensors").write_bytes(content[: len(content) // 2])
    for name in ("metrics.jsonl", "episodes.jsonl", "timings.jsonl"):
        with (run / name).open("a") as file:
            file.write('{"iteration": 7, "st')
    finish(run)
    assert logs(run) == logs(expected)
    for line in (run / "timings.jsonl").read_text().splitlines():
        json.loads(line)
    assert not aside.exists()
