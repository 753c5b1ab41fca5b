"""Counts of exploration on episodes that are written down, with the arithmetic shown."""

import gymnasium
import numpy as np
import pytest

from chorus.config.identity import identity
from chorus.config.resolution import Request, resolve
from chorus.envs.deep_sea import describe
from chorus.envs.given import name_env
from chorus.errors import ChorusError
from chorus.replay.ring import ENSEMBLE
from chorus.training.episodes import EpisodeRecorder
from chorus.training.exploration import CountedExploration, counted_bytes, exploration_log
from chorus.training.loop import Collected, Visited
from chorus.training.states import Grid, Hashed, MarkedCell, SimHash

SEA = describe("DeepSea-5-v0", None)


def observation(*cells):
    """One observation per slot, with this cell marked; None for an observation of zeros."""
    shown = np.zeros((len(cells), 5, 5), bool)
    for slot, cell in enumerate(cells):
        if cell is not None:
            shown[slot][cell] = True
    return shown


class Played:
    """Feeds steps of one slot to a log: (cell, action, owner, reward, ended)."""

    def __init__(self, log):
        self.log, self._recorder, self._step = log, EpisodeRecorder(1), 0

    def __call__(self, *steps):
        for cell, action, owner, reward, ended in steps:
            self._step += 1
            visited = Visited(observation(cell), np.array([action]))
            event = Collected(self._step, np.array([owner]), np.float32([reward]), np.array([ended]), visited)
            self.log.record(event, self._recorder.record(event.owner[None], event.reward[None], event.ended[None]))
        return self.log.metrics()


def test_states_and_pairs_are_counted_once_for_each_member_and_together():
    """Member 0 sees the cells A, B, A and takes 0, 1, 1: 2 states, 3 pairs. Member 1 sees A, C with 0, 0: 2 and 2.

    Together A, B, C are 3 states; (A,0), (B,1), (A,1) and (A,0), (C,0) are 4 different pairs. Means: 2 and 2.5.
    """
    a, b, c = (0, 0), (1, 1), (1, 0)
    play = Played(CountedExploration(MarkedCell(), SEA, 2))
    found = play(
        (a, 0, 0, 0.0, False),
        (b, 1, 0, 0.0, False),
        (a, 1, 0, 0.0, True),
        (a, 0, 1, 0.0, False),
        (c, 0, 1, 0.0, True),
    )
    expected = {"": 3, "/member_0": 2, "/member_1": 2, "/mean": 2.0}
    assert {f"exploration/states_visited{end}": count for end, count in expected.items()}.items() <= found.items()
    expected = {"": 4, "/member_0": 3, "/member_1": 2, "/mean": 2.5}
    assert {f"exploration/state_actions_visited{end}": n for end, n in expected.items()}.items() <= found.items()
    visits = play.log.visit_map()
    assert (visits[a], visits[b], visits[c], visits.sum()) == (3, 1, 1, 5)


def test_actions_of_the_whole_ensemble_count_together_and_for_no_member():
    found = Played(CountedExploration(MarkedCell(), SEA, 2))(((2, 1), 1, ENSEMBLE, 0.0, False))
    assert found["exploration/states_visited"] == 1
    assert found["exploration/states_visited/member_0"] == found["exploration/states_visited/mean"] == 0


def test_a_single_agent_has_no_numbers_of_members():
    found = Played(CountedExploration(MarkedCell(), SEA, 1))(((2, 1), 1, 0, 0.0, False))
    assert set(found) == {"exploration/states_visited", "exploration/state_actions_visited", "exploration/regret"}


def test_the_first_reward_and_the_regret():
    """Returns -0.01, 0 and 0.99, the best: 3 * 0.99 - 0.98 = 1.99; the third episode has a reward above 0."""
    play = Played(CountedExploration(MarkedCell(), SEA, 1))
    found = play(((0, 0), 0, 0, -0.01, True), ((0, 0), 0, 0, 0.0, True))
    assert "exploration/first_reward_episode" not in found
    # 2 * 0.99 - (-0.01) = 1.99
    assert found["exploration/regret"] == pytest.approx(1.99)
    found = play(((0, 0), 0, 0, -0.01, False), ((1, 1), 0, 0, 1.0, True))
    assert found["exploration/first_reward_episode"] == 3
    assert found["exploration/regret"] == pytest.approx(1.99)


