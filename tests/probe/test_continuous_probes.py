"""The right number on the five probes with one number between -1 and 1 as their action, and the right policy.

Values are learnt from random actions with γ = 0.5 and next to no reward for entropy, so that they are the plain ones.
"""

from functools import cache

import jax
import numpy as np
import pytest

from builders import ring_for, tiny_loop
from chorus.ensemble.losses import MainAndAuxiliary, Squared, TwiceHuber
from chorus.ensemble.value_map import Cross, Members
from chorus.networks.torsos import MLPTorso
from chorus.runs.training import training_keys
from chorus.spaces import Box
from chorus.training.settings import Schedule
from soft_builders import soft_agent, soft_learner, soft_networks

GAMMA, TOLERANCE = 0.5, 0.1
ONE = Box((-1.0,), (1.0,), (1,))
CERL_LOSS = MainAndAuxiliary(main=Squared(), auxiliary=TwiceHuber())
VARIANTS = {
    "one member": (Members(), 1, Squared()),
    "three members": (Members(), 3, Squared()),
    "three members, cerl": (Cross(), 3, CERL_LOSS),
}
ACTIONS = (-0.8, 0.0, 0.8)

# For each probe: observation -> the value of each action; and of the last two, the best action.
VALUES = {
    "Constant": {0.0: [1.0, 1.0, 1.0]},
    "Observation": {-1.0: [-1.0, -1.0, -1.0], 1.0: [1.0, 1.0, 1.0]},
    "Discount": {0.0: [GAMMA, GAMMA, GAMMA], 1.0: [1.0, 1.0, 1.0]},
    "Action": {0.0: [-0.8, 0.0, 0.8]},
    "Both": {-1.0: [0.8, 0.0, -0.8], 1.0: [-0.8, 0.0, 0.8]},
}
BEST = {"Action": {0.0: 1.0}, "Both": {-1.0: -1.0, 1.0: 1.0}}


@cache
def built(variant):
    """One agent for all probes, compiled once."""
    kind, members, loss = VARIANTS[variant]
    learner = soft_learner(
        kind,
        members=members,
        loss=loss,
        torso=MLPTorso(dense=(16, 16)),
        discount=GAMMA,
        initial_temperature=1e-4,
        target_rate=0.05,
    )
    networks, agent = soft_networks(learner, ONE), soft_agent(learner, observed=1, actions=ONE)
    return agent, learner.tables, networks, agent.init(jax.random.key(0)), jax.jit(networks.values)


@cache
def learnt(variant, probe):
    agent, value_map, _, state, _ = built(variant)
    schedule = Schedule(total_steps=1_000, iteration_steps=1_000, learning_starts=40, update_period_steps=4)
    loop = tiny_loop(agent, value_map.members, f"Probe/Continuous{probe}-v0", schedule, slots=4, batch_size=32)
    ring = ring_for(loop, action_shape=(1,), action_dtype=np.dtype(np.float32))
    state = jax.tree.map(np.array, state)  # `update` donates what it is given
    for event in loop.run(state, ring, 1, training_keys(0, 1), np.random.default_rng(0)):
        state = getattr(event, "state", state)
    return state.params


@pytest.mark.slow
@pytest.mark.parametrize("probe", VALUES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_critic_of_every_member_gets_the_number_right(variant, probe):
    *_, values = built(variant)
    params = learnt(variant, probe)["critic"]
    for seen, expected in VALUES[probe].items():
        observation = np.full((len(ACTIONS), 1, 1), seen, np.float32)
        found = np.asarray(values(params, observation, np.float32(ACTIONS)[:, None, None]))  # [C, B, N, H]
        wanted = np.float32(expected)[None, :, None, None]
        np.testing.assert_allclose(found, np.broadcast_to(wanted, found.shape), atol=TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("probe", BEST)
@pytest.mark.parametrize("variant", ["one member", pytest.param("three members", marks=pytest.mark.slow)])
def test_every_members_policy_finds_the_best_action(variant, probe):
    agent, *_ = built(variant)
    observations = np.float32(list(BEST[probe]))[:, None]
    mode = jax.jit(agent.propose)(learnt(variant, probe), observations, jax.random.key(0)).mode  # [E, N, 1]
    best = np.float32(list(BEST[probe].values()))
    assert (np.asarray(mode)[..., 0] * best[:, None] > 0.8).all()
