"""Masks of data bootstrapping: drawn once, stored with their transition, read back with it, whatever has wrapped."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from chorus.replay.layout import RingLayout
from chorus.replay.ring import Ring
from chorus.replay.samplers import BootstrapMasked


def masked_ring(lanes: int, capacity: int, members: int) -> Ring:
    layout = RingLayout(lanes, lanes * capacity, lanes * 8, (1,), np.dtype(np.float32), masked_members=members)
    return Ring(layout)


def fill(ring: Ring, steps: int, members: int, rng: np.random.Generator) -> dict[float, list[bool]]:
    """Every observation is another number; the mask that was stored with each."""
    lanes, sampler, stored, seen = ring.layout.lanes, BootstrapMasked(), {}, 0.0
    now = np.arange(lanes, dtype=np.float32)[:, None]
    ring.begin(now, np.arange(lanes))
    for time in range(1, steps + 1):
        mask, ends = sampler.draw_mask(rng, lanes, members), np.full(lanes, time % 7 == 0)
        stored |= {float(now[lane, 0]): mask[lane].tolist() for lane in range(lanes)}
        seen += lanes
        now = np.arange(seen, seen + lanes, dtype=np.float32)[:, None]
        ring.add(np.zeros(lanes, int), np.zeros(lanes, np.float32), ends, ~ends & ends, np.zeros(lanes, int), now, mask)
        if ends[0]:
            ring.begin(now, np.arange(lanes))
    return stored


@pytest.mark.slow
@given(st.integers(1, 3), st.integers(2, 9), st.sampled_from([1, 3, 8, 9, 20]), st.integers(1, 90), st.integers(0, 99))
def test_a_sampled_transition_has_the_mask_it_was_stored_with(lanes, capacity, members, steps, seed):
    ring, rng = masked_ring(lanes, capacity, members), np.random.default_rng(seed)
    stored = fill(ring, steps, members, rng)
    sample = BootstrapMasked().sample(ring, rng, 50, 1, members)
    assert sample.batch.weight.shape == (50, members) and sample.batch.observation.shape == (50, 1, 1)
    for seen, weight in zip(sample.batch.observation[:, 0, 0], sample.batch.weight, strict=True):
        assert weight.tolist() == [float(kept) for kept in stored[float(seen)]]


def test_the_share_that_is_kept():
    mask = BootstrapMasked().draw_mask(np.random.default_rng(0), 1_000, 10)
    # 10,000 coins: a deviation of √(0.75 · 0.25 / 10,000) = 0.0043.
    assert mask.mean() == pytest.approx(0.75, abs=0.02)
    assert BootstrapMasked(keep_probability=1.0).draw_mask(np.random.default_rng(0), 4, 3).all()


def test_a_mask_costs_a_bit_a_member():
    plain, masked = (RingLayout(1, 10, 10, (1,), np.dtype(np.float32), masked_members=n) for n in (0, 9))
    assert (masked.total_bytes - plain.total_bytes) / masked.rows == 2
