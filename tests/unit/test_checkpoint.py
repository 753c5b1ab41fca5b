"""Checkpoints: two are kept, damage is noticed, and the one before is still whole."""

import jax
import numpy as np
import pytest

from chorus.errors import ChorusError
from chorus.replay.ring import Cursor, Ring, RingLayout
from chorus.training import checkpoint

LAYOUT = RingLayout(1, 6, 4, (1,), np.dtype(np.float32))


def state_at(iteration):
    return {"weights": np.full((2, 3), iteration, np.float32), "updates": np.int32(iteration)}


@pytest.fixture
def saved(tmp_path):
    """Three checkpoints of a run of four steps an iteration."""
    ring = Ring(LAYOUT, tmp_path / "replay")
    for iteration in (1, 2, 3):
        before = Cursor(*(column.copy() for column in ring.cursor))
        ring.begin(np.float32([[0.0]]), np.array([0]))
        for t in range(4):
            last = np.array([t == 3])
            ring.add(np.array([t]), np.float32([iteration]), ~last & last, last, np.array([0]), np.float32([[t + 1]]))
        checkpoint.save(
            tmp_path / "checkpoints",
            iteration=iteration,
            step=4 * iteration,
            state=state_at(iteration),
            ring=ring,
            before=before,
            offsets={"metrics.jsonl": 10 * iteration},
            diverged_members=(),
        )
    return tmp_path / "checkpoints", ring


def test_the_newest_two_are_kept_and_come_back_as_they_were(saved):
    directory, ring = saved
    found, complaints = checkpoint.find(directory, ring)
    assert complaints == []
    assert [(one.iteration, one.step, one.offsets) for one in found] == [
        (2, 8, {"metrics.jsonl": 20}),
        (3, 12, {"metrics.jsonl": 30}),
    ]
    np.testing.assert_array_equal(found[-1].cursor.end, ring.cursor.end)
    restored = found[-1].load_state(jax.eval_shape(lambda: jax.tree.map(jax.numpy.asarray, state_at(0))))
    jax.tree.map(np.testing.assert_array_equal, restored, state_at(3))
    assert sorted(path.name for path in directory.iterdir()) == ["000002", "000003"]


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
    found, complaints = checkpoint.find(directory, ring)
    assert [one.iteration for one in found] == [2]
    assert len(complaints) == 1 and "000003 is damaged" in complaints[0]


def test_a_half_written_checkpoint_is_not_one(saved):
    directory, ring = saved
    (directory / ".writing").mkdir()
    (directory / ".writing" / "state.safetensors").write_bytes(b"half")
    found, complaints = checkpoint.find(directory, ring)
    assert [one.iteration for one in found] == [2, 3] and not complaints


def test_a_state_of_another_shape_is_refused_with_its_name(saved):
    found, _ = checkpoint.find(saved[0], None)
    other = {"weights": jax.ShapeDtypeStruct((5, 3), np.float32), "updates": jax.ShapeDtypeStruct((), np.int32)}
    with pytest.raises(ChorusError, match=r"weights.*should have the shape"):
        found[-1].load_state(other)


def test_no_checkpoint_is_no_complaint(tmp_path):
    assert checkpoint.find(tmp_path / "none", None) == ([], [])
