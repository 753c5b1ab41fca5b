"""Ring and sampler against lists: whatever the episodes look like, only true windows of the newest data are drawn."""

import tempfile
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from naive_replay import NaiveReplay, all_windows, windows_at

from chorus.errors import ChorusError
from chorus.replay.layout import Cursor, RingLayout
from chorus.replay.ring import Ring
from chorus.replay.samplers import Shared, draw_uniform

SMALL, LARGE = (1,), (2_100,)


def layout_of(lanes, lane_capacity, iteration_steps=8, shape=SMALL):
    dtype = np.dtype(np.float32 if shape == SMALL else np.uint8)
    return RingLayout(lanes, lanes * lane_capacity, lanes * iteration_steps, shape, dtype)


@st.composite
def histories(draw, most_steps=40):
    """Sizes, n, and how each step of each lane ends: mostly it goes on."""
    lanes, capacity = draw(st.integers(1, 3)), draw(st.integers(2, 7))
    ending = st.sampled_from([0, 0, 0, 1, 2])
    steps = draw(st.lists(st.tuples(*[ending] * lanes), min_size=1, max_size=most_steps))
    return lanes, capacity, draw(st.integers(1, 4)), steps


@pytest.mark.slow
@given(histories())
def test_what_can_be_drawn_is_exactly_the_complete_windows_of_the_newest_transitions(history):
    lanes, capacity, n_step, steps = history
    ring = Ring(layout_of(lanes, capacity))
    naive = NaiveReplay(ring)
    for endings in steps:
        naive.step(endings)
        expected = naive.windows(n_step, [capacity] * lanes)
        found = all_windows(ring, n_step)
        assert len(found) == len(expected)
        assert {window.observation: window for window in found} == expected
        assert len(ring) == lanes * min(capacity, len(naive.lanes[0]))


@pytest.mark.slow
@given(histories(), st.integers(0, 2**32 - 1))
def test_a_sample_holds_true_windows_only_and_reaches_all_of_them(history, seed):
    lanes, capacity, n_step, steps = history
    ring = Ring(layout_of(lanes, capacity))
    naive = NaiveReplay(ring)
    for endings in steps:
        naive.step(endings)
    expected = naive.windows(n_step, [capacity] * lanes)
    rng = np.random.default_rng(seed)
    if not expected:
        with pytest.raises(ChorusError, match="no complete"):
            draw_uniform(ring, rng, 4, n_step)
        return
    drawn = windows_at(ring, *draw_uniform(ring, rng, 600, n_step), n_step)
    assert all(expected[window.observation] == window for window in drawn)
    # At most 21 windows: one of them is missed by 600 draws once in 10^11.
    assert {window.observation for window in drawn} == set(expected)


@pytest.mark.slow
@given(histories(most_steps=25))
def test_large_rows_may_hold_fewer_transitions_but_never_wrong_ones(history):
    lanes, capacity, n_step, steps = history
    ring = Ring(layout_of(lanes, capacity, shape=LARGE))
    naive = NaiveReplay(ring)
    for endings in steps:
        naive.step(endings)
    held = ring.cursor.transitions.tolist()
    assert all(1 <= count <= capacity for count in held)
    # Observations of one byte repeat after 256 numbers; these histories have fewer.
    assert {window.observation: window for window in all_windows(ring, n_step)} == naive.windows(n_step, held)
    if not any(any(endings) for endings in steps):
        assert held == [min(capacity, len(steps))] * lanes, "long episodes fill the capacity"


@st.composite
def iterations(draw):
    """Runs of whole iterations, each of which ends with a cut in every lane."""
    lanes, capacity, length = draw(st.integers(1, 2)), draw(st.integers(2, 6)), draw(st.integers(2, 5))
    ending = st.sampled_from([0, 0, 1, 2])
    iteration = st.lists(st.tuples(*[ending] * lanes), min_size=length, max_size=length)
    return lanes, capacity, length, draw(st.lists(iteration, min_size=3, max_size=7))


