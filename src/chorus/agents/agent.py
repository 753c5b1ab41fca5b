"""The interface of agents: a few pure functions, so that loop, evaluation and logs know no algorithm by name."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

from chorus.agents.optimizers import Optimizer
from chorus.components import ABOVE_0, AT_LEAST_1, SHARE, Component, Range, option
from chorus.ensemble.auxiliaries import Auxiliary
from chorus.ensemble.losses import Loss
from chorus.ensemble.value_map import ValueMap, ValueMapRule
from chorus.envs.spec import EnvSpec
from chorus.errors import ChorusError
from chorus.networks.layers import Initialization
from chorus.networks.torsos import Torso
from chorus.replay.batch import Batch
from chorus.spaces import Actions, AnyArray


class AgentState(NamedTuple):
    """All that learning changes. `totals` sums each member's statistics since they were last read.

    Parameters and the optimizer's moments of members have one member axis: [N, ...], and [C, N, ...] for C critics.
    `noise` seeds what updates draw; it is empty if they draw nothing.
    """

    params: Any
    target_params: Any
    optimizer: Any
    updates: np.int32
    totals: dict[str, Float[Array, " N"]]
    noise: Any = ()


class Proposal(NamedTuple):
    """What every member would do in each of E states: an action drawn from its policy, and the policy's mode.

    `value` holds the members' values of all actions where actions are Discrete. Where they are a Box, it is None, or
    on request the members' values of the N proposed actions (`chorus.training.decisions.valuing_proposals`).
    """

    action: Shaped[Array, "E N ..."]
    mode: Shaped[Array, "E N ..."]
    value: Float[Array, "E N A"] | None = None


class MemberOutputs(NamedTuple):
    """What every member computes for each of K states: its values, None if actions are continuous, and the features
    that the last layer of the network it acts with reads."""

    value: Float[Array, "K N A"] | None
    features: Float[Array, "K N D"]


class PureUpdate(NamedTuple):
    """An update as functions that other programs can contain.

    `learn` is one gradient step. If targets move at every update (a period of 1), they move in it; otherwise
    `move_target` is called after each update whose number is a multiple of the period.
    """

    learn: Callable[[AgentState, Batch], tuple[AgentState, Float[Array, "B N"]]]
    move_target: Callable[[AgentState], AgentState]
    target_period_updates: int


@dataclass(frozen=True)
class Agent:
    """`act` evaluates only the acting member of each slot, `propose` all members; `value` is each member's value of an
    action, and `inspect` shows values and features.

    `init` is compiled, so that its shapes can be asked for without tracing it again. `update` donates the state it is
    given. Beside the new state it returns the absolute TD error of each member's main head per transition, [B, N], as
    a device array: nothing waits for it unless it is read. `pure` is the same update for use inside of programs; it is
    None where an update consists of several programs, and then only the host loop trains the agent.
    """

    init: Callable[[PRNGKeyArray], AgentState]
    act: Callable[[Any, Array, Array, PRNGKeyArray, Array], Shaped[Array, "E ..."]]
    propose: Callable[[Any, Array, PRNGKeyArray], Proposal]
    value: Callable[[Any, Array, Array], Float[Array, "E N"]]
    update: Callable[[AgentState, Batch], tuple[AgentState, Float[Array, "B N"]]]
    inspect: Callable[[Any, Array], MemberOutputs]
    pure: PureUpdate | None = None


def explore(
    chosen: Shaped[Array, "E ..."], actions: Actions, key: PRNGKeyArray, epsilon: Array
) -> Shaped[Array, "E ..."]:
    """ε-greedy: a uniform random action replaces the chosen one where u ≤ ε, and never if ε = 0 (equation E7)."""
    slots = chosen.shape[0]
    coin_key, action_key = jax.random.split(key)
    random = actions.sample(action_key, slots)
    replaced = (jax.random.uniform(coin_key, (slots,)) <= epsilon) & (epsilon > 0)
    return jnp.where(replaced.reshape(slots, *(1,) * (chosen.ndim - 1)), random, chosen)


def of_learners(tree: Any, weight: Float[AnyArray, "B W"], axis: int) -> Any:
    """Gradients or steps, with zeros for members that learn from nothing in this batch.

    Their gradient is zero, but weight decay and an optimizer's momentum would move them. `axis` is that of the members.
    """
    learns = jnp.any(jnp.asarray(weight) > 0, axis=0)

    def masked(leaf: Array) -> Array:
        return jnp.where(learns.reshape((-1, *(1,) * (leaf.ndim - axis - 1))), leaf, jnp.zeros_like(leaf))

    return jax.tree.map(masked, tree)


def polyak_update(target: Any, online: Any, rate: float) -> Any:
    """Soft target update; a rate of 1 copies."""
    if rate == 1.0:
        return jax.tree.map(jnp.copy, online)
    return jax.tree.map(lambda old, new: (1.0 - rate) * old + rate * new, target, online)


# The replay stores the owner of a transition in 16 bits.
# Some value maps have a head per pair of members: their tables alone would fill the memory beyond this.
_MEMBERS = Range("be at least 1 and at most 1,000", low=1, high=1_000)


@dataclass(frozen=True, kw_only=True)
class Learner(Component, ABC, interface="learner"):
    """What learns, and how; each learner adds its own fields and builds its agent."""

    features_read_actions: ClassVar[bool] = False
    """Whether the features that auxiliary losses read are of state and action, and not of the state alone."""
    shared_layers: ClassVar[int] = 0
    """Bottom layers that all members share; a learner that can share layers has a field of this name."""

    members: int = option(
        flag="members", unit="N", within=_MEMBERS, label="N={}", axis="ensemble size N", log_axis=True,
        help="ensemble size",
    )  # fmt: skip
    torso: Torso = option(flags={"layer_norm": "layer-norm"}, help="the layers below the heads")
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

    @cached_property
    def tables(self) -> ValueMap:
        """The value map of this many members."""
        return self.value_map.build(self.members, self.discount)

    @property
    def prediction_size(self) -> int:
        """Numbers per prediction, Z."""
        return 1

    @property
    def member_work(self) -> float:
        """Work of a member's update for estimates of time, in units of the learner's usual networks."""
        return 1.0

    @property
    def main_discount(self) -> float:
        return float(self.tables.gamma[0, self.tables.main[0]])

    def clipped(self, rewards: Float[AnyArray, "B M n"]) -> Float[Array, "B M n"]:
        """Rewards as the learner sees them."""
        reach = jnp.inf if self.reward_clip is None else self.reward_clip
        return jnp.clip(rewards, -reach, reach)

    def problems(self, config: Any, spec: EnvSpec) -> Iterator[str]:
        """Problems of the value map's tables; learners add their own."""
        if any(self.value_map.problems(config, spec)):
            return
        try:
            members = self.tables.members
        except ChorusError as problem:
            yield str(problem)
            return
        if members != self.members:
            yield (
                f"the value map {self.value_map.kind} has tables for {members} members and --members is "
                f"{self.members}: `build` must return tables for as many members as it is asked for"
            )

    @abstractmethod
    def build(self, spec: EnvSpec) -> Agent:
        """The agent for one environment."""
