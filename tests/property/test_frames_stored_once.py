"""Frames are stored once: stacks rebuilt from the ring are the stacks the environment showed, whatever happened."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from chorus.envs.registry import make_host
from chorus.replay.batch import Batch, with_whole_stacks
from chorus.replay.layout import Cursor, RingLayout
from chorus.replay.ring import Ring
from chorus.replay.samplers import Shared

STACK, SHAPE = 3, (3, 2, 2)
GOES_ON, TERMINATED, TRUNCATED, LIFE_LOST = range(4)


class Stacking:
    """Feeds a ring with stacks of numbered frames and remembers every transition with the stacks it was shown."""

    def __init__(self, lanes: int, capacity: int, iteration_steps: int = 6) -> None:
        layout = RingLayout(
            lanes, lanes * capacity, lanes * iteration_steps, SHAPE, np.dtype(np.uint8), frame_stack=STACK
        )
        self.ring, self.lanes, self.count = Ring(layout), lanes, 0
        self.seen: list[list[tuple]] = [[] for _ in range(lanes)]
        self.now = np.zeros((lanes, *SHAPE), np.uint8)
        self.begin(np.arange(lanes))

    def _frame(self) -> np.ndarray:
        # Never zero, which is what lies before an episode.
        self.count = self.count % 255 + 1
        return np.full(SHAPE[1:], self.count, np.uint8)

    def begin(self, lanes) -> None:
        for lane in lanes:
            self.now[lane] = 0
            self.now[lane, -1] = self._frame()
        self.ring.begin(self.now, np.asarray(lanes))

    def step(self, endings, begin=True) -> None:
        ending = np.asarray(endings)
        after = np.stack([np.concatenate([stack[1:], self._frame()[None]]) for stack in self.now])
        number = np.arange(self.lanes) + sum(map(len, self.seen))
        terminal = (ending == TERMINATED) | (ending == LIFE_LOST)
        self.ring.add(
            number.astype(np.int32), number.astype(np.float32), terminal, ending == TRUNCATED, number * 0, after
        )
        for lane in range(self.lanes):
            ended = ending[lane] != GOES_ON
            self.seen[lane].append((int(number[lane]), self.now[lane].copy(), after[lane].copy(), ended))
        self.now = after
        over = np.flatnonzero((ending == TERMINATED) | (ending == TRUNCATED))
        if begin and len(over):
            self.begin(over)

    def expected(self, n_step: int) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """First transition of each complete window -> the stacks before and after it."""
        found = {}
        for steps in self.seen:
            for start in range(len(steps)):
                window = []
                for step in steps[start : start + n_step]:
                    window.append(step)
                    if step[3]:
                        break
                if len(window) == n_step or window[-1][3]:
                    found[steps[start][0]] = (steps[start][1], window[-1][2])
        return found

    def rebuilt(self, n_step: int) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """The same from everything that could be drawn, cut as the update does it."""
        ring = self.ring
        lane, position = ring.locate(np.arange(ring.rows_in_windows))
        valid, length = ring.ends_within(lane, position, n_step)
        read = ring.read(lane[valid], position[valid], length[valid], n_step)
        columns = {name: column[:, None] for name, column in read._asdict().items()}
        batch = Batch(**columns, weight=np.ones((len(read.action), 1), np.float32))
        assert batch.next_observation.shape[1:3] == (1, n_step), "only the frames that are new"
        whole = with_whole_stacks(batch, STACK)
        pairs = zip(np.asarray(whole.observation[:, 0]), np.asarray(whole.next_observation[:, 0]), strict=True)
        return dict(zip(read.action.tolist(), pairs, strict=True))


def assert_rebuilt(history: Stacking, n_step: int) -> None:
    expected, rebuilt = history.expected(n_step), history.rebuilt(n_step)
    assert rebuilt.keys() <= expected.keys()
    for number, (before, after) in rebuilt.items():
        np.testing.assert_array_equal(before, expected[number][0])
        np.testing.assert_array_equal(after, expected[number][1])


@st.composite
def histories(draw):
    lanes, capacity = draw(st.integers(1, 2)), draw(st.integers(2, 7))
    ending = st.sampled_from([GOES_ON, GOES_ON, GOES_ON, TERMINATED, TRUNCATED, LIFE_LOST])
    steps = draw(st.lists(st.tuples(*[ending] * lanes), min_size=1, max_size=60))
    return lanes, capacity, steps


@pytest.mark.slow
@given(histories(), st.integers(1, 4))
def test_rebuilt_stacks_are_those_that_were_shown_across_ends_lives_and_wrap_around(history, n_step):
    lanes, capacity, steps = history
    stacking = Stacking(lanes, capacity)
    for endings in steps:
        stacking.step(endings)
        assert_rebuilt(stacking, n_step)


@pytest.mark.slow
@given(st.lists(st.lists(st.sampled_from([0, 0, 1, 2, 3]), min_size=6, max_size=6), min_size=3, max_size=6))
def test_the_stacks_a_checkpoint_saw_stay_intact_for_two_more_iterations(iterations):
    stacking, kept = Stacking(1, 5), []
    for index, endings in enumerate(iterations):
        if index:
            stacking.begin([0])
            stacking.ring.protect(kept[max(0, index - 2)][0])
        for ending in endings[:-1]:
            stacking.step([ending])
        stacking.step([endings[-1] if endings[-1] in (TERMINATED, TRUNCATED) else TRUNCATED], begin=False)
        kept.append((Cursor(*(column.copy() for column in stacking.ring.cursor)), stacking.rebuilt(1)))
        now = stacking.ring.cursor
        for cursor, seen in kept[-3:]:
            stacking.ring.cursor = cursor
            again = stacking.rebuilt(1)
            assert again.keys() == seen.keys()
            for number, pair in seen.items():
                np.testing.assert_array_equal(np.stack(again[number]), np.stack(pair))
        stacking.ring.cursor = now


@pytest.mark.slow
@pytest.mark.parametrize("n_step", [1, 3])
def test_rebuilt_stacks_are_the_ones_a_real_game_returned(n_step):
    slots, capacity = 2, 60
    envs = make_host("ALE/Breakout-v5", slots, 50)
    layout = RingLayout(
        slots, slots * capacity, 20, envs.spec.observation_shape, envs.spec.observation_dtype, frame_stack=4
    )
    ring, rng, seen = Ring(layout), np.random.default_rng(0), {}
    now = envs.reset(np.arange(slots))
    ring.begin(now, np.arange(slots))
    for t in range(300):
        action = rng.integers(4, size=slots)
        moved = envs.step(action)
        number = np.arange(slots) + slots * t
        ring.add(number, moved.reward, moved.terminated, moved.truncated, number * 0, moved.observation)
        seen |= dict(zip(number.tolist(), zip(now, moved.observation, strict=True), strict=True))
        ended = np.flatnonzero(moved.terminated | moved.truncated)
        if len(ended):
            ring.begin(moved.reset_observation, ended)
        now = moved.reset_observation
    envs.close()
    assert ring.cursor.end.min() > 1.5 * layout.rows, "the ring has wrapped around"
    batch = Shared().sample(ring, rng, 200, n_step, members=1).batch
    assert batch.observation.shape == (200, 1, 4, 84, 84)
    assert batch.next_observation.shape == (200, 1, n_step, 84, 84)
    whole = with_whole_stacks(batch, 4)
    for i in range(200):
        first, length = int(batch.action[i, 0]), int(batch.length[i, 0])
        np.testing.assert_array_equal(whole.observation[i, 0], seen[first][0])
        np.testing.assert_array_equal(whole.next_observation[i, 0], seen[first + slots * (length - 1)][1])
    assert {int(length) for length in batch.length[:, 0]} == set(range(1, n_step + 1))


def test_a_row_of_atari_costs_at_most_7200_bytes():
    layout = RingLayout(1, 1_000_000, 250_000, (4, 84, 84), np.dtype(np.uint8), frame_stack=4)
    assert layout.total_bytes / (layout.rows * layout.lanes) == 84 * 84 + 4 + 4 + 1 + 2 <= 7_200