@pytest.mark.slow
@given(iterations(), st.integers(1, 3))
def test_the_window_a_checkpoint_saw_stays_intact_for_two_more_iterations(run, n_step):
    lanes, capacity, length, parts = run
    ring = Ring(layout_of(lanes, capacity, iteration_steps=length))
    naive, kept = NaiveReplay(ring), []
    for index, iteration in enumerate(parts):
        if index:
            naive.begin(np.arange(lanes))
            ring.protect(kept[max(0, index - 2)][0])
        for endings in iteration[:-1]:
            naive.step(endings)
        naive.step([ending or 2 for ending in iteration[-1]], begin=False)
        hashes = {block: ring.columns.digest(*block) for block in ring.blocks(ring.cursor)}
        kept.append((Cursor(*(column.copy() for column in ring.cursor)), all_windows(ring, n_step), hashes))
        now = ring.cursor
        for cursor, seen, hashes in kept[-3:]:
            ring.cursor = cursor
            assert all_windows(ring, n_step) == seen
            assert {block: ring.columns.digest(*block) for block in hashes} == hashes
        ring.cursor = now


@pytest.mark.slow
@given(histories(), st.integers(0, 2**32 - 1))
def test_files_and_memory_hold_the_same_and_files_can_be_opened_again(history, seed):
    lanes, capacity, n_step, steps = history
    with tempfile.TemporaryDirectory() as folder:
        layout = layout_of(lanes, capacity)
        rings = [Ring(layout), Ring(layout, Path(folder))]
        for ring in rings:
            naive = NaiveReplay(ring)
            for endings in steps:
                naive.step(endings)
        in_memory, in_files = rings
        assert all_windows(in_memory, n_step) == all_windows(in_files, n_step)
        hashes = [[ring.columns.digest(*block) for block in ring.blocks(ring.cursor)] for ring in rings]
        assert hashes[0] == hashes[1]
        in_files.columns.flush()
        opened = Ring(layout, Path(folder), existing=True)
        opened.cursor = in_files.cursor
        samples = [Shared().sample(ring, np.random.default_rng(seed), 8, 1, members=3) for ring in (in_memory, opened)]
        for one, other in zip(*(sample.batch for sample in samples), strict=True):
            np.testing.assert_array_equal(one, other)


def test_every_window_is_as_likely_as_another():
    ring = Ring(layout_of(3, 6))
    naive, rng = NaiveReplay(ring), np.random.default_rng(0)
    for _ in range(20):
        naive.step(rng.choice([0, 0, 1, 2], size=3).tolist())
    n_step, draws = 2, 20_000
    support = naive.windows(n_step, [6] * 3)
    drawn = windows_at(ring, *draw_uniform(ring, rng, draws, n_step), n_step)
    counts = np.bincount([list(support).index(window.observation) for window in drawn], minlength=len(support))
    expected = draws / len(support)
    chi_square, freedom = np.sum((counts - expected) ** 2 / expected), len(support) - 1
    assert freedom > 10
    # Its mean is the degrees of freedom and its variance twice that: five standard deviations.
    assert chi_square < freedom + 5 * np.sqrt(2 * freedom)


def test_a_batch_has_a_member_axis_of_one_and_full_weights():
    ring = Ring(layout_of(2, 6))
    naive = NaiveReplay(ring)
    for _ in range(5):
        naive.step([0, 1])
    batch = Shared().sample(ring, np.random.default_rng(0), 4, 3, members=3).batch
    shapes = {name: column.shape for name, column in batch._asdict().items()}
    assert shapes == {
        "observation": (4, 1, 1),
        "action": (4, 1),
        "rewards": (4, 1, 3),
        "length": (4, 1),
        "terminated": (4, 1),
        "next_observation": (4, 1, 1),
        "weight": (4, 1),
    }
    assert np.all(batch.weight == 1.0)


def test_an_empty_replay_says_so():
    with pytest.raises(ChorusError, match="empty"):
        Shared().sample(Ring(layout_of(1, 4)), np.random.default_rng(0), 1, 1, members=1)


def test_episodes_too_short_for_a_huge_ring_are_refused_before_a_checkpoint_is_damaged(monkeypatch):
    monkeypatch.setattr("chorus.replay.layout._MODERATE_BYTES", 0)
    ring = Ring(layout_of(1, 16, iteration_steps=16, shape=LARGE))
    naive = NaiveReplay(ring)
    for _ in range(16):
        naive.step([0])
    ring.protect(ring.cursor)
    with pytest.raises(ChorusError, match="fewer than 8 steps"):
        for _ in range(32):
            naive.step([1])


def test_a_ring_of_moderate_size_has_room_for_episodes_of_one_step():
    ring = Ring(layout_of(1, 16, iteration_steps=16, shape=LARGE))
    naive = NaiveReplay(ring)
    for _ in range(16):
        naive.step([1])
    ring.protect(ring.cursor)
    for _ in range(32):
        naive.step([1])
    assert len(ring) == 16
