"""Boolean observations are stored as bits: the same on host and device, and nothing else changes."""

import hypothesis.strategies as st
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

from builders import tiny_ring
from chorus.config.resolution import Request, resolve
from chorus.envs.registry import describe
from chorus.replay.layout import RingLayout
from chorus.replay.packing import pack, packed_type, unpack
from chorus.runs.resources import ring_layout


@given(st.integers(1, 3), st.integers(1, 11), st.integers(0, 2**32 - 1))
def test_packing_is_undone_by_unpacking(width, height, seed):
    frames = np.random.default_rng(seed).random((5, width, height)) < 0.5
    stored = pack(frames, (width, height))
    assert (stored.shape[1:], stored.dtype) == packed_type((width, height), np.dtype(bool))
    np.testing.assert_array_equal(unpack(stored, (width, height), np.dtype(bool)), frames)


def test_host_and_device_store_the_same_bytes():
    frames = np.random.default_rng(0).random((6, 10, 10, 4)) < 0.3
    on_device = pack(jnp.asarray(frames), (10, 10, 4))
    np.testing.assert_array_equal(on_device, pack(frames, (10, 10, 4)))
    np.testing.assert_array_equal(unpack(on_device, (10, 10, 4), np.dtype(bool)), frames)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_other_observations_are_stored_as_they_are(dtype):
    frames = np.arange(12).reshape(2, 6).astype(dtype)
    assert pack(frames, (6,)) is frames and unpack(frames, (6,), np.dtype(dtype)) is frames
    assert packed_type((6,), np.dtype(dtype)) == ((6,), np.dtype(dtype))


def test_a_row_of_minatar_takes_an_eighth():
    config = resolve(Request(preset="double-dqn", env="MinAtar/Seaquest-v1")).config
    layout = ring_layout(config, describe("MinAtar/Seaquest-v1", None))
    # 10 x 10 x 10 bits.
    assert layout.types()["observation"] == ((125,), np.dtype(np.uint8))


@pytest.mark.parametrize("stack", [1, 2])
def test_a_ring_hands_out_the_booleans_it_was_given(stack):
    rng = np.random.default_rng(0)
    shape = (3, 3) if stack == 1 else (stack, 3, 3)
    ring = tiny_ring(lanes=1, observation_shape=shape, observation_dtype=np.dtype(bool), frame_stack=stack)
    assert isinstance(ring.layout, RingLayout)
    frames = rng.random((5, 3, 3)) < 0.5
    seen = np.stack([frames[:-1], frames[1:]], axis=1) if stack == 2 else frames
    ring.begin(seen[:1], np.arange(1))
    for after in seen[1:]:
        ending = np.zeros(1, bool)
        ring.add(np.zeros(1, np.int32), np.zeros(1, np.float32), ending, ending, np.zeros(1, np.int32), after[None])
    windows = ring.read(np.zeros(2, np.int64), np.array([1, 2]), np.ones(2, np.int64), 1)
    assert windows.observation.dtype == bool
    np.testing.assert_array_equal(windows.observation, seen[1:3])
    after = seen[2:4] if stack == 1 else seen[2:4, -1:]
    np.testing.assert_array_equal(windows.next_observation, after)
