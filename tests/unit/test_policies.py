"""How members become one action, and what is measured on the way."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chorus.agents.q import Proposal, explore
from chorus.training.policies import Member, RandomMember, Vote, choose, measure

# Two states, three members, two actions.
PROPOSAL = Proposal(
    action=np.array([[0, 1, 1], [1, 1, 0]]),
    value=np.float32([[[5, 1], [2, 3], [4, 6]], [[0, 9], [1, 8], [7, 2]]]),
)
MEMBER = np.array([0, 2])


@jax.jit
def decide(proposal, voting):
    choice = choose(proposal, jnp.asarray(MEMBER), voting, jax.random.key(0))
    return choice, measure(proposal, choice)


def made(voting, proposal=PROPOSAL):
    return decide(proposal, np.asarray(voting))


def test_following_a_member_takes_its_action_and_its_estimate():
    choice, measured = made(voting=False)
    assert choice.action.tolist() == [0, 0]
    assert measured.estimate.tolist() == [5.0, 7.0]


def test_a_vote_takes_the_majority_and_the_mean_estimate_of_its_action():
    choice, measured = made(voting=True)
    assert choice.action.tolist() == [1, 1]
    # (1 + 3 + 6) / 3 and (9 + 8 + 2) / 3
    np.testing.assert_allclose(measured.estimate, [10 / 3, 19 / 3], rtol=1e-6)


def test_the_entropy_is_that_of_all_members_whoever_decides():
    # Votes 1/2: -(1/3 ln 1/3 + 2/3 ln 2/3) = 0.6365
    for voting in (False, True):
        np.testing.assert_allclose(made(voting)[1].entropy, [0.6365, 0.6365], atol=1e-4)


@pytest.mark.parametrize(
    ("policy", "shares", "voting"),
    [
        (RandomMember(), [1 / 3] * 3, False),
        (Member(index=1), [0, 1, 0], False),
        (Vote(), [1 / 3] * 3, True),
    ],
)
def test_a_policy_is_a_chance_for_each_member_and_whether_they_vote(policy, shares, voting):
    np.testing.assert_allclose(policy.shares(3), shares)
    assert policy.voting is voting


def test_a_member_that_diverged_does_not_spoil_the_estimate_of_another():
    broken = PROPOSAL._replace(value=PROPOSAL.value.copy())
    broken.value[:, 1] = np.nan
    _, measured = made(False, broken)
    assert measured.estimate.tolist() == [5.0, 7.0]


def test_exploration_replaces_the_greedy_action_by_one_of_all_actions():
    slots, actions = 4_000, 4
    act = jax.jit(explore, static_argnums=(1, 4))
    greedy = jnp.full(slots, 2)
    for epsilon in (0.0, 0.4, 1.0):
        shares = np.bincount(act(greedy, actions, jax.random.key(0), np.float32(epsilon), slots), minlength=4) / slots
        expected = np.full(4, epsilon / 4) + (1 - epsilon) * np.eye(4)[2]
        np.testing.assert_allclose(shares, expected, atol=0.03)
