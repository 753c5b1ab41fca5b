"""What is measured beside scores, with the arithmetic shown."""

import jax
import numpy as np
import pytest

from builders import ACTIONS, FLAT, tiny_agent, tiny_learner, tiny_network, tiny_params, tiny_ring
from chorus.ensemble.measures import (
    effective_rank,
    off_policy_share,
    pairwise_disagreement,
    policy_probability,
    value_spread,
)
from chorus.replay.batch import Batch
from chorus.replay.samplers import Places, Sample, draw_uniform
from chorus.training.diagnostics import (
    BatchLog,
    Diagnostics,
    by_member,
    coverage,
    episodes_by_owner,
    own_share_of_episodes,
    own_shares,
    transitions_by_owner,
)
from chorus.training.loop import origins_of


def test_disagreement_is_the_share_of_pairs_that_differ():
    # 6/3/1 of 10 votes: 45 pairs, of which 15 + 3 + 0 = 18 agree.
    votes = np.repeat([0, 1, 2], [6, 3, 1])[None]
    assert pairwise_disagreement(votes) == pytest.approx(1 - 18 / 45)
    assert pairwise_disagreement(np.array([[4, 4, 4]])) == 0.0
    assert pairwise_disagreement(np.array([[0, 1, 2]])) == pytest.approx(1.0)
    # A mean over states: (0 + 1)/2.
    assert pairwise_disagreement(np.array([[1, 1], [0, 1]])) == pytest.approx(0.5)


def test_value_spread_is_the_deviation_between_members():
    # Action 0: values 1 and 3, deviation 1. Action 1: 5 and 5, deviation 0. Their mean is 0.5.
    value = np.array([[[1.0, 5.0], [3.0, 5.0]]])
    assert value_spread(value) == pytest.approx(0.5)
    # What all members share, however large, is no spread.
    assert value_spread(value + 100.0) == pytest.approx(0.5)


def test_off_policy_share_and_probability_of_the_stored_actions():
    greedy = np.array([[0, 1], [0, 2], [1, 1], [2, 1]])
    action = np.array([0, 0, 0, 1])
    # Member 0 would repeat the first two of four, member 1 the last.
    np.testing.assert_allclose(off_policy_share(greedy, action), [0.5, 0.75])
    # ε = 0.3, three actions: (1 - 0.3) · 0.5 + 0.1 = 0.45, and 0.7 · 0.25 + 0.1 = 0.275.
    np.testing.assert_allclose(policy_probability(greedy, action, 0.3, 3), [0.45, 0.275])
    # A policy that is random anyway gives every action 1/A.
    np.testing.assert_allclose(policy_probability(greedy, action, 1.0, 3), [1 / 3, 1 / 3])


def test_effective_rank_counts_the_directions_that_matter():
    # Singular values 3, 2 and 0.01: 5 of 5.01 are 99.8 %, and 3 are not enough.
    assert effective_rank(np.diag([3.0, 2.0, 0.01])) == 2.0
    assert effective_rank(np.eye(4)) == 4.0
    assert effective_rank(np.ones((5, 3))) == 1.0
    assert effective_rank(np.zeros((5, 3))) == 0.0
    assert np.isnan(effective_rank(np.array([[1.0, np.nan]])))


# A lane of 10 rows: members 0 and 1 play an episode each, then both one together; - is a row without a transition,
# whatever its owner says.
OWNER = np.array([0, 0, 1, 1, 1, 0, 1, 1, 0, 0])
TRANSITION = np.array([1, 1, 0, 1, 0, 0, 1, 1, 1, 0], bool)


def test_transitions_and_episodes_are_counted_by_who_made_them():
    # Transitions: 0, 0 | 1 | 1, 1, 0.
    assert transitions_by_owner(OWNER, TRANSITION, 3).tolist() == [3, 3, 0]
    # Three episodes; the third was played by two members and is nobody's.
    played, count = episodes_by_owner(OWNER, TRANSITION, 3)
    assert played.tolist() == [1, 1, 0] and count == 3
    empty, none = episodes_by_owner(OWNER[:0], TRANSITION[:0], 2)
    assert empty.tolist() == [0, 0] and none == 0


