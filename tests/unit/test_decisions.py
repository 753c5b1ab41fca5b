"""Choosing from the members' proposals: no key is used twice, and noise and exploration are independent."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chorus.agents.agent import Agent, Proposal
from chorus.spaces import Box
from chorus.training.decisions import choose_actions
from key_uses import KeyUses

UNIT = Box((-1.0,), (1.0,), (1,))


def noisy_agent() -> Agent:
    """Two members whose actions are noise far outside the Box, so that random actions can be told apart."""

    def propose(params, observation, key):
        noise = 10.0 + jax.random.uniform(key, (observation.shape[0], 2, 1))
        return Proposal(noise, noise)

    def unused(*_):
        raise AssertionError("only proposals are needed")

    return Agent(init=unused, act=unused, propose=propose, value=unused, update=unused, inspect=unused)


def decide(choose, slots, epsilon):
    return choose_actions(
        noisy_agent(), UNIT, choose, {}, jnp.zeros((slots, 1)), jnp.zeros(slots, int), jax.random.key(3), epsilon
    )


def first_member(proposal, member, key):
    return proposal.action[0]


@pytest.mark.slow
def test_no_key_is_used_twice(monkeypatch):
    uses = KeyUses(monkeypatch)
    decide(first_member, 5, jnp.float32(0.5))
    assert len(uses.uses) >= 5, "the key, the proposals' key, the choices' key, and the explorations' keys"
    assert uses.used_twice() == []


def test_a_key_that_is_split_and_folded_is_found(monkeypatch):
    uses = KeyUses(monkeypatch)
    key = jax.random.key(0)
    jax.random.split(key)
    jax.random.fold_in(key, 2)
    assert len(uses.used_twice()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("drawn", ["proposal", "choice"])
def test_noise_is_independent_of_the_exploration_coin(drawn):
    def choose(proposal, member, key):
        return proposal.action[0] if drawn == "proposal" else 10.0 + jax.random.uniform(key, (1,))

    slots = 4_000
    action, proposal = decide(choose, slots, jnp.float32(0.5))
    explored = np.asarray(action)[:, 0] < 5.0
    assert explored.mean() == pytest.approx(0.5, abs=0.04)
    # Uniform noise over half of the slots: standard error 0.29 / sqrt(2000) = 0.0065 per half.
    if drawn == "proposal":
        noise = np.asarray(proposal.action)[:, 0, 0] - 10.0
        assert noise[explored].mean() == pytest.approx(noise[~explored].mean(), abs=0.05)
    kept = np.asarray(action)[~explored, 0] - 10.0
    assert kept.mean() == pytest.approx(0.5, abs=0.03)
