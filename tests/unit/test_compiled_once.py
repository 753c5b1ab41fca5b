"""What an update gives back has the types of what it was given, so its program is compiled once a run."""

import jax
import pytest

from builders import tiny_agent, tiny_batch, tiny_learner, tiny_network
from soft_builders import soft_agent, soft_batch, soft_learner

AGENTS = {
    "values": lambda: (tiny_agent(tiny_learner(), tiny_network()), tiny_batch()),
    "policies": lambda: (soft_agent(soft_learner(members=1)), soft_batch()),
}


def types(state):
    """Whether a number's type is a guess (weak) is part of it: JAX compiles anew where it differs."""
    return [(leaf.shape, leaf.dtype, getattr(leaf, "weak_type", False)) for leaf in jax.tree.leaves(state)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["values", pytest.param("policies", marks=pytest.mark.slow)])
def test_a_state_keeps_its_types(kind):
    agent, batch = AGENTS[kind]()
    state = agent.init(jax.random.key(0))
    before = types(state)
    assert types(agent.update(state, batch)[0]) == before
