"""Damaged checkpoints: the one before takes over, with a sentence, and the bytes are still the same."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from chorus.cli.main import main
from chorus.replay.ring import Ring
from chorus.runs.assembly import Assembly
from chorus.runs.lifecycle import stored_config, train_run
from chorus.runs.progress import Silent
from chorus.runs.resources import ring_layout
from chorus.runs.run_directory import RunDirectory
from chorus.runs.stopping import StopRequest
from chorus.runs.trackers import Trackers
from chorus.training import checkpoint
from killing import newest_checkpoint
from running import listing, logs, status


def copy_of(run: Path, parent: Path) -> Path:
    return Path(shutil.copytree(run, parent / run.name))


def folder(run: Path, iteration: int) -> Path:
    return run / "checkpoints" / f"{iteration:06d}"


def manifest(run: Path, iteration: int) -> dict:
    return json.loads((folder(run, iteration) / "manifest.json").read_text())


def flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0x40
    path.write_bytes(content)


def flip_state(run: Path, iteration: int) -> None:
    path = folder(run, iteration) / "state.safetensors"
    flip(path, path.stat().st_size - 5)


def flip_newest_observation(run: Path, iteration: int) -> None:
    """A byte of the last row that the checkpoint added to the first lane; a row is one float32."""
    end = manifest(run, iteration)["replay"]["end"][0]
    rows = (run / "replay" / "flags.bin").stat().st_size // 2
    flip(run / "replay" / "observation.bin", (end - 1) % rows * 4 + 2)


def delete_manifest(run: Path, iteration: int) -> None:
    (folder(run, iteration) / "manifest.json").unlink()


def change_manifest(run: Path, iteration: int) -> None:
    """Still JSON, but another number: where the replay's window starts."""
    changed = manifest(run, iteration)
    changed["replay"]["oldest"][0] += 1
    (folder(run, iteration) / "manifest.json").write_text(json.dumps(changed, indent=2))


def misplace_rows(run: Path, iteration: int) -> None:
    """Positions that cannot be in a ring of this size."""
    changed = manifest(run, iteration)
    changed["replay"]["end"][0] += 10**6
    (folder(run, iteration) / "manifest.json").write_text(json.dumps(changed, indent=2))


def empty_manifest(run: Path, iteration: int) -> None:
    (folder(run, iteration) / "manifest.json").write_text("")


