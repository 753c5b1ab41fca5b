"""How members become one action, and what is measured on the way."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chorus.agents.agent import Proposal, explore
from chorus.spaces import Box, Discrete
from chorus.training.policies import MeanAction, Member, RandomMember, Vote, Way, choose, council, measure, policies_for

# Two states, three members, two actions.
GREEDY = np.array([[0, 1, 1], [1, 1, 0]])
VALUE = np.float32([[[5, 1], [2, 3], [4, 6]], [[0, 9], [1, 8], [7, 2]]])
MEMBER = np.array([0, 2])
UNIT = Box((-1.0, -1.0), (1.0, 1.0), (2,))
# One state, two members, two numbers; what was drawn lies beside the modes.
DRAWN = Proposal(action=np.float32([[[0.5, 0.0], [-0.1, 0.4]]]), mode=np.float32([[[0.4, 0.1], [0.0, 0.3]]]))


@jax.jit
def decide(value, way):
    choice = choose(council(Discrete(2)), Proposal(GREEDY, GREEDY), jnp.asarray(MEMBER), way, jax.random.key(0))
    taken = jnp.take_along_axis(value, choice.action[:, None, None], axis=2)[..., 0]
    return choice, measure(choice, taken)


def made(together, value=VALUE):
    return decide(value, Way(together=np.asarray(together), mode=np.asarray(False)))


@jax.jit
def decide_continuous(way):
    return choose(council(UNIT), DRAWN, jnp.zeros(1, int), way, jax.random.key(0))


def test_following_a_member_takes_its_action_and_its_estimate():
    choice, measured = made(together=False)
    assert choice.action.tolist() == [0, 0]
    assert measured.estimate.tolist() == [5.0, 7.0]


def test_a_vote_takes_the_majority_and_the_mean_estimate_of_its_action():
    choice, measured = made(together=True)
    assert choice.action.tolist() == [1, 1]
    # (1 + 3 + 6) / 3 and (9 + 8 + 2) / 3
    np.testing.assert_allclose(measured.estimate, [10 / 3, 19 / 3], rtol=1e-6)


def test_the_entropy_is_that_of_all_members_whoever_decides():
    # Votes 1/2: -(1/3 ln 1/3 + 2/3 ln 2/3) = 0.6365
    for together in (False, True):
        np.testing.assert_allclose(made(together)[1].diversity, [0.6365, 0.6365], atol=1e-4)


@pytest.mark.parametrize(
    ("together", "mode", "action"),
    [(False, False, [0.5, 0.0]), (False, True, [0.4, 0.1]), (True, False, [0.2, 0.2]), (True, True, [0.2, 0.2])],
)
def test_continuous_actions_are_followed_or_averaged_drawn_or_as_modes(together, mode, action):
    choice = decide_continuous(Way(together=np.asarray(together), mode=np.asarray(mode)))
    np.testing.assert_allclose(choice.action, [action], rtol=1e-6)
    # Modes differ by 0.4 and 0.2: ½ (0.16 + 0.04) / 2
    np.testing.assert_allclose(choice.diversity, [0.05], rtol=1e-6)


@pytest.mark.parametrize(
    ("policy", "shares", "way"),
    [
        (RandomMember(), [1 / 3] * 3, (False, False)),
        (RandomMember(mode=True), [1 / 3] * 3, (False, True)),
        (Member(index=1), [0, 1, 0], (False, False)),
        (Vote(), [1 / 3] * 3, (True, False)),
        (MeanAction(), [1 / 3] * 3, (True, False)),
        (MeanAction(mode=True), [1 / 3] * 3, (True, True)),
    ],
)
def test_a_policy_is_a_chance_for_each_member_and_a_way_of_deciding(policy, shares, way):
    np.testing.assert_allclose(policy.shares(3), shares)
    assert policy.way == way


def test_a_member_that_diverged_does_not_spoil_the_estimate_of_another():
    broken = VALUE.copy()
    broken[:, 1] = np.nan
    _, measured = made(False, broken)
    assert measured.estimate.tolist() == [5.0, 7.0]


def test_exploration_replaces_the_greedy_action_by_one_of_all_actions():
    slots, actions = 4_000, 4
    act = jax.jit(explore, static_argnums=1)
    greedy = jnp.full(slots, 2)
    for epsilon in (0.0, 0.4, 1.0):
        shares = (
            np.bincount(act(greedy, Discrete(actions), jax.random.key(0), np.float32(epsilon)), minlength=4) / slots
        )
        expected = np.full(4, epsilon / 4) + (1 - epsilon) * np.eye(4)[2]
        np.testing.assert_allclose(shares, expected, atol=0.03)


def test_exploration_of_a_box_is_uniform_over_it():
    chosen = jnp.full((4_000, 2), 0.25)
    acted = np.asarray(jax.jit(explore, static_argnums=1)(chosen, UNIT, jax.random.key(0), np.float32(0.5)))
    kept = (acted == 0.25).all(axis=1)
    assert 0.46 < kept.mean() < 0.54
    drawn = acted[~kept]
    np.testing.assert_allclose(drawn.mean(axis=0), 0.0, atol=0.06)
    np.testing.assert_allclose(drawn.var(axis=0), 1 / 3, atol=0.03)


def test_continuous_ensembles_can_be_evaluated_without_their_noise():
    """A tandem's configuration lists its two members only; these are known for every run."""
    noise = {name: policy.way.mode for name, policy in policies_for(UNIT).items()}
    assert noise == {"individual": False, "aggregate": False, "individual-mode": True, "aggregate-mode": True}
    assert set(policies_for(Discrete(3))) == {"individual", "aggregate"}
