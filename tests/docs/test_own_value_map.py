"""Adding a variant takes one class: here each member also learns its right-hand neighbour's value."""

from dataclasses import dataclass

import jax
import numpy as np

from builders import tiny_agent, tiny_learner
from chorus.agents.optimizers import Adam
from chorus.ensemble.value_map import ValueMap, ValueMapRule
from chorus.networks.forked import Forked
from chorus.networks.layers import Dense
from chorus.replay.batch import Batch


@dataclass(frozen=True, kw_only=True)
class Neighbour(ValueMapRule):
    """Head 0 is the member's own value, head 1 its neighbour's, learnt from the neighbour's own target."""

    def build(self, members: int, discount: float) -> ValueMap:
        own = np.arange(members)
        policy = np.stack([own, (own + 1) % members], axis=1)
        return ValueMap(
            policy=policy,
            source=np.stack([policy, np.zeros_like(policy)], axis=-1),
            gamma=np.full((members, 2), discount),
            main=np.zeros(members, int),
        )


def test_a_value_map_of_ones_own_learns_the_right_numbers() -> None:
    network = Forked((Dense(features=16),), members=3, shared=0, heads=2, actions=2)
    learner = tiny_learner(Neighbour(), optimizer=Adam(learning_rate=1e-2), target_period=50)
    agent = tiny_agent(learner, network, (1,))
    ones = np.ones((8, 1), np.float32)
    batch = Batch(
        observation=ones[..., None],
        action=np.arange(8, dtype=np.int32)[:, None] % 2,
        rewards=np.arange(8, dtype=np.float32)[:, None, None] % 2,
        length=np.ones((8, 1), np.int32),
        terminated=np.ones((8, 1), bool),
        next_observation=ones[..., None],
        weight=ones,
    )
    state = agent.init(jax.random.key(0))
    for _ in range(300):
        state, _ = agent.update(state, batch)
    # Action a pays a and ends the episode, for every member and so for every neighbour.
    values = network.apply(state.params, np.ones((1, 1, 1), np.float32))[0, :, :, :, 0]
    np.testing.assert_allclose(values, np.tile([0.0, 1.0], (3, 2, 1)), atol=0.02)
