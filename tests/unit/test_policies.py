"""Evaluation policies: how members become one action, and what is measured at each decision."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chorus.agents.agent import Agent, Proposal, explore
from chorus.components import register
from chorus.envs.registry import make_jax
from chorus.runs.training import evaluation_keys
from chorus.spaces import Box, Discrete
from chorus.training.decisions import diversity_measure, estimate_value
from chorus.training.evaluate import Evaluator, summarise
from chorus.training.policies import MeanAction, Member, Policy, RandomMember, Vote, policies_for
from chorus.training.settings import Amount
from chorus.training.stepper import JaxStepper

# Two states, three members, two actions.
GREEDY = np.array([[0, 1, 1], [1, 1, 0]])
VALUE = np.float32([[[5, 1], [2, 3], [4, 6]], [[0, 9], [1, 8], [7, 2]]])
MEMBER = np.array([0, 2])
UNIT = Box((-1.0, -1.0), (1.0, 1.0), (2,))
# One state, two members, two numbers; the drawn actions lie beside the modes.
DRAWN = Proposal(action=np.float32([[[0.5, 0.0], [-0.1, 0.4]]]), mode=np.float32([[[0.4, 0.1], [0.0, 0.3]]]))


def decide(policy, proposal, member, actions):
    keys = jax.random.split(jax.random.key(0), len(member))
    return jax.vmap(lambda *slot: policy.choose(*slot[:2], actions, slot[2]))(proposal, jnp.asarray(member), keys)


def estimate(policy, action, value=VALUE):
    """The policy's estimate of an action per state."""
    taken = jnp.take_along_axis(jnp.asarray(value), action[:, None, None], axis=2)[..., 0]
    return estimate_value(taken, jnp.asarray(MEMBER), policy.combines_members)


@pytest.mark.slow
def test_a_single_member_decides_and_its_estimate_counts():
    action = decide(RandomMember(), Proposal(GREEDY, GREEDY), MEMBER, Discrete(2))
    assert action.tolist() == [0, 0]
    assert estimate(RandomMember(), action).tolist() == [5.0, 7.0]


def test_a_vote_takes_the_majority_and_the_mean_estimate_of_its_action():
    action = decide(Vote(), Proposal(GREEDY, GREEDY), MEMBER, Discrete(2))
    assert action.tolist() == [1, 1]
    # (1 + 3 + 6) / 3 and (9 + 8 + 2) / 3
    np.testing.assert_allclose(estimate(Vote(), action), [10 / 3, 19 / 3], rtol=1e-6)


def test_a_diverged_member_does_not_spoil_the_estimate_of_another():
    broken = VALUE.copy()
    broken[:, 1] = np.nan
    assert estimate(RandomMember(), jnp.zeros(2, int), broken).tolist() == [5.0, 7.0]


@pytest.mark.parametrize(
    ("policy", "action"),
    [
        (RandomMember(), [0.5, 0.0]),
        (RandomMember(mode=True), [0.4, 0.1]),
        (MeanAction(), [0.2, 0.2]),
        (MeanAction(mode=True), [0.2, 0.2]),
    ],
)
def test_box_actions_are_followed_or_averaged_and_sampled_or_modes(policy, action):
    np.testing.assert_allclose(decide(policy, DRAWN, [0], UNIT), [action], rtol=1e-6)


@pytest.mark.parametrize(
    ("policy", "shares", "combines"),
    [
        (RandomMember(), [1 / 3] * 3, False),
        (Member(index=1), [0, 1, 0], False),
        (Vote(), [1 / 3] * 3, True),
        (MeanAction(), [1 / 3] * 3, True),
    ],
)
def test_shares_sum_to_one_and_aggregates_combine_members(policy, shares, combines):
    np.testing.assert_allclose(policy.shares(3), shares)
    assert policy.combines_members == combines


def test_the_diversity_measure_belongs_to_the_action_space():
    votes, distance = diversity_measure(Discrete(2)), diversity_measure(UNIT)
    # Votes 1 to 2: -(1/3 ln 1/3 + 2/3 ln 2/3) = 0.6365
    np.testing.assert_allclose(jax.vmap(votes.compute)(GREEDY), [0.6365, 0.6365], atol=1e-4)
    # Modes differ by 0.4 and 0.2: ½ (0.16 + 0.04) / 2
    np.testing.assert_allclose(distance.compute(jnp.asarray(DRAWN.mode[0])), 0.05, rtol=1e-6)
    assert (votes.metric, distance.metric) == ("diversity/vote_entropy", "diversity/action_distance")


def agent_with_values(values) -> Agent:
    """Members with the same values [N, A] in every state."""
    table = jnp.asarray(values)

    def propose(params, observation, key):
        every = jnp.broadcast_to(table, (observation.shape[0], *table.shape))
        return Proposal(jnp.argmax(every, axis=-1), jnp.argmax(every, axis=-1), every)

    def value(params, observation, action):
        return table.T[action]

    def unused(*_):
        raise AssertionError("evaluation neither learns nor inspects")

    return Agent(init=unused, act=unused, propose=propose, value=value, update=unused, inspect=unused)


@pytest.fixture
def most_confident():
    """A policy of a user's own: the member with the highest value of any action decides."""

    @dataclass(frozen=True, kw_only=True)
    class MostConfident(Policy):
        combines_members: ClassVar[bool] = True

        def choose(self, proposal, member, actions, key):
            return proposal.action[jnp.argmax(jnp.max(proposal.value, axis=-1))]

    return register(MostConfident)


@pytest.mark.slow
def test_one_compiled_program_evaluates_all_policies_a_users_own_included(most_confident):
    env, traced = make_jax("Probe/Action-v0", None), []

    def make_stepper(decide, slots):
        def counted(*arguments):
            traced.append(1)
            return decide(*arguments)

        return JaxStepper(env, counted, slots)

    policies = {"aggregate": Vote(), "member_2": Member(index=2), "mine": most_confident()}
    evaluator = Evaluator(
        agent=agent_with_values([[0.2, 0.1], [0.2, 0.1], [0.1, 0.9]]),
        members=3, actions=env.spec.actions, policies=policies, make_stepper=make_stepper, slots=2,
        epsilon=0.0, discount=0.99, reward_clip=None,
    )  # fmt: skip
    found = {}
    for name in policies:
        results = evaluator.evaluate({}, name, evaluation_keys(0, 1, name), Amount(episodes=2))
        found |= summarise(results, name, env.spec.actions)
    # Members 0 and 1 prefer action 0; member 2 prefers action 1 and is the most confident.
    # Probe/Action-v0 pays -1 for action 0 and +1 for action 1.
    assert [found[f"eval/{name}/episodic_return"] for name in policies] == [-1.0, 1.0, 1.0]
    # Estimates: the mean 0.5 / 3 of action 0 and return -1; member 2's 0.9; the mean 1.1 / 3 of action 1.
    bias = [found[f"eval/{name}/value_bias"] for name in policies]
    np.testing.assert_allclose(bias, [0.5 / 3 + 1, 0.9 - 1, 1.1 / 3 - 1], rtol=1e-5)
    assert len(traced) == 1


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


def test_every_box_ensemble_can_be_evaluated_without_its_noise():
    """A tandem's configuration lists only its two members; these policies are known for every run."""
    modes = {name: policy.mode for name, policy in policies_for(UNIT).items()}
    assert modes == {"individual": False, "aggregate": False, "individual-mode": True, "aggregate-mode": True}
    assert set(policies_for(Discrete(3))) == {"individual", "aggregate"}
