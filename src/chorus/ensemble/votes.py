"""How the members' actions become one action, and how far they agree (equation E10); for one state."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray


def count_votes(actions: Int[Array, " N"], num_actions: int) -> Int[Array, " A"]:
    return jnp.sum(jax.nn.one_hot(actions, num_actions, dtype=jnp.int32), axis=0)


def majority(actions: Int[Array, " N"], num_actions: int, key: PRNGKeyArray) -> Int[Array, ""]:
    """The action with most votes; a tie is broken uniformly at random among the top ones."""
    votes = count_votes(actions, num_actions)
    # Noise below one vote decides only between actions with equally many.
    return jnp.argmax(votes + jax.random.uniform(key, (num_actions,), maxval=0.5))


def vote_entropy(actions: Int[Array, " N"], num_actions: int) -> Float[Array, ""]:
    """-Σ_a p_a ln p_a in nats, p_a the share of members whose greedy action is a."""
    share = count_votes(actions, num_actions) / actions.shape[0]
    return -jnp.sum(jnp.where(share > 0, share * jnp.log(jnp.where(share > 0, share, 1.0)), 0.0))


def upper_confidence(value: Float[Array, "N A"], beta: float) -> Float[Array, " A"]:
    """mean_i Q_i(a) + beta std_i Q_i(a), the deviation over N members, not N - 1 (equation E24).

    Members whose values are not all finite are left out, so that a diverged one does not choose every action.
    """
    counts = jnp.all(jnp.isfinite(value), axis=1, keepdims=True)
    number = jnp.maximum(jnp.sum(counts), 1)
    mean = jnp.sum(jnp.where(counts, value, 0.0), axis=0) / number
    variance = jnp.sum(jnp.where(counts, jnp.square(value - mean), 0.0), axis=0) / number
    return mean + beta * jnp.sqrt(variance)


def mean_action(actions: Float[Array, "N A"]) -> Float[Array, " A"]:
    return jnp.mean(actions, axis=0)


def action_distance(actions: Float[Array, "N A"]) -> Float[Array, ""]:
    """½ mean_{i≠j} ‖a_i - a_j‖²/A: the members' sample variance, averaged over the action's dimensions.

    It is 0 for a single member.
    """
    others = max(actions.shape[0] - 1, 1)
    return jnp.mean(jnp.sum(jnp.square(actions - mean_action(actions)), axis=0)) / others