def test_solved_is_when_a_hundred_episodes_in_a_row_reach_half_of_the_optimum():
    """The mean of the last 100 must be 0.495. After 60 returns of 0, x of 0.99 give 0.99 x / 100: x = 50 is enough.

    That is episode 110; the first 100 episodes have 40 of them, 0.396.
    """
    assert SEA.solved_return == pytest.approx(0.495)
    play = Played(CountedExploration(MarkedCell(), SEA, 1))
    miss, hit = ((0, 0), 0, 0, 0.0, True), ((0, 0), 0, 0, 0.995, True)
    assert "exploration/solved_episode" not in play(*[miss] * 60, *[hit] * 49)
    assert play(hit)["exploration/solved_episode"] == 110
    assert play(*[miss] * 100)["exploration/solved_episode"] == 110, "once solved it stays"


def test_a_restored_log_goes_on_as_if_never_stopped():
    steps = [((row, 0), row % 2, row % 2, float(row == 3), row == 4) for row in range(5)] * 60
    whole, first, second = (Played(CountedExploration(MarkedCell(), SEA, 2)) for _ in range(3))
    whole(*steps, ((4, 4), 1, 0, 0.5, True))
    first(*steps)
    second.log.restore({name: array.copy() for name, array in first.log.arrays().items()})
    second(((4, 4), 1, 0, 0.5, True))
    assert second.log.metrics() == whole.log.metrics()
    for name, array in whole.log.arrays().items():
        np.testing.assert_array_equal(second.log.arrays()[name], array)


def test_marked_cells_are_numbered_row_by_row():
    assert MarkedCell()(observation((0, 0), (0, 4), (3, 2))).tolist() == [0, 4, 3 * 5 + 2]
    with pytest.raises(ChorusError, match="one of these has 2; use --count-states hashed"):
        MarkedCell()(observation((0, 0)) | observation((0, 1)))
    assert MarkedCell().size((5, 5)) == 25 and MarkedCell().map_shape((5, 5)) == (5, 5)


def test_a_grid_has_equal_bins_and_open_ends():
    """Position in [-1, 1] and velocity in [0, 4] with 4 bins each: widths 0.5 and 1; numbers are 4 * first + second."""
    index = Grid(low=(-1.0, 0.0), high=(1.0, 4.0), bins=4)
    seen = np.float32([[-1.0, 0.0], [-0.5, 0.0], [0.99, 3.99], [7.0, 1.5], [-7.0, -1.0]])
    assert index(seen).tolist() == [0, 4, 15, 3 * 4 + 1, 0]
    assert index.size((2,)) == 16 and index.map_shape((2,)) == (4, 4)


def test_hashes_tell_observations_apart_and_stay_below_the_number_of_cells():
    index = Hashed(cells=1_000)
    seen = np.arange(60, dtype=np.uint8).reshape(30, 2)
    numbers = index(seen)
    np.testing.assert_array_equal(index(seen.copy()), numbers)
    # 30 hashes in 1,000 cells: 30 * 29 / 2 / 1,000 = 0.4 pairs in the same cell on average.
    assert len(set(numbers.tolist())) >= 27 and numbers.min() >= 0 and numbers.max() < 1_000


def test_the_signs_of_projections_are_the_digits_of_a_state():
    """Directions, not lengths, decide; x and -x have opposite signs everywhere, so their numbers sum to 2^K - 1."""
    index = SimHash(bits=10)
    seen = np.random.default_rng(1).normal(size=(50, 6)).astype(np.float32)
    numbers = index(seen)
    assert index.size((6,)) == 1_024 and numbers.min() >= 0 and numbers.max() < 1_024
    np.testing.assert_array_equal(index(3.0 * seen), numbers)
    np.testing.assert_array_equal(index(-seen), 1_023 - numbers)
    near = np.mean(index(seen + 1e-4) == numbers)
    assert near > 0.9 and len(set(numbers.tolist())) > 25
    # A hash of the bytes tells them all apart.
    assert np.mean(Hashed()(seen + np.float32(1e-4)) == Hashed()(seen)) < 0.1
    assert SimHash()(np.full((2, 4, 84, 84), 7, np.uint8)).shape == (2,)


