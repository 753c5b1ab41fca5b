"""Sampling by owner against lists: a member's own transitions, all of them, and nobody else's, whatever has wrapped."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from naive_replay import NaiveReplay, windows_at

from chorus.replay.layout import RingLayout
from chorus.replay.ownership import Positions
from chorus.replay.ring import Ring
from chorus.replay.samplers import OwnOnly, SelfOversampled, Shared, draw_own

MEMBERS = 7  # the naive model's owners are 0 to 6


def ring_of(lanes: int, capacity: int) -> Ring:
    return Ring(RingLayout(lanes, lanes * capacity, lanes * 8, (1,), np.dtype(np.float32)))


@st.composite
def histories(draw):
    """Sizes, n, how each step of each lane ends, and after how many steps somebody first asks for an owner."""
    lanes, capacity = draw(st.integers(1, 3)), draw(st.integers(2, 9))
    ending = st.sampled_from([0, 0, 0, 1, 2])
    steps = draw(st.lists(st.tuples(*[ending] * lanes), min_size=1, max_size=80))
    return lanes, capacity, draw(st.integers(1, 4)), steps, draw(st.integers(0, len(steps)))


@pytest.mark.slow
@given(histories(), st.integers(0, 2**32 - 1))
def test_a_members_own_windows_are_drawn_and_no_others(history, seed):
    """80 steps in a ring of at most 19 + 2 · 17 rows: windows, and the ring itself, are written round and round."""
    lanes, capacity, n_step, steps, asked_after = history
    ring, rng = ring_of(lanes, capacity), np.random.default_rng(seed)
    naive = NaiveReplay(ring)
    for time, endings in enumerate(steps):
        if time == asked_after:
            ring.ownership  # noqa: B018  (read off the column here, kept up from here on)
        naive.step(endings)
    expected = naive.windows(n_step, [capacity] * lanes)
    for member in range(MEMBERS):
        own = {key for key, window in expected.items() if window.owner == member}
        places = draw_own(ring, rng, member, 600, n_step, ring.incomplete_from(n_step))
        if not own:
            assert places is None
            continue
        drawn = windows_at(ring, *places, n_step)
        assert all(expected[window.observation] == window and window.owner == member for window in drawn)
        # At most 27 windows: one of them is missed by 600 draws once in 10^8.
        assert {window.observation for window in drawn} == own


@pytest.mark.slow
@given(histories(), st.integers(0, 2**32 - 1), st.booleans())
def test_a_ring_opened_again_draws_the_same_numbers(history, seed, joint):
    """What is kept beside the ring is not stored: read off the columns it must decide as the one that grew."""
    lanes, capacity, n_step, steps, _ = history
    ring = ring_of(lanes, capacity)
    naive = NaiveReplay(ring)
    ring.ownership  # noqa: B018
    for endings in (*steps, (1,) * lanes):
        naive.step(endings)
    opened = Ring(ring.layout)
    for name, column in ring.columns.arrays.items():
        opened.columns.arrays[name][:] = column
    opened.cursor = ring.cursor
    sampler = SelfOversampled(joint_coin=joint)
    one, other = (sampler.sample(each, np.random.default_rng(seed), 5, n_step, MEMBERS) for each in (ring, opened))
    for ours, theirs in zip((*one.batch, *one[1:]), (*other.batch, *other[1:]), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_every_own_window_is_as_likely_as_another():
    ring, rng = ring_of(3, 60), np.random.default_rng(0)
    naive = NaiveReplay(ring)
    for _ in range(200):
        naive.step(rng.choice([0, 0, 0, 1, 2], size=3).tolist())
    own = [key for key, window in naive.windows(2, [60] * 3).items() if window.owner == 4]
    drawn = windows_at(ring, *draw_own(ring, rng, 4, 20_000, 2, ring.incomplete_from(2)), 2)
    counts = np.bincount([own.index(window.observation) for window in drawn], minlength=len(own))
    expected, freedom = 20_000 / len(own), len(own) - 1
    assert freedom > 10
    # The mean of chi square is the degrees of freedom and its variance twice that: five standard deviations.
    assert np.sum((counts - expected) ** 2 / expected) < freedom + 5 * np.sqrt(2 * freedom)


def shares(sampler, ring, members, updates=300, batch=64):
    """The share of each member's batches that it generated itself, and how often it got the common batch for want of
    own data."""
    rng, own, missed = np.random.default_rng(1), np.zeros(members), np.zeros(members)
    for _ in range(updates):
        sample = sampler.sample(ring, rng, batch, 1, members)
        own += np.mean(sample.owner == np.arange(members), axis=0)
        missed += sample.owns_nothing
    return own / updates, missed


def filled(steps: int, members: int, capacity: int = 300) -> Ring:
    """Episodes of five steps, each with an owner in turn, in two lanes."""
    ring = ring_of(2, capacity // 2)
    observation = np.zeros((2, 1), np.float32)
    ring.begin(observation, np.arange(2))
    for time in range(steps):
        last = np.full(2, time % 5 == 4)
        owner = np.array([time // 5 % members, (time // 5 + 1) % members])
        ring.add(np.zeros(2, int), np.zeros(2, np.float32), last, ~last & last, owner, observation)
        if last[0]:
            ring.begin(observation, np.arange(2))
    return ring


@pytest.mark.slow
def test_the_own_share_holds_before_and_after_the_ring_wraps():
    """Half of the batches are own, the other half hold 1/N own transitions: 0.5 + 0.5/N."""
    members = 5
    for steps in (100, 150, 2_000):  # a part of the capacity, all of it, many times round the ring
        ring = filled(steps, members)
        assert len(ring) == min(2 * steps, 300)
        assert (steps > ring.layout.rows) == (steps == 2_000)
        own, missed = shares(SelfOversampled(), ring, members)
        # A coin decides about 0.8 of a batch: a mean over 300 batches has the deviation 0.4/√300 = 0.023.
        np.testing.assert_allclose(own, 0.5 + 0.5 / members, atol=0.09)
        assert abs(own.mean() - (0.5 + 0.5 / members)) < 0.04
        assert not missed.any()
        uniform, _ = shares(Shared(), ring, members)
        np.testing.assert_allclose(uniform, 1 / members, atol=0.02)


@pytest.mark.slow
def test_a_member_that_owns_nothing_gets_the_common_batch_and_is_counted():
    ring, sampler = filled(150, 3), SelfOversampled(own_probability=1.0)
    sample = sampler.sample(ring, np.random.default_rng(0), 6, 1, 5)
    assert sample.owns_nothing.tolist() == [False, False, False, True, True]
    np.testing.assert_array_equal(sample.owner[:, :3], np.tile([0, 1, 2], (6, 1)))
    for column in sample.batch[:-1]:
        np.testing.assert_array_equal(column[:, 3], column[:, 4])
    _, missed = shares(SelfOversampled(), ring, 5)
    assert not missed[:3].any()
    # 300 fair coins: 150 with a deviation of 8.7.
    assert np.all(np.abs(missed[3:] - 150) < 40)


def test_with_own_data_only_a_member_that_owns_nothing_learns_nothing():
    ring, rng = filled(150, 3), np.random.default_rng(0)
    sample = OwnOnly().sample(ring, rng, 6, 1, 5)
    np.testing.assert_array_equal(sample.owner[:, :3], np.tile([0, 1, 2], (6, 1)))
    np.testing.assert_array_equal(sample.batch.weight, np.tile([1.0, 1.0, 1.0, 0.0, 0.0], (6, 1)))
    assert sample.owns_nothing.tolist() == [False, False, False, True, True]
    own, missed = shares(OwnOnly(), ring, 3, updates=20)
    assert own.tolist() == [1.0] * 3 and not missed.any()


@pytest.mark.slow
@pytest.mark.parametrize(("probability", "share"), [(0.0, 1 / 3), (0.25, 0.5), (0.75, 5 / 6), (1.0, 1.0)])
def test_the_own_share_goes_from_one_in_n_to_all(probability, share):
    """p + (1 - p)/3, for N = 3."""
    own, _ = shares(SelfOversampled(own_probability=probability), filled(150, 3), 3, updates=200, batch=32)
    # A coin decides about 2/3 of a batch: the deviation of a mean over 3 · 200 is at most 0.33/√600 = 0.014.
    assert own.mean() == pytest.approx(share, abs=0.06)


def test_members_whose_coin_says_shared_have_one_common_batch():
    ring = filled(150, 5)
    sample = SelfOversampled(own_probability=0.0).sample(ring, np.random.default_rng(0), 8, 1, 5)
    assert sample.batch.observation.shape == (8, 5, 1)
    assert np.all(sample.owner == sample.owner[:, :1]) and len(np.unique(sample.owner)) > 1


@pytest.mark.slow
def test_a_joint_coin_falls_for_all_members_alike_and_single_coins_do_not():
    ring, rng = filled(150, 5), np.random.default_rng(0)

    def all_own(sampler):
        drawn = [sampler.sample(ring, rng, 8, 1, 5).owner == np.arange(5) for _ in range(100)]
        return np.array([np.all(own, axis=0) for own in drawn])

    joint = all_own(SelfOversampled(joint_coin=True))
    assert set(joint.sum(axis=1)) == {0, 5} and abs(joint[:, 0].mean() - 0.5) < 0.2
    single = all_own(SelfOversampled())
    # Five fair coins agree in one update of sixteen.
    assert np.mean((single.sum(axis=1) % 5) > 0) > 0.85


@given(st.lists(st.integers(1, 5), min_size=1, max_size=300), st.integers(1, 40))
def test_positions_forget_only_what_is_too_old(gaps, reach):
    positions, kept = Positions(), []
    for position in np.cumsum(gaps).tolist():
        positions.append(position, position - reach)
        kept.append(position)
        seen = [one for one in kept if one >= position - reach]
        assert positions.between(position - reach, position + 1).tolist() == seen
        assert len(positions._array) <= max(32, 4 * (reach + 1)), "room follows what is kept, not what was"


def test_drawing_copies_no_queue_and_reads_the_columns_once():
    """What a draw costs does not grow with the replay."""
    ring, positions = filled(150, 5), Positions(np.arange(1_000))
    assert np.shares_memory(positions.between(100, 900), positions._array)
    before = ring.ownership
    SelfOversampled().sample(ring, np.random.default_rng(0), 8, 1, 5)
    assert ring.ownership is before
