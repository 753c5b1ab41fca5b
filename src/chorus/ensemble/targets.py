"""One rule computes the bootstrap target of every head of every member, whatever the value map.

Everything here is for a single element of the batch; agents `vmap` it. M is 1 when all members see the same
transition and N when each has its own.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from chorus.ensemble.value_map import ValueMap
from chorus.spaces import AnyArray


def greedy_actions(values: Float[Array, "N A"]) -> Int[Array, " N"]:
    """Each member's best action by its main head; the first one where several are best (E1)."""
    return jnp.argmax(values, axis=-1)


def select_action(values: Float[Array, "*axes A Z"], action: Int[Array, "*axes"]) -> Float[Array, "*axes Z"]:
    """The predictions for the action taken, as a one-hot product: the gradient of a gather is a slow scatter."""
    chosen = jax.nn.one_hot(action, values.shape[-2], dtype=values.dtype)
    return jnp.sum(values * chosen[..., None], axis=-2)


def discounted_sum(
    rewards: Float[AnyArray, "M n"], length: Int[AnyArray, " M"], gamma: Float[np.ndarray, "N H"]
) -> Float[Array, "N H"]:
    """Σ_{t<length} γ^t r_t, for each head's own discount."""
    t = np.arange(rewards.shape[-1])
    inside = t < length[:, None]
    return jnp.sum((gamma[..., None] ** t) * jnp.where(inside, rewards, 0.0)[:, None, :], axis=-1)


def td_targets(
    value_map: ValueMap,
    heads: Int[np.ndarray, "N K"],
    next_actions: Int[Array, " N"],
    target_values: Float[Array, "N K A Z"],
    rewards: Float[AnyArray, "M n"],
    length: Int[AnyArray, " M"],
    terminated: Bool[AnyArray, " M"],
) -> Float[Array, "N H Z"]:
    """y[i,k] = R + γ^length (1 - terminated) Q̄[source[i,k]](s', a*[policy[i,k]])   (equations E1 to E6).

    `heads` names the heads of the target network that `target_values` holds; `next_actions[j]` is a*_j.
    """
    source = value_map.source_in(heads)
    read = target_values[source[..., 0], source[..., 1]]
    bootstrap = select_action(read, next_actions[value_map.policy])
    return bootstrapped(value_map, bootstrap, rewards, length, terminated)


def bootstrapped(
    value_map: ValueMap,
    bootstrap: Float[Array, "N H Z"],
    rewards: Float[AnyArray, "M n"],
    length: Int[AnyArray, " M"],
    terminated: Bool[AnyArray, " M"],
) -> Float[Array, "N H Z"]:
    """R + γ^length (1 - terminated) times what each head bootstraps from, no gradient (equation E12)."""
    gamma = value_map.gamma.astype(np.float32)
    reach = gamma ** length[:, None] * (1.0 - terminated[:, None].astype(jnp.float32))
    target = discounted_sum(rewards, length, gamma)[..., None] + reach[..., None] * bootstrap
    return jax.lax.stop_gradient(target)