DAMAGE = [flip_state, flip_newest_observation, delete_manifest, change_manifest, misplace_rows, empty_manifest]


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_every_kind_of_damage_is_found_and_named(killed, tmp_path, damage):
    run = copy_of(killed, tmp_path)
    newest = newest_checkpoint(run)
    damage(run, newest)
    assembly = Assembly.of(stored_config(RunDirectory(run)))
    ring = Ring(ring_layout(assembly.config, assembly.spec), run / "replay", existing=True)
    intact, complaints = checkpoint.find(run / "checkpoints").that_pass(checkpoint.HashedBlocks(ring).check)
    assert [found.iteration for found in intact] == [newest - 1]
    assert len(complaints) == 1 and f"{newest:06d} is damaged" in complaints[0]


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGE[:3], ids=lambda damage: damage.__name__)
def test_a_damaged_newest_checkpoint_falls_back_to_the_one_before(undisturbed, killed, tmp_path, capsys, damage):
    run = copy_of(killed, tmp_path)
    newest = newest_checkpoint(run)
    damage(run, newest)
    assert main(["resume", str(run), "--quiet"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "damaged" in line]
    assert len(said) == 1 and str(folder(run, newest)) in said[0]
    assert logs(run) == logs(undisturbed["probe"])
    notes = [said[0].removeprefix("Note: ")]
    assert status(run) == {"state": "finished", "reason": None, "iteration": 8, "notes": notes}


@pytest.mark.parametrize("what", ["both checkpoints", "the replay", "the folder"])
def test_with_no_usable_checkpoint_left_the_run_is_refused_and_keeps_its_logs(killed, tmp_path, capsys, what):
    run = copy_of(killed, tmp_path)
    if what == "both checkpoints":
        for iteration in (newest_checkpoint(run) - 1, newest_checkpoint(run)):
            flip_state(run, iteration)
    else:
        shutil.rmtree(run / {"the replay": "replay", "the folder": "checkpoints"}[what])
    before, stood = logs(run), status(run)
    assert main(["resume", str(run)]) == 2
    said = capsys.readouterr().err
    assert "none of its checkpoints is intact" in said and "remove the folder and train again" in said
    assert said.count("is damaged") == (2 if what == "both checkpoints" else 0)
    assert ("observation.bin cannot be read" in said) == (what == "the replay")
    assert (logs(run), status(run)) == (before, stood)


@pytest.mark.slow
def test_a_run_that_failed_after_a_checkpoint_does_not_start_again_without_it(killed, tmp_path):
    """What went wrong is written over the status, and the iteration it had reached stays in it."""
    run = copy_of(killed, tmp_path)
    assembly = Assembly.of(stored_config(RunDirectory(run)))
    training = assembly.training(RunDirectory(run), Silent(), Trackers(), keep_replay=False, stop=StopRequest())
    training.evaluator = None
    with pytest.raises(AttributeError):
        training.run()
    assert status(run)["state"] == "failed" and status(run)["iteration"] >= newest_checkpoint(run) - 1


@pytest.mark.slow
def test_a_damaged_older_checkpoint_costs_nothing(undisturbed, killed, tmp_path):
    run = copy_of(killed, tmp_path)
    delete_manifest(run, newest_checkpoint(run) - 1)
    assert main(["resume", str(run), "--quiet"]) == 0
    assert logs(run) == logs(undisturbed["probe"])


def test_two_checkpoints_are_kept(undisturbed, killed):
    assert sorted(path.name for path in (undisturbed["probe"] / "checkpoints").iterdir()) == ["000007", "000008"]
    newest = newest_checkpoint(killed)
    kept = [path.name for path in (killed / "checkpoints").glob("[0-9]*")]
    assert sorted(kept) == [f"{newest - 1:06d}", f"{newest:06d}"]


def test_a_checkpoint_holds_arrays_and_a_manifest_and_no_pickle(undisturbed):
    for kept in (undisturbed["probe"] / "checkpoints").iterdir():
        assert sorted(path.name for path in kept.iterdir()) == [
            "counts.safetensors",
            "manifest.json",
            "state.safetensors",
        ]


def test_a_checkpoint_costs_what_is_new_and_not_the_whole_replay(undisturbed):
    """Its folder holds the learner alone; of the replay it has hashes of the rows that can be sampled."""
    run = undisturbed["probe"]
    last = manifest(run, 8)["replay"]
    # 30 transitions a lane in episodes of two, each with a final observation: 45 rows of 1,200 written so far, each a
    # block of its own.
    assert last["end"] == [1_200, 1_200] and last["oldest"] == [1_155, 1_155]
    assert len(set(last["blocks_sha256"])) > 1 and len(last["blocks_sha256"]) == 90
    assert np.sum(last["transitions"]) == 60
    state_bytes = (folder(run, 8) / "state.safetensors").stat().st_size
    # 2 members of 1x16 + 16x16 + 16x2 weights and their biases: network, target and Adam's two moments, 4 bytes each.
    parameters = 2 * (1 * 16 + 16 + 16 * 16 + 16 + 16 * 2 + 2)
    assert 4 * 4 * parameters < state_bytes < 4 * 4 * parameters + 8_000


def test_a_finished_run_deletes_its_replay(undisturbed, killed):
    assert not (undisturbed["probe"] / "replay").exists()
    assert (killed / "replay").is_dir()


@pytest.mark.slow
def test_resuming_a_finished_run_says_so_and_touches_nothing(undisturbed, capsys):
    run = undisturbed["probe"]
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    assert main(["resume", str(run)]) == 0
    assert "has ended already" in capsys.readouterr().out
    assert before == {path: path.stat().st_mtime_ns for path in run.rglob("*")}


@pytest.mark.parametrize("kept", [False, True])
def test_a_replay_left_by_a_kill_after_the_last_status_is_deleted(undisturbed, tmp_path, capsys, kept):
    run = copy_of(undisturbed["probe"], tmp_path)
    (run / "replay").mkdir()
    meta = json.loads((run / "meta.json").read_text())
    (run / "meta.json").write_text(json.dumps({**meta, "keep_replay": kept}))
    assert main(["resume", str(run)]) == 0
    assert "has ended already" in capsys.readouterr().out
    assert (run / "replay").exists() == kept


def test_a_run_that_another_process_finished_in_the_meantime_is_left_as_it_is(undisturbed):
    """Between reading the status and getting the lock, whoever had the lock may have ended the run."""
    run = undisturbed["probe"]
    before = listing(run)
    assert train_run(Assembly.of(stored_config(RunDirectory(run))), run, Silent())["state"] == "finished"
    assert listing(run) == before
