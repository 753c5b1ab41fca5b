"""What the loop, the evaluation and the logs know of an agent: a few pure functions, and never an algorithm's name."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

from chorus.agents.optimizers import Optimizer
from chorus.components import ABOVE_0, AT_LEAST_1, SHARE, Component, Range, option
from chorus.ensemble.auxiliaries import Auxiliary
from chorus.ensemble.losses import Loss
from chorus.ensemble.value_map import ValueMapRule
from chorus.envs.spec import EnvSpec
from chorus.networks.layers import Initialization
from chorus.networks.torsos import Torso
from chorus.replay.batch import Batch
from chorus.spaces import Actions


class AgentState(NamedTuple):
    """All that learning changes. `totals` sums each member's statistics since they were last read.

    `noise` seeds what updates draw; it is empty where they draw nothing.
    """

    params: Any
    target_params: Any
    optimizer: Any
    updates: np.int32
    totals: dict[str, Float[Array, " N"]]
    noise: Any = ()


class Proposal(NamedTuple):
    """What every member would do in each of E states: an action drawn from its policy, and the policy's mode.

    `value` holds the members' values of all actions where actions are Discrete.
    """

    action: Shaped[Array, "E N ..."]
    mode: Shaped[Array, "E N ..."]
    value: Float[Array, "E N A"] | None = None


class MemberOutputs(NamedTuple):
    """What every member makes of each of K states: its values, where actions can be counted, and the features that
    the last layer of what chooses its actions reads."""

    value: Float[Array, "K N A"] | None
    features: Float[Array, "K N D"]


@dataclass(frozen=True)
class Agent:
    """`act` evaluates only the member asked for; `propose` all of them, and `value` what each expects of an action.

    `init` is compiled, so that its shapes can be asked for without tracing it again. `update` donates the state it is
    given. `inspect` looks inside the members.
    """

    init: Callable[[PRNGKeyArray], AgentState]
    act: Callable[[Any, Array, Array, PRNGKeyArray, Array], Shaped[Array, "E ..."]]
    propose: Callable[[Any, Array, PRNGKeyArray], Proposal]
    value: Callable[[Any, Array, Array], Float[Array, "E N"]]
    update: Callable[[AgentState, Batch], AgentState]
    inspect: Callable[[Any, Array], MemberOutputs]


def explore(
    chosen: Shaped[Array, "E ..."], actions: Actions, key: PRNGKeyArray, epsilon: Array
) -> Shaped[Array, "E ..."]:
    """A uniform action over all there are replaces the chosen one where u ≤ ε, and never where ε = 0 (equation E7)."""
    slots = chosen.shape[0]
    coin_key, action_key = jax.random.split(key)
    random = actions.sample(action_key, slots)
    replaced = (jax.random.uniform(coin_key, (slots,)) <= epsilon) & (epsilon > 0)
    return jnp.where(replaced.reshape(slots, *(1,) * (chosen.ndim - 1)), random, chosen)


def polyak_update(target: Any, online: Any, rate: float) -> Any:
    """The target network after it has taken over a share of the online one; a rate of 1 is a copy."""
    if rate == 1.0:
        return jax.tree.map(jnp.copy, online)
    return jax.tree.map(lambda old, new: (1.0 - rate) * old + rate * new, target, online)


# The replay stores the owner of a transition in 16 bits.
_MEMBERS = Range("be at least 1 and at most 65,535", low=1, high=65_535)


@dataclass(frozen=True, kw_only=True)
class Learner(Component, ABC, interface="learner"):
    """What learns, and how; each learner adds its own fields and builds its agent."""

    members: int = option(
        flag="members", unit="N", within=_MEMBERS, label="N={}", axis="ensemble size N", log_axis=True,
        help="ensemble size",
    )  # fmt: skip
    torso: Torso = option(help="the layers below the heads")
    value_map: ValueMapRule = option(help="what each head predicts and what it bootstraps from")
    loss: Loss = option(help="how a prediction is compared with its target")
    auxiliary: Auxiliary = option(help="what else shapes the features")
    initialization: Initialization = option(help="how weights and biases are drawn")
    optimizer: Optimizer = option(help="how gradients become steps")
    discount: float = option(flag="discount", unit="GAMMA", within=SHARE, help="discount of the main heads, 0 to 1")
    target_period_updates: int = option(
        flag="target-period", unit="UPDATES", within=AT_LEAST_1,
        help="gradient steps between updates of the target network",
    )  # fmt: skip
    target_rate: float = option(
        flag="target-rate", unit="TAU", within=ABOVE_0,
        help="share of the online network that each target update takes over, above 0 and at most 1",
    )  # fmt: skip
    reward_clip: float | None = option(
        within=Range("be positive, or null for no clipping", low=0, low_open=True),
        help="the learner sees rewards clipped to plus or minus this; null for no clipping",
    )

    @abstractmethod
    def build(self, spec: EnvSpec) -> Agent:
        """The agent for one environment."""