def test_shares_of_a_ring_are_those_of_its_window():
    """Episodes of two steps by members 0, 1, 2, 0, 1, 2 ...: a window of 6 transitions holds the last three."""
    ring = tiny_ring(capacity=6)
    observation = np.zeros((1, 1), np.float32)
    for episode in range(9):
        ring.begin(observation, np.arange(1))
        for last in (False, True):
            owner = np.array([0 if episode >= 7 else episode % 3])
            ring.add(np.zeros(1, int), np.zeros(1, np.float32), np.array([last]), np.array([False]), owner, observation)
    # Episodes 6, 7 and 8 are all member 0's.
    transitions, episodes = own_shares(ring, 3)
    assert transitions.tolist() == episodes.tolist() == [1.0, 0.0, 0.0]
    ring.begin(observation, np.arange(1))
    ring.add(
        np.zeros(1, int), np.zeros(1, np.float32), np.array([False]), np.array([False]), np.array([2]), observation
    )
    # The window lost a transition of episode 6 and won one of an open episode of member 2's: 5/6, 1/6; 3/4, 1/4.
    transitions, episodes = own_shares(ring, 3)
    np.testing.assert_allclose(transitions, [5 / 6, 0, 1 / 6])
    np.testing.assert_allclose(episodes, [3 / 4, 0, 1 / 4])


def test_coverage_is_the_share_of_different_pairs():
    states = np.array([[1, 2], [1, 2], [1, 2], [3, 4]], np.uint8)
    # (12, 0) twice, (12, 1), (34, 0): three of four.
    assert coverage(states, np.array([0, 1, 0, 0], np.int32)) == 0.75
    assert coverage(states[:2], np.array([0, 1], np.int32)) == 1.0


def test_the_own_share_of_the_different_episodes_in_a_batch():
    # Member 0's batch holds episode 7 twice and 5 and 9 once, and 7 and 9 are its own; member 1's holds one episode.
    episode = np.array([[7, 4], [5, 4], [7, 4], [9, 4]])
    own = np.array([[True, True], [False, True], [True, True], [True, True]])
    # Of the transitions 3/4 are of member 0's own episodes.
    assert own_share_of_episodes(episode, own).tolist() == [2 / 3, 1.0]
    # Two batches that all members have in common: of one, three members played 1, 2 and 0 episodes, of the other none.
    common = np.array([[True, False, False], [False, True, False], [True, False, False], [False, True, False]])
    shares = own_share_of_episodes(np.stack([episode[:, :1]] * 2), np.stack([common, np.zeros_like(common)]))
    np.testing.assert_array_equal(shares, [[1 / 3, 2 / 3, 0.0], [0.0, 0.0, 0.0]])


def played(*episodes):
    """A ring of one lane that holds these episodes, each given by the owners of its transitions."""
    ring, observation = tiny_ring(), np.zeros((1, 1), np.float32)
    for owners in episodes:
        ring.begin(observation, np.arange(1))
        for time, owner in enumerate(owners):
            last = np.array([time == len(owners) - 1])
            ring.add(np.zeros(1, int), np.zeros(1, np.float32), last, ~last & last, np.array([owner]), observation)
    return ring


def origins_at(ring, position, owns_nothing=(False, False)):
    """The origins of the transitions at these positions [B, M] of a ring's only lane."""
    places = Places(np.zeros_like(position), np.asarray(position), np.ones_like(position))
    owner = ring.owners(places.lane.reshape(-1), places.position.reshape(-1)).reshape(places.lane.shape)
    sample = Sample(Batch(*[np.zeros(0)] * 7), places, owner, np.asarray(owns_nothing))
    return origins_of(sample, ring, len(owns_nothing))


