"""Small SAC ensembles to test with."""

from typing import Any

import jax
import numpy as np

from chorus.agents.agent import Agent, AgentState
from chorus.agents.optimizers import Adam
from chorus.agents.sac import SacLearner, sac_agent
from chorus.agents.sac_networks import Networks
from chorus.ensemble.auxiliaries import NoAuxiliary
from chorus.ensemble.losses import Loss, Squared
from chorus.ensemble.value_map import Members, ValueMapRule
from chorus.networks.layers import Orthogonal
from chorus.networks.torsos import MLPTorso
from chorus.replay.batch import Batch
from chorus.spaces import Box

OBSERVED, NUMBERS = 4, 2
UNIT = Box((-1.0,) * NUMBERS, (1.0,) * NUMBERS, (NUMBERS,))


def soft_learner(
    kind: ValueMapRule | None = None, members: int = 3, loss: Loss | None = None, **more: Any
) -> SacLearner:
    given = {
        "members": members,
        "torso": MLPTorso(dense=(6, 5)),
        "value_map": kind or Members(),
        "loss": loss or Squared(),
        "auxiliary": NoAuxiliary(),
        "initialization": Orthogonal(),
        "optimizer": Adam(learning_rate=1e-2, epsilon=1e-8),
        "discount": 0.99,
        "target_period_updates": 1,
        "target_rate": 0.1,
        "reward_clip": None,
    }
    return SacLearner(**(given | more))


def soft_networks(learner: SacLearner, actions: Box = UNIT) -> Networks:
    return Networks.build(learner.torso, learner.initialization, learner.tables, actions)


def soft_agent(learner: SacLearner, at_once: int | None = None, observed: int = OBSERVED, actions: Box = UNIT) -> Agent:
    return sac_agent(learner, soft_networks(learner, actions), np.zeros(observed, np.float32), actions, at_once)


def soft_batch(size: int = 6, copies: int = 1, seed: int = 0) -> Batch:
    """Random transitions, a third of them terminal."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(np.float32)

    return Batch(
        observation=normal(size, copies, OBSERVED),
        action=np.tanh(normal(size, copies, NUMBERS)),
        rewards=normal(size, copies, 1),
        length=np.ones((size, copies), np.int32),
        terminated=rng.random((size, copies)) < 1 / 3,
        next_observation=normal(size, copies, OBSERVED),
        weight=np.ones((size, 1), np.float32),
    )


def soft_state(agent: Agent, seed: int = 0) -> AgentState:
    """Random parameters of the right shapes, temperatures of 1; nothing is compiled."""
    rng = np.random.default_rng(seed)
    shapes = jax.eval_shape(agent.init, jax.random.key(0))
    zeros = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)
    drawn = jax.tree.map(lambda leaf: rng.normal(scale=0.4, size=leaf.shape).astype(np.float32), shapes.params)
    params = {**drawn, "log_temperature": np.zeros_like(drawn["log_temperature"])}
    targets = jax.tree.map(np.array, params["critic"])
    return zeros._replace(params=params, target_params=targets, noise=np.uint32([1, 2]))
