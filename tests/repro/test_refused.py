"""What does not fit is refused before anything is changed: afterwards the run is there, byte for byte."""

import json
import shutil
from pathlib import Path

import jax
import pytest

import chorus
from chorus.cli.main import main
from chorus.errors import ChorusWarning
from chorus.runs.assembly import Assembly
from chorus.runs.lifecycle import stored_config
from chorus.runs.resources import ring_layout
from chorus.runs.resuming import find_resumable
from chorus.runs.run_directory import RunDirectory
from chorus.training.checkpoint import manifest_digest
from killing import newest_checkpoint
from running import logs


@pytest.fixture
def run(killed, tmp_path) -> Path:
    return Path(shutil.copytree(killed, tmp_path / killed.name))


def contents(run: Path) -> dict[str, bytes]:
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}


def refused(run: Path, capsys: pytest.CaptureFixture, *command: str) -> str:
    """The one sentence with which a command refuses a run that it leaves as it found it."""
    before = contents(run)
    assert main([*(command or ("resume", "--quiet")), str(run)]) == 2
    assert contents(run) == before
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1, said
    return said[0]


def change_config(run: Path, path: str, value: object) -> None:
    config = json.loads((run / "config.json").read_text())
    *parents, leaf = path.split(".")
    node = config
    for part in parents:
        node = node[part]
    node[leaf] = value
    (run / "config.json").write_text(json.dumps(config))


CHANGES = [
    ("replay.capacity", 20, "replay.capacity is 20 and was 60"),
    ("replay.capacity", 600, "replay.capacity is 600 and was 60"),
    ("seed", 4, "seed is 4 and was 3"),
    ("agent.optimizer.learning_rate", 0.5, "agent.optimizer.learning_rate is 0.5 and was"),
    ("schedule.total_steps", 3_200, "schedule.total_steps is 3200 and was 1600"),
    ("replay.batch_size", 0, "--batch-size is 0; it must be at least 1"),
    ("replay.batch_size", 10**9, "is smaller than --batch-size 1000000000"),
]


@pytest.mark.parametrize(("path", "value", "words"), CHANGES)
def test_a_changed_configuration_is_named_and_nothing_is_touched(run, capsys, path, value, words):
    change_config(run, path, value)
    assert words in refused(run, capsys)


@pytest.mark.slow
def test_a_configuration_that_was_set_back_or_only_formatted_anew_resumes(run, undisturbed, capsys):
    original = (run / "config.json").read_text()
    change_config(run, "replay.capacity", 20)
    refused(run, capsys)
    (run / "config.json").write_text(json.dumps(json.loads(original)))
    assert main(["resume", str(run), "--quiet"]) == 0
    assert logs(run) == logs(undisturbed["probe"])


def cut(path: Path, length: int) -> None:
    path.write_bytes(path.read_bytes()[:length])


def recorded(run: Path, iteration: int, log: str) -> int:
    manifest = run / "checkpoints" / f"{iteration:06d}" / "manifest.json"
    return json.loads(manifest.read_text())["logs"][log]["bytes"]


@pytest.mark.parametrize("log", ["metrics.jsonl", "episodes.jsonl"])
@pytest.mark.parametrize("harm", ["emptied", "halved", "deleted", "flipped"])
def test_a_log_that_lost_something_is_refused_with_the_numbers(run, capsys, log, harm):
    path, newest = run / log, newest_checkpoint(run)
    if harm == "deleted":
        path.unlink()
    elif harm == "flipped":
        content = bytearray(path.read_bytes())
        content[20] ^= 1
        path.write_bytes(content)
    else:
        cut(path, 0 if harm == "emptied" else path.stat().st_size // 2)
    said = refused(run, capsys)
    for iteration in (newest - 1, newest):
        length = recorded(run, iteration, log)
        if harm == "flipped":
            assert f"the first {length:,} bytes of {log} have changed" in said
        else:
            found = path.stat().st_size if path.exists() else 0
            assert f"{log} has {found:,} bytes, and {length:,} when the checkpoint was written" in said
    assert "restore the files, or remove the folder and train again" in said


@pytest.mark.slow
def test_a_log_that_fits_the_checkpoint_before_falls_back_to_it(run, undisturbed, capsys):
    newest = newest_checkpoint(run)
    cut(run / "metrics.jsonl", recorded(run, newest, "metrics.jsonl") - 1)
    assert main(["resume", str(run), "--quiet"]) == 0
    said = capsys.readouterr().err
    assert f"{newest:06d} is damaged (metrics.jsonl has" in said
    assert logs(run) == logs(undisturbed["probe"])


def test_replay_files_of_another_size_are_refused(run, capsys):
    cut(run / "replay" / "reward.bin", 40)
    assert "reward.bin has 40 bytes, and the replay of this configuration has" in refused(run, capsys)


def test_a_kill_before_the_oldest_checkpoint_was_removed_leaves_one_that_is_not_protected(run):
    """Otherwise the ring, which has room for the rows of two checkpoints, might be full too early."""
    newest = newest_checkpoint(run)
    third = run / "checkpoints" / f"{newest - 2:06d}"
    shutil.copytree(run / "checkpoints" / f"{newest - 1:06d}", third)
    assembly = Assembly.of(stored_config(RunDirectory(run)))
    like = jax.eval_shape(assembly.agent.init, jax.random.key(0))
    layout = ring_layout(assembly.config, assembly.spec)
    resumed = find_resumable(
        RunDirectory(run), layout, assembly.config.to_json(), like, assembly.config.schedule.iterations
    )
    assert [kept.path.name for kept in resumed.kept] == [f"{newest - 1:06d}", f"{newest:06d}"]


def as_older_version(run: Path) -> None:
    """The manifests of format 1: byte offsets of the logs, and one hash of the newest rows."""
    for path in (run / "checkpoints").glob("*/manifest.json"):
        manifest = json.loads(path.read_text())
        del manifest["sha256"], manifest["format"], manifest["config"], manifest["replay"]["blocks_sha256"]
        manifest["offsets"] = {name: mark["bytes"] for name, mark in manifest.pop("logs").items()}
        manifest["replay"] |= {"new_rows_from": [0, 0], "new_rows_sha256": "0"}
        path.write_text(json.dumps({**manifest, "sha256": manifest_digest(manifest)}))


def test_an_unfinished_run_of_an_older_version_is_refused_and_can_still_be_evaluated(run, capsys):
    as_older_version(run)
    assert "another version of Chorus" in refused(run, capsys)
    assert chorus.load(run).policy_name == "aggregate"


@pytest.mark.slow
def test_a_damaged_newest_checkpoint_is_said_wherever_a_run_is_loaded(run, capsys):
    damaged = run / "checkpoints" / f"{newest_checkpoint(run):06d}"
    (damaged / "state.safetensors").write_bytes(b"")
    with pytest.warns(ChorusWarning, match=f"{damaged} is damaged"):
        chorus.load(run)
    assert main(["evaluate", str(run), "--episodes", "1"]) == 0
    said = capsys.readouterr().err
    assert said.startswith(f"Note: checkpoint {damaged} is damaged") and len(said.splitlines()) == 1


def test_evaluating_with_another_configuration_is_refused(run, capsys):
    change_config(run, "agent.discount", 0.5)
    assert "agent.discount is 0.5 and was" in refused(run, capsys, "evaluate")