def test_batches_are_booked_by_who_generated_them():
    # At 0, 1, 2 lie member 0's transitions, at 4 member 1's, at 6 and 7 one of each in an episode of both.
    ring, log = played((0, 0, 0), (1,), (0, 1)), BatchLog(members=2)
    assert log.metrics() == {}
    # One common batch of owners 0, 0, 0, 1, from an episode of each. Then a batch each, both of owners 0, 0, 0, 1:
    # member 0's from its own episode and nobody's, member 1's from 0's, from nobody's and from its own.
    log.record(origins_at(ring, [[0, 0], [2, 2], [2, 2], [4, 4]]))
    log.record(origins_at(ring, [[0, 1], [1, 2], [2, 6], [7, 4]], (False, True)))
    assert log.metrics() == {
        "replay/own_sampled/member_0": (3 / 4 + 3 / 4) / 2,
        "replay/own_sampled/member_1": (1 / 4 + 1 / 4) / 2,
        "replay/own_sampled/mean": 0.5,
        "replay/own_sampled_episodes/member_0": (1 / 2 + 1 / 2) / 2,
        "replay/own_sampled_episodes/member_1": pytest.approx((1 / 2 + 1 / 3) / 2),
        "replay/own_sampled_episodes/mean": pytest.approx((6 / 12 + 5 / 12) / 2),
        "replay/owns_nothing": 1.0,
    }


def test_each_of_many_batches_is_booked_once():
    """300 batches, more than are counted together, each of one episode: a third are member 0's."""
    ring, log = played((0, 0), (1, 1), (1, 1)), BatchLog(members=2)
    for update in range(300):
        log.record(origins_at(ring, np.full((4, 1), 3 * (update % 3))))
    metrics = log.metrics()
    for name in ("replay/own_sampled", "replay/own_sampled_episodes"):
        assert [metrics[f"{name}/member_{member}"] for member in (0, 1)] == pytest.approx([1 / 3, 2 / 3])
    assert log.metrics() == metrics


def test_a_single_agents_batches_are_not_booked():
    ring, log = played((0, 0)), BatchLog(members=1)
    log.record(origins_at(ring, [[0], [1]], (False,)))
    assert log.metrics() == {}


def test_one_metric_a_member_and_their_mean():
    assert by_member("a/b", np.array([1.0, 4.0])) == {"a/b/member_0": 1.0, "a/b/member_1": 4.0, "a/b/mean": 2.5}


@pytest.mark.parametrize("count", [3, 128, 300])
def test_states_that_are_drawn_often_count_often(count):
    """Each state is inspected once, and measures are those of all 1,024 draws."""
    rng = np.random.default_rng(5)
    ring = tiny_ring(observation_shape=FLAT)
    states = rng.normal(size=(count + 1, 1, *FLAT)).astype(np.float32)
    ring.begin(states[0], np.arange(1))
    no = np.zeros(1, bool)
    for state in states[1:]:
        ring.add(rng.integers(ACTIONS, size=1), np.zeros(1, np.float32), no, no, np.zeros(1, int), state)
    network = tiny_network()
    agent, params = tiny_agent(tiny_learner(), network), tiny_params(network)
    metrics = Diagnostics(agent, network.members).measure(params, ring, np.random.default_rng(7), 0.1)

    windows = ring.read(*draw_uniform(ring, np.random.default_rng(7), 1_024, steps=1), 1)
    value, features = map(np.asarray, jax.jit(agent.inspect)(params, windows.observation))
    shares = off_policy_share(np.argmax(value, axis=-1), windows.action)
    assert metrics["replay/off_policy/mean"] == pytest.approx(np.mean(shares), abs=2e-3)
    assert metrics["diversity/value_spread/replay"] == pytest.approx(value_spread(value), rel=1e-4)
    ranks = [effective_rank(features[:, member]) for member in range(network.members)]
    assert metrics["members/effective_rank/mean"] == pytest.approx(np.mean(ranks))
