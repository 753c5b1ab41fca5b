"""The right number on five environments whose values are known: the first that fails says what is broken.

Values are learnt from random actions with γ = 0.5, so that a discounted value cannot be taken for an undiscounted one.
"""

from functools import cache

import jax
import numpy as np
import pytest

from builders import ring_for, tiny_agent, tiny_learner, tiny_loop
from chorus.agents.optimizers import Adam
from chorus.ensemble.value_map import Cross, Members
from chorus.networks.forked import Forked
from chorus.networks.layers import Dense
from chorus.runs.training import training_keys
from chorus.training.settings import Schedule

GAMMA, TOLERANCE = 0.5, 0.07
VARIANTS = {"one member": (Members(), 1), "three members": (Members(), 3), "three members, cerl": (Cross(), 3)}

# For each probe: observation -> the value of action 0 (-1) and of action 1 (+1).
VALUES = {
    "Probe/Constant-v0": {0.0: [1.0, 1.0]},
    "Probe/Observation-v0": {-1.0: [-1.0, -1.0], 1.0: [1.0, 1.0]},
    "Probe/Discount-v0": {0.0: [GAMMA, GAMMA], 1.0: [1.0, 1.0]},
    "Probe/Action-v0": {0.0: [-1.0, 1.0]},
    "Probe/Both-v0": {-1.0: [1.0, -1.0], 1.0: [-1.0, 1.0]},
}


@cache
def built(variant):
    """One agent for all probes, compiled once."""
    kind, members = VARIANTS[variant]
    adam = Adam(learning_rate=1e-2, epsilon=1e-8)
    learner = tiny_learner(kind, members, adam, target_period=20, discount=GAMMA)
    value_map = learner.tables
    network = Forked(torso=(Dense(16), Dense(16)), members=members, shared=0, heads=value_map.heads, actions=2)
    agent = tiny_agent(learner, network, (1,))
    return agent, value_map, jax.jit(agent.init)(jax.random.key(0)), jax.jit(network.apply)


def learnt(variant, probe):
    agent, value_map, state, _ = built(variant)
    schedule = Schedule(total_steps=440, iteration_steps=440, learning_starts=40, update_period_steps=2)
    loop = tiny_loop(agent, value_map.members, probe, schedule, slots=4, batch_size=16)
    state = jax.tree.map(np.array, state)  # `update` donates what it is given
    for event in loop.run(state, ring_for(loop), 1, training_keys(0, 1), np.random.default_rng(0)):
        state = getattr(event, "state", state)
    return state.params


@pytest.mark.slow
@pytest.mark.parametrize("probe", VALUES)
@pytest.mark.parametrize(
    "variant", ["one member", *(pytest.param(name, marks=pytest.mark.slow) for name in list(VARIANTS)[1:])]
)
def test_every_head_of_every_member_gets_the_number_right(variant, probe):
    _, value_map, _, apply = built(variant)
    observations = np.float32(list(VALUES[probe]))[:, None, None]
    expected = np.float32(list(VALUES[probe].values()))
    predictions = np.asarray(apply(learnt(variant, probe), observations))[..., 0]  # [B, N, H, A]
    main = predictions[:, np.arange(value_map.members), value_map.main]
    np.testing.assert_allclose(main, np.broadcast_to(expected[:, None], main.shape), atol=TOLERANCE)
    # All members are greedy alike in the end, so the value of another's policy is the same number.
    np.testing.assert_allclose(
        predictions, np.broadcast_to(expected[:, None, None], predictions.shape), atol=2 * TOLERANCE
    )
