"""Small things to test with: networks of a few numbers, batches of a few transitions, loops of a few steps."""

import importlib.util
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from chorus.agents.optimizers import Adam, Optimizer
from chorus.agents.q import Agent, AgentState, QLearner, member_losses, q_agent
from chorus.ensemble.auxiliaries import NoAuxiliary
from chorus.ensemble.estimates import Online, Scalar
from chorus.ensemble.losses import Huber
from chorus.ensemble.value_map import Members, ValueMapRule
from chorus.envs.registry import make_host, make_jax
from chorus.networks.forked import Forked, Params
from chorus.networks.layers import DEFAULT_INITIALIZATION, Conv, Dense
from chorus.networks.lifting import Lift, best_for_backend
from chorus.networks.torsos import MLPTorso
from chorus.replay.batch import Batch
from chorus.replay.layout import RingLayout
from chorus.replay.ring import Ring
from chorus.training.acting import ActingRule, LinearEpsilon, Uniform
from chorus.training.loop import Loop
from chorus.training.settings import ReplaySettings, Schedule
from chorus.training.stepper import HostStepper, JaxStepper

REPOSITORY = Path(__file__).parent.parent

FLAT = (4,)
IMAGE = (9, 9, 2)
ACTIONS = 3

# Four layers below the heads, like the paper's network: three of an encoder and the penultimate one.
DENSE_TORSO = (Dense(features=6), Dense(features=5), Dense(features=6), Dense(features=5))
CONV_TORSO = (Conv(features=3, kernel=3, stride=2), Conv(features=4, kernel=2), Conv(features=4, kernel=2), Dense(5))


def tiny_network(
    members: int = 3,
    shared: int = 0,
    heads: int = 1,
    torso: tuple[nn.Module, ...] = (Dense(features=6), Dense(features=5)),
    lift: Lift = best_for_backend,
) -> Forked:
    return Forked(torso=torso, members=members, shared=shared, heads=heads, actions=ACTIONS, lift=lift)


@cache
def param_shapes(network: Forked, shape: tuple[int, ...]) -> Params:
    return jax.eval_shape(lambda key: network.init(key, jnp.zeros(shape)), jax.random.key(0))


def tiny_params(network: Forked, shape: tuple[int, ...] = FLAT, seed: int = 0) -> Params:
    """Random parameters of the right shapes, large enough that every layer matters; nothing is compiled."""
    rng = np.random.default_rng(seed)
    return jax.tree.map(
        lambda leaf: rng.normal(scale=0.4, size=leaf.shape).astype(np.float32), param_shapes(network, shape)
    )


def tiny_learner(
    kind: ValueMapRule | None = None,
    members: int = 3,
    optimizer: Optimizer | None = None,
    target_period: int = 10,
    **more: Any,
) -> QLearner:
    """A learner of scalar values; tests give its agent a network of their own, so the torso is not used."""
    given = {
        "members": members,
        "torso": MLPTorso(dense=(6, 5)),
        "value_map": kind or Members(),
        "loss": Huber(),
        "auxiliary": NoAuxiliary(),
        "initialization": DEFAULT_INITIALIZATION,
        "optimizer": optimizer or Adam(learning_rate=1e-2, epsilon=1e-3),
        "discount": 0.99,
        "target_period_updates": target_period,
        "target_rate": 1.0,
        "reward_clip": None,
        "shared_layers": 0,
        "estimate": Scalar(),
        "selection": Online(),
        "prior_scale": 0.0,
    }
    return QLearner(**(given | more))


def tiny_batch(size: int = 6, copies: int = 1, shape: tuple[int, ...] = FLAT, seed: int = 0) -> Batch:
    """Random transitions, a third of them terminal, with rewards large enough to reach both arms of Huber."""
    rng = np.random.default_rng(seed)
    return Batch(
        observation=rng.normal(size=(size, copies, *shape)).astype(np.float32),
        action=rng.integers(ACTIONS, size=(size, copies)).astype(np.int32),
        rewards=rng.normal(scale=2.0, size=(size, copies, 1)).astype(np.float32),
        length=np.ones((size, copies), np.int32),
        terminated=rng.random((size, copies)) < 1 / 3,
        next_observation=rng.normal(size=(size, copies, *shape)).astype(np.float32),
        weight=np.ones((size, 1), np.float32),
    )