@pytest.mark.parametrize("index", [MarkedCell(), Hashed(cells=1_001)])
def test_the_memory_of_counts_is_that_of_their_bits_and_map(index):
    """Size 5, three members: 4 rows x 2 actions x 4 bytes for 25 bits + 8 x 25 on the map; 4 x 2 x 126 for 1,001."""
    log = CountedExploration(index, SEA, 3)
    held = log.arrays()["visited"].nbytes + log.arrays()["visits"].nbytes
    assert counted_bytes(index, SEA, 3) == held == {25: 232, 1_001: 1_008}[index.size((5, 5))]
    assert counted_bytes(None, SEA, 3) == 0


def asked(env, **options):
    return resolve(Request(preset="double-dqn", env=env, scale="smoke", options=options)).config


def test_where_states_are_counted_unless_asked_for():
    assert asked("DeepSea-20-v0").states == asked("DeepSeaStochastic-20-v0").states == MarkedCell()
    assert isinstance(asked("MountainCar-v0").states, Grid)
    assert asked("MinAtar/Breakout-v1").states is None and asked("ALE/Pong-v5").states is None
    assert asked("MinAtar/Breakout-v1", count_states={"kind": "hashed"}).states == Hashed()
    assert asked("DeepSea-20-v0", count_states=None).states is None
    with pytest.raises(ChorusError, match="not known to be so; use --count-states hashed"):
        asked("MinAtar/Breakout-v1", count_states={"kind": "marked_cell"})
    with pytest.raises(ChorusError, match="one lower and one upper bound per number"):
        asked("CartPole-v1", **{"states.low": [0.0]})
    with pytest.raises(ChorusError, match="a run counts at most"):
        asked("MinAtar/Breakout-v1", count_states={"kind": "hashed"}, **{"states.cells": 2**30})


def flat_lake(**given):
    """Observations are numbers of 16 cells."""
    return gymnasium.wrappers.FlattenObservation(gymnasium.make("FrozenLake-v1", **given))


def doubled_lake(**given):
    lake = flat_lake(**given)
    return gymnasium.wrappers.TransformObservation(lake, lambda seen: seen * 2, lake.observation_space)


def test_numbered_states_of_gymnasium_are_counted_in_their_flat_form():
    """Whatever changes observations afterwards is not known to keep the form."""
    config = asked(name_env(flat_lake))
    assert config.states == MarkedCell() and MarkedCell().size((16,)) == 16
    assert asked(name_env(doubled_lake)).states is None


def test_without_counted_states_the_episodes_still_tell_reward_solution_and_regret():
    """100 returns of 0.99 are the best and solve the sea at step 100: regret 0."""
    play = Played(exploration_log(None, SEA, 2))
    found = play(*[((0, 0), 0, 0, 0.99, True)] * 100)
    assert found.pop("exploration/regret") == pytest.approx(0.0, abs=1e-4)
    solved = {"exploration/first_reward_episode": 1, "exploration/solved_episode": 100, "exploration/solved_step": 100}
    assert found == solved
    later = exploration_log(None, SEA, 2)
    later.restore(play.log.arrays())
    assert later.metrics().items() >= solved.items() and later.visit_map() is None


def test_a_checkpoint_that_says_nothing_of_earlier_episodes_leaves_their_metrics_out():
    later = exploration_log(None, SEA, 2)
    later.restore({})
    assert Played(later)(((0, 0), 0, 0, 0.99, True)) == {} and later.arrays() == {}


def test_what_is_counted_does_not_change_what_a_run_is():
    plain, counting = (
        resolve(Request(preset="double-dqn", env="MinAtar/Breakout-v1", options=options))
        for options in ({}, {"count_states": {"kind": "hashed"}})
    )
    assert identity(plain) == identity(counting)
    assert plain.config.digest() != counting.config.digest()
