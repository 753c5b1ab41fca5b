"""Acting rules and their numbers, arithmetic shown (equations E10, E23 and E24)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chorus.agents.agent import Proposal
from chorus.ensemble.votes import upper_confidence
from chorus.spaces import Discrete
from chorus.training.acting import (
    AllButLast,
    GreedyMean,
    MeanActionActing,
    UpperConfidence,
    VoteActing,
    draw_member,
)
from chorus.training.decisions import valuing_proposals
from soft_builders import UNIT, soft_agent, soft_learner, soft_state

# Two members and three actions: means 2, 3 and 1.5; deviations 1, 0 and 2.5, over the two members.
VALUE = jnp.float32([[1.0, 3.0, 4.0], [3.0, 3.0, -1.0]])


def chosen(rule, proposal, actions=None):
    return rule.choose(proposal, jnp.asarray(0), actions or Discrete(3), jax.random.key(0))


def discrete(value):
    greedy = jnp.argmax(value, axis=1)
    return Proposal(greedy, greedy, value)


@pytest.mark.parametrize(
    ("beta", "bounds"),
    [
        (0.0, [2.0, 3.0, 1.5]),
        (1.0, [3.0, 3.0, 4.0]),  # 2 + 1, 3 + 0, 1.5 + 2.5
        (0.5, [2.5, 3.0, 2.75]),
    ],
)
def test_the_upper_confidence_bound_is_the_mean_and_beta_deviations(beta, bounds):
    np.testing.assert_allclose(upper_confidence(VALUE, beta), bounds, rtol=1e-6)


def test_a_diverged_member_is_left_out():
    value = jnp.concatenate([VALUE, jnp.float32([[jnp.nan, 0.0, jnp.inf]])])
    np.testing.assert_allclose(upper_confidence(value, 1.0), [3.0, 3.0, 4.0], rtol=1e-6)
    assert np.isfinite(upper_confidence(jnp.full((2, 3), jnp.nan), 1.0)).all()


def test_what_the_rules_do_with_the_same_values():
    # Greedy are action 2 and, the first of two equal ones, action 0. The mean is largest for action 1.
    assert int(chosen(GreedyMean(), discrete(VALUE))) == 1
    assert int(chosen(UpperConfidence(beta=0.0), discrete(VALUE))) == 1
    assert int(chosen(UpperConfidence(beta=1.0), discrete(VALUE))) == 2
    # Three votes: 2, 0 and 2.
    assert int(chosen(VoteActing(), discrete(jnp.concatenate([VALUE, VALUE[:1]])))) == 2


def test_of_box_actions_a_rule_takes_the_mean_or_one_that_a_member_proposes():
    action = jnp.float32([[0.5, -1.0], [0.1, 0.2], [0.3, 0.5]])
    # value[i, j] is member i's value of the action of member j: the means of the columns are 2, 3 and 1.5 again.
    proposal = Proposal(action, action, jnp.concatenate([VALUE, VALUE.mean(axis=0, keepdims=True)]))
    np.testing.assert_allclose(chosen(MeanActionActing(), proposal, UNIT), [0.3, -0.1], atol=1e-6)
    np.testing.assert_allclose(chosen(UpperConfidence(beta=0.0), proposal, UNIT), action[1])
    # With the mean as a third value the deviations are √(2/3) of 1, 0 and 2.5: 2.82, 3 and 3.54.
    np.testing.assert_allclose(chosen(UpperConfidence(beta=1.0), proposal, UNIT), action[2])


@pytest.mark.slow
def test_every_member_values_every_proposal():
    agent = soft_agent(soft_learner())
    params, key = soft_state(agent).params, jax.random.key(3)
    seen = np.random.default_rng(0).normal(size=(2, 4)).astype(np.float32)

    def proposed_and_valued(params, seen):
        proposal = valuing_proposals(agent).propose(params, seen, key)
        return proposal, jnp.stack([agent.value(params, seen, proposal.action[:, j]) for j in range(3)], axis=2)

    proposal, values = jax.jit(proposed_and_valued)(params, seen)
    np.testing.assert_allclose(proposal.value, values, rtol=1e-4, atol=1e-5)
    assert len(np.unique(np.asarray(proposal.value).round(4))) == 2 * 3 * 3


def test_an_observer_is_never_drawn_and_the_others_equally_often():
    shares = AllButLast().shares(4)
    np.testing.assert_allclose(shares, [1 / 3, 1 / 3, 1 / 3, 0.0])
    keys = jax.random.split(jax.random.key(1), 3_000)
    drawn = np.asarray(jax.vmap(draw_member, in_axes=(None, 0))(jnp.asarray(shares, jnp.float32), keys))
    counts = np.bincount(drawn, minlength=4)
    # Standard deviation √(3000 · 1/3 · 2/3) = 26.
    assert counts[3] == 0 and np.all(np.abs(counts[:3] - 1_000) < 130)
