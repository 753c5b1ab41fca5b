"""What the loop, the evaluation and the logs know of an agent: a few pure functions, and never an algorithm's name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

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
    """What every member would do in each of E states: an action drawn from its policy, and the policy's mode."""

    action: Shaped[Array, "E N ..."]
    mode: Shaped[Array, "E N ..."]


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
