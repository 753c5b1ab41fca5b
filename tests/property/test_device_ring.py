"""The ring on the device against the host's and against lists: the same rows, windows, episodes and own transitions."""

from functools import cache, partial

import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from naive_replay import NaiveReplay, Window, all_windows

from chorus.replay.device import DeviceRing, Transition
from chorus.replay.drawing import Sizes, draw_own, draw_uniform
from chorus.replay.layout import RingLayout
from chorus.replay.ring import Ring

MEMBERS = 7


def layout_of(lanes, lane_capacity):
    return RingLayout(lanes, lanes * lane_capacity, lanes * 8, (1,), np.dtype(np.float32))


# Few, because each is compiled once.
LAYOUTS = [layout_of(1, 3), layout_of(2, 2), layout_of(3, 5)]


@cache
def compiled(layout):
    ring = DeviceRing(layout, MEMBERS, queues=True)
    names = ("add", "begin")
    return ring, {name: jax.jit(getattr(ring, name)) for name in names}


@cache
def reader(layout, n_step):
    """(contents) -> validity, windows, owners and episodes of all rows of all windows."""
    ring, _ = compiled(layout)

    def read(contents):
        lane, offset = (
            jnp.asarray(grid.reshape(-1)) for grid in np.indices((layout.lanes, layout.window_rows), np.int32)
        )
        position = contents.oldest[lane] + offset
        valid, length = ring.ends_within(contents, lane, position, n_step)
        windows = ring.read(contents, lane, position, length, jnp.ones((len(lane), 1)), n_step)
        owner = ring.owners(contents, lane, position)
        return valid & (position < contents.end[lane]), windows, owner, ring.look_up(contents, lane, position)

    return jax.jit(read)


@cache
def drawer(layout, n_step, size):
    ring, _ = compiled(layout)
    sizes = Sizes(size, n_step, MEMBERS)
    return jax.jit(
        lambda contents, key: (draw_uniform(ring, contents, key, sizes), draw_own(ring, contents, key, sizes))
    )


class OnBoth:
    """A host ring and a device ring that are told the same; `begin` after `add` joins its step, as in a program."""

    def __init__(self, layout):
        self.layout, self.host = layout, Ring(layout)
        self.device, self._run = compiled(layout)
        self._contents = self.device.upload(self.host)
        self._waiting = None

    def begin(self, observation, lanes):
        self.host.begin(observation, lanes)
        if self._waiting is None:
            self._contents = self._run["begin"](self._contents, observation)
        else:
            starts = np.isin(np.arange(self.layout.lanes), lanes)
            self._waiting = self._waiting._replace(reset_observation=observation, starts=starts)

    def add(self, action, reward, terminated, truncated, owner, next_observation):
        self.host.add(action, reward, terminated, truncated, owner, next_observation)
        self._flush()
        nowhere = np.zeros(self.layout.lanes, bool)
        self._waiting = Transition(
            action, reward, terminated, truncated, owner, next_observation, None, 0 * next_observation, nowhere
        )

    def _flush(self):
        if self._waiting is not None:
            step = jax.tree.map(jnp.asarray, self._waiting)
            self._contents, self._waiting = self._run["add"](self._contents, step), None

    @property
    def contents(self):
        self._flush()
        return self._contents


@st.composite
def histories(draw, most_steps=30):
    layout = draw(st.sampled_from(LAYOUTS))
    ending = st.sampled_from([0, 0, 0, 1, 2])
    steps = draw(st.lists(st.tuples(*[ending] * layout.lanes), min_size=1, max_size=most_steps))
    return layout, draw(st.sampled_from([1, 3])), steps


def played(layout, steps):
    both = OnBoth(layout)
    naive = NaiveReplay(both)
    for endings in steps:
        naive.step(endings)
    return both, naive


def rows_of(reading):
    """The valid rows of a reading, as the naive model writes windows."""
    valid, windows, owner, _ = jax.tree.map(np.asarray, reading)
    return [
        Window(
            observation=windows.observation[row, 0].item(),
            action=windows.action[row].item(),
            rewards=tuple(windows.rewards[row].tolist()),
            length=windows.length[row].item(),
            terminated=windows.terminated[row].item(),
            next_observation=windows.next_observation[row, 0].item(),
            owner=owner[row].item(),
        )
        for row in np.flatnonzero(valid)
    ]


