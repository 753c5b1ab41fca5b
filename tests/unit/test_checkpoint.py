"""Checkpoints: two are kept, damage is noticed, and the one before is still whole."""

import os

import jax
import numpy as np
import pytest

from chorus.errors import ChorusError
from chorus.files import LogMark
from chorus.replay.layout import RingLayout
from chorus.replay.ring import Ring
from chorus.training import checkpoint

LAYOUT = RingLayout(1, 10, 4, (1,), np.dtype(np.float32))


def state_at(iteration):
    return {"weights": np.full((2, 3), iteration, np.float32), "updates": np.int32(iteration)}


@pytest.fixture
def saved(tmp_path):
    """Three checkpoints of a run of four steps an iteration."""
    ring, previous = Ring(LAYOUT, tmp_path / "replay"), None
    for iteration in (1, 2, 3):
        ring.begin(np.float32([[0.0]]), np.array([0]))
        for t in range(4):
            last = np.array([t == 3])
            ring.add(np.array([t]), np.float32([iteration]), ~last & last, last, np.array([0]), np.float32([[t + 1]]))
        previous = checkpoint.save(
            tmp_path / "checkpoints",
            iteration=iteration,
            step=4 * iteration,
            state=state_at(iteration),
            ring=ring,
            previous=previous,
            logs={"metrics.jsonl": LogMark(10 * iteration, "hash")},
            config={"seed": 3},
            diverged_members=(),
        )
    return tmp_path / "checkpoints", ring


def found_in(directory, ring):
    return checkpoint.find(directory).that_pass(checkpoint.HashedBlocks(ring).check)


def test_the_newest_two_are_kept_and_come_back_as_they_were(saved):
    directory, ring = saved
    found, complaints = found_in(directory, ring)
    assert complaints == []
    assert [(one.iteration, one.step, one.logs, one.config) for one in found] == [
        (2, 8, {"metrics.jsonl": LogMark(20, "hash")}, {"seed": 3}),
        (3, 12, {"metrics.jsonl": LogMark(30, "hash")}, {"seed": 3}),
    ]
    np.testing.assert_array_equal(found[-1].cursor.end, ring.cursor.end)
    restored = found[-1].load_state(jax.eval_shape(lambda: jax.tree.map(jax.numpy.asarray, state_at(0))))
    jax.tree.map(np.testing.assert_array_equal, restored, state_at(3))
    assert sorted(path.name for path in directory.iterdir()) == ["000002", "000003"]


def test_a_kill_in_the_middle_of_a_removal_leaves_no_damaged_checkpoint(saved, monkeypatch):
    """The manifest goes first here, as it may in any order of the folder's files."""
    directory, ring = saved

    def killed(path, **_):
        if path.exists():
            (path / "manifest.json").unlink()
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(checkpoint.shutil, "rmtree", killed)
        checkpoint._remove(directory / "000002")
    found, complaints = found_in(directory, ring)
    assert [one.iteration for one in found] == [3] and complaints == []
    # The next removal takes away what is left of it.
    checkpoint._remove(directory / "000003")
    assert not list(directory.iterdir())


def damage_state(directory, ring):
    path = directory / "000003" / "state.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def damage_manifest(directory, ring):
    (directory / "000003" / "manifest.json").write_text('{"iteration": 3')


def lose_state(directory, ring):
    (directory / "000003" / "state.safetensors").unlink()


def damage_replay(directory, ring):
    newest = int(ring.cursor.end[0] - 1) % LAYOUT.rows
    ring.columns.arrays["observation"][0, newest] += 1


@pytest.mark.parametrize("damage", [damage_state, damage_manifest, lose_state, damage_replay])
def test_a_damaged_newest_checkpoint_falls_back_to_the_one_before_with_a_sentence(saved, damage):
    directory, ring = saved
    damage(directory, ring)
    found, complaints = found_in(directory, ring)
    assert [one.iteration for one in found] == [2]
    assert len(complaints) == 1 and "000003 is damaged" in complaints[0]


@pytest.mark.parametrize("column", ["observation", "action", "reward", "flags", "owner"])
def test_a_row_older_than_both_checkpoints_is_under_a_hash_while_it_can_be_sampled(saved, column):
    directory, ring = saved
    oldest = int(ring.cursor.oldest[0])
    assert oldest < 5, "the window starts with rows of the first iteration, whose checkpoint is gone"
    ring.columns.arrays[column][0, oldest] += 1
    found, complaints = found_in(directory, ring)
    assert not found and len(complaints) == 2
    assert f"do not match their hash, the first one at positions {oldest} to {oldest + 1} of lane 0" in complaints[1]


def test_full_blocks_are_hashed_once(tmp_path, monkeypatch):
    """Blocks of two rows; four transitions and a final observation per iteration."""
    layout = RingLayout(1, 32, 4, (1,), np.dtype(np.float32))
    assert layout.block_rows == 2
    ring, previous, hashed = Ring(layout), None, []
    digest = ring.columns.digest
    monkeypatch.setattr(ring.columns, "digest", lambda *block: hashed.append(block) or digest(*block))
    about = {"step": 0, "logs": {}, "config": {}, "diverged_members": ()}
    for iteration in (1, 2):
        ring.begin(np.float32([[0.0]]), np.array([0]))
        for t in range(4):
            last = np.array([t == 3])
            ring.add(np.array([t]), np.float32([t]), ~last & last, last, np.array([0]), np.float32([[t + 1]]))
        previous = checkpoint.save(
            tmp_path / "checkpoints", iteration=iteration, state=state_at(0), ring=ring, previous=previous, **about
        )
    assert hashed[:3] == [(0, 0, 2), (0, 2, 4), (0, 4, 5)]
    assert hashed[3:] == [(0, 4, 6), (0, 6, 8), (0, 8, 10)], "the growing block again, and the new ones"


def test_another_configuration_is_refused_with_what_differs(saved, tmp_path):
    newest = checkpoint.find(saved[0]).intact[-1]
    checkpoint.check_config(newest, {"seed": 3}, tmp_path / "config.json")
    with pytest.raises(ChorusError, match=r"config.json has changed .* \(seed is 4 and was 3\); set it back"):
        checkpoint.check_config(newest, {"seed": 4}, tmp_path / "config.json")


def test_a_half_written_checkpoint_is_not_one(saved):
    directory, ring = saved
    (directory / ".writing").mkdir()
    (directory / ".writing" / "state.safetensors").write_bytes(b"half")
    found, complaints = found_in(directory, ring)
    assert [one.iteration for one in found] == [2, 3] and not complaints


@pytest.mark.parametrize("what", ["a file", "a link"])
def test_what_is_in_the_place_of_a_half_written_checkpoint_is_removed(saved, tmp_path, what):
    directory, _ = saved
    aside, outside = directory / ".writing", tmp_path / "outside"
    outside.mkdir()
    aside.touch() if what == "a file" else aside.symlink_to(outside)
    checkpoint.discard_unfinished(directory)
    assert not os.path.lexists(aside) and outside.exists()


def test_a_state_of_another_shape_is_refused_with_its_name(saved):
    found, _ = checkpoint.find(saved[0])
    other = {"weights": jax.ShapeDtypeStruct((5, 3), np.float32), "updates": jax.ShapeDtypeStruct((), np.int32)}
    with pytest.raises(ChorusError, match=r"weights.*should have the shape"):
        found[-1].load_state(other)


def test_no_checkpoint_is_no_complaint(tmp_path):
    assert checkpoint.find(tmp_path / "none") == ([], [])