def losses_of(learner: QLearner, network: Forked) -> Callable[..., jax.Array]:
    """(params, target_params, batch) -> each member's loss."""
    return lambda params, target_params, batch: member_losses(learner, network, params, target_params, batch)[0]


def gradient_of(learner: QLearner, network: Forked) -> Callable[..., tuple[Params, jax.Array]]:
    """(params, target_params, batch) -> the gradient that the optimiser gets, and each member's loss."""

    def total(*given: Any) -> tuple[jax.Array, jax.Array]:
        losses = losses_of(learner, network)(*given)
        return jnp.sum(losses), losses

    return jax.jit(jax.grad(total, has_aux=True))


def tiny_agent(learner: QLearner, network: Forked, shape: tuple[int, ...] = FLAT) -> Agent:
    return q_agent(learner, network, np.zeros(shape, np.float32))


def state_with(agent: Agent, params: Params) -> AgentState:
    """The state an agent would start from had it drawn these parameters: everything else starts at zero."""
    blank = jax.eval_shape(agent.init, jax.random.key(0))
    zeros = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), blank)
    own, target = (jax.tree.map(np.array, params) for _ in range(2))
    return zeros._replace(params=own, target_params=target)


def members_taken(params: Params, order: list[int]) -> Params:
    """The ensemble made of the named members, in this order; a member may be named more than once."""
    rows = np.asarray(order)
    groups = {group: jax.tree.map(lambda x: np.asarray(x)[rows], params[group]) for group in ("members", "heads")}
    return {"trunk": params["trunk"], **groups}


def assert_trees_close(actual: Any, expected: Any, rtol: float = 1e-5, atol: float = 1e-6) -> None:
    pairs = zip(jax.tree_util.tree_leaves_with_path(actual), jax.tree.leaves(expected), strict=True)
    for (path, own), other in pairs:
        np.testing.assert_allclose(own, other, rtol=rtol, atol=atol, err_msg=jax.tree_util.keystr(path))


def tiny_ring(lanes: int = 1, capacity: int = 1_000, iteration_steps: int = 100, **layout: Any) -> Ring:
    sizes = {"observation_shape": (1,), "observation_dtype": np.dtype(np.float32)} | layout
    return Ring(RingLayout(lanes=lanes, capacity=capacity, iteration_steps=iteration_steps, **sizes))


def tiny_loop(
    agent: Agent,
    members: int,
    env_id: str,
    schedule: Schedule,
    *,
    slots: int = 2,
    acting: ActingRule | None = None,
    epsilon: LinearEpsilon | None = None,
    batch_size: int = 8,
    n_step: int = 1,
) -> Loop:
    """The library's own loop over a probe, or over a Gymnasium environment."""

    def decide(params: Any, observation: Any, member: Any, key: Any, chance: Any) -> tuple[Any, Any]:
        return agent.act(params, observation, member, key, chance), ()

    is_probe = env_id.startswith("Probe/")
    stepper = (
        JaxStepper(make_jax(env_id, None), decide, slots)
        if is_probe
        else HostStepper(partial(make_host, env_id), decide, slots)
    )
    return Loop(
        agent=agent,
        members=members,
        acting=acting or Uniform(),
        epsilon=epsilon or LinearEpsilon(final=1.0, decay_steps=1, warmup_steps=0),
        stepper=stepper,
        schedule=schedule,
        replay=ReplaySettings(capacity=schedule.total_steps, batch_size=batch_size, n_step=n_step),
    )


def ring_for(loop: Loop, observation_size: int = 1, **layout: Any) -> Ring:
    return tiny_ring(
        lanes=loop.stepper.slots,
        capacity=loop.replay.capacity,
        iteration_steps=loop.schedule.iteration_steps,
        observation_shape=(observation_size,),
        **layout,
    )


def load_example(name: str) -> ModuleType:
    """A file of `examples/`, which is no package."""
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
