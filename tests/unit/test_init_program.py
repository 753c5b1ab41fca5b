"""The program that draws initial parameters does not grow with the number of members, whatever kind of key it gets."""

import jax
import pytest

from builders import tiny_agent, tiny_learner, tiny_network
from chorus.randomness import init_key
from soft_builders import soft_agent, soft_learner

AGENTS = {
    "q": lambda members: tiny_agent(tiny_learner(members=members), tiny_network(members=members)),
    "sac": lambda members: soft_agent(soft_learner(members=members), at_once=2),
}
KEYS = {"threefry": lambda: jax.random.key(0), "rbg": lambda: init_key(0)}


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("kind", AGENTS)
def test_nothing_is_unrolled_per_member_or_group(kind, key):
    # Neither number is that of another axis: functions of equal shapes would be lowered once.
    few, many = (len(AGENTS[kind](members).init.lower(KEYS[key]()).as_text().splitlines()) for members in (7, 20))
    assert few == many
