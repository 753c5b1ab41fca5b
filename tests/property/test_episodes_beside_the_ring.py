"""Episodes by transition against lists, whatever has wrapped, has been cut or was played by several members."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from builders import tiny_ring
from chorus.replay.ring import Ring
from chorus.training.diagnostics import own_share_of_episodes, own_shares

MEMBERS = 3


@st.composite
def histories(draw):
    """Lanes, capacity, the acting member of every step and lane and whether its episode ends there, and after how many
    steps somebody first asks for an episode. Members mostly rollout, so that many episodes are one member's."""
    lanes, capacity = draw(st.integers(1, 3)), draw(st.integers(2, 9))
    step = st.tuples(st.sampled_from([None, None, None, 0, 1, 2]), st.sampled_from([False, False, True]))
    steps = draw(st.lists(st.tuples(*[step] * lanes), min_size=1, max_size=80))
    return lanes, capacity, steps, draw(st.integers(0, len(steps)))


def play(history) -> tuple[Ring, list[list[tuple[int, int]]]]:
    """A ring and, for each lane, the episode and the owner of all its transitions."""
    lanes, capacity, steps, asked_after = history
    ring = tiny_ring(lanes, lanes * capacity, iteration_steps=lanes * 8)
    observation, zeros = np.zeros((lanes, 1), np.float32), np.zeros(lanes, np.float32)
    told, episode, owner = [[] for _ in range(lanes)], np.zeros(lanes, int), np.zeros(lanes, int)
    ring.begin(observation, np.arange(lanes))
    for time, step in enumerate(steps):
        if time == asked_after:
            ring.episodes  # noqa: B018  (read off the columns here, kept up from here on)
        owner = np.array([old if new is None else new for old, (new, _) in zip(owner, step, strict=True)])
        ended = np.array([ends for _, ends in step])
        ring.add(zeros.astype(int), zeros, ended, ended & ~ended, owner, observation)
        for lane in range(lanes):
            told[lane].append((int(episode[lane]), int(owner[lane])))
        episode += ended
        ring.begin(observation, np.flatnonzero(ended))
    return ring, told


def all_places(ring: Ring) -> tuple[np.ndarray, np.ndarray]:
    """Lane and position of every transition in the window, oldest first."""
    lane, position = ring.locate(np.arange(ring.rows_in_windows))
    valid, _ = ring.ends_within(lane, position, 1)
    return lane[valid], position[valid]


@pytest.mark.slow
@given(histories())
def test_transitions_know_their_episode_and_whether_one_member_played_it(history):
    ring, told = play(history)
    held = [(lane, *row) for lane, rows in enumerate(told) for row in rows[-int(ring.cursor.transitions[lane]) :]]
    lane, position = all_places(ring)
    number, alone = ring.episodes.look_up(lane, position)
    expected = [(place, episode) for place, episode, _ in held]
    assert len(number) == len(expected)
    assert len(set(number.tolist())) == len(set(expected)) == len(set(zip(number.tolist(), expected, strict=True)))
    players = {key: {owner for *place, owner in held if tuple(place) == key} for key in expected}
    assert alone.tolist() == [len(players[key]) == 1 for key in expected]


@pytest.mark.slow
@given(histories())
def test_a_batch_of_the_whole_replay_has_the_replays_shares(history):
    ring, _ = play(history)
    lane, position = all_places(ring)
    own = ring.owners(lane, position)[:, None] == np.arange(MEMBERS)
    number, alone = ring.episodes.look_up(lane, position)
    share = own_share_of_episodes(number[:, None], own & alone[:, None])
    np.testing.assert_array_equal(share, own_shares(ring, MEMBERS)[1])


@pytest.mark.slow
@given(histories(), st.integers(0, 2**32 - 1))
def test_a_ring_opened_again_knows_the_same(history, seed):
    """What is kept beside the ring is not stored: read off the columns it must say what the one that grew says, also
    of an episode whose first members the window has lost."""
    lanes, capacity, steps, _ = history
    ring, _ = play((lanes, capacity, steps, 0))
    opened = Ring(ring.layout)
    for name, column in ring.columns.arrays.items():
        opened.columns.arrays[name][:] = column
    opened.cursor = type(ring.cursor)(*(column.copy() for column in ring.cursor))
    rng, observation, zeros = np.random.default_rng(seed), np.zeros((lanes, 1), np.float32), np.zeros(lanes, np.float32)
    opened.episodes  # noqa: B018
    for _ in range(2 * capacity):
        lane, position = all_places(ring)
        (number, alone), (other_number, other_alone) = (
            each.episodes.look_up(lane, position) for each in (ring, opened)
        )
        np.testing.assert_array_equal(alone, other_alone)
        np.testing.assert_array_equal(number[:, None] == number, other_number[:, None] == other_number)
        ended, owner = rng.random(lanes) < 0.2, rng.integers(MEMBERS, size=lanes)
        for each in (ring, opened):
            each.add(zeros.astype(int), zeros, ended, ended & ~ended, owner, observation)
            each.begin(observation, np.flatnonzero(ended))