@pytest.mark.slow
@given(histories())
def test_its_windows_are_those_of_the_naive_model(history):
    layout, n_step, steps = history
    both, naive = played(layout, steps)
    found = rows_of(reader(layout, n_step)(both.contents))
    expected = naive.windows(n_step, [layout.lane_capacity] * layout.lanes)
    assert len(found) == len(expected)
    assert {window.observation: window for window in found} == expected
    assert sorted(found) == sorted(all_windows(both.host, n_step))


@pytest.mark.slow
@given(histories())
def test_cursor_and_episodes_are_those_of_the_host_ring(history):
    layout, n_step, steps = history
    both, _ = played(layout, steps)
    contents = both.contents
    for own, other in zip((contents.end, contents.oldest, contents.transitions), both.host.cursor, strict=True):
        np.testing.assert_array_equal(own, other)
    valid, _, _, (episode, alone) = jax.tree.map(np.asarray, reader(layout, n_step)(contents))
    lane, offset = (grid.reshape(-1)[valid] for grid in np.indices((layout.lanes, layout.window_rows)))
    expected, expected_alone = both.host.episodes.look_up(lane, both.host.cursor.oldest[lane] + offset)
    np.testing.assert_array_equal(alone[valid], expected_alone)
    same, other_same = (numbers[:, None] == numbers for numbers in (episode[valid], expected))
    np.testing.assert_array_equal(same, other_same)


@pytest.mark.slow
@given(histories(), st.integers(0, 2**31 - 1))
def test_draws_reach_every_complete_window_and_no_other(history, seed):
    layout, n_step, steps = history
    both, naive = played(layout, steps)
    expected = naive.windows(n_step, [layout.lane_capacity] * layout.lanes)
    (places, found), (own, has_own) = drawer(layout, n_step, 600)(both.contents, jax.random.key(seed))
    assert bool(found) == bool(expected)
    if not expected:
        assert not has_own.any()
        return
    drawn = both.host.read(*(np.asarray(column, np.int64) for column in places), n_step).observation[:, 0]
    # At most 15 windows: one of them is missed by 600 draws once in 10^17.
    assert set(drawn.tolist()) == set(expected)
    for member in range(MEMBERS):
        support = {window.observation for window in expected.values() if window.owner == member}
        assert bool(has_own[member]) == bool(support)
        if support:
            columns = (np.asarray(column[:, member], np.int64) for column in own)
            assert set(both.host.read(*columns, n_step).observation[:, 0].tolist()) == support


@pytest.mark.slow
@given(histories())
def test_contents_go_to_the_host_and_back(history):
    layout, n_step, steps = history
    both, _ = played(layout, steps)
    fresh = Ring(layout)
    both.device.download(both.contents, fresh)
    assert sorted(all_windows(fresh, n_step)) == sorted(all_windows(both.host, n_step))
    again = both.device.upload(fresh)
    assert rows_of(reader(layout, n_step)(again)) == rows_of(reader(layout, n_step)(both.contents))
    own, has_own = drawer(layout, n_step, 600)(again, jax.random.key(0))[1]
    other, _ = drawer(layout, n_step, 600)(both.contents, jax.random.key(0))[1]
    jax.tree.map(lambda x, y: np.testing.assert_array_equal(x[:, has_own], y[:, has_own]), own, other)


@pytest.mark.slow
@pytest.mark.parametrize("n_step", [1, 3])
def test_every_window_is_as_likely_as_another(n_step):
    rng = np.random.default_rng(0)
    both, naive = played(layout_of(3, 5), [rng.choice([0, 0, 1, 2], size=3).tolist() for _ in range(20)])
    support, draws = naive.windows(n_step, [5] * 3), 20_000
    (places, _), _ = drawer(both.layout, n_step, draws)(both.contents, jax.random.key(1))
    drawn = both.host.read(*(np.asarray(column, np.int64) for column in places), n_step).observation[:, 0]
    counts = np.array([np.sum(drawn == observation) for observation in support])
    expected, freedom = draws / len(support), len(support) - 1
    assert freedom > 10
    # Its mean is the degrees of freedom and its variance twice that: five standard deviations.
    assert np.sum((counts - expected) ** 2 / expected) < freedom + 5 * np.sqrt(2 * freedom)


@pytest.mark.slow
def test_other_keys_draw_others():
    both, _ = played(layout_of(3, 5), [(0, 0, 0)] * 9)
    draw = partial(drawer(both.layout, 1, 64), both.contents)
    (first, _), (own, _) = draw(jax.random.key(1))
    (second, _), (other_own, _) = draw(jax.random.key(2))
    assert (np.asarray(first.position) != np.asarray(second.position)).any()
    assert (np.asarray(own.position) != np.asarray(other_own.position)).any()
