"""How the members' continuous actions become one, and how far they differ (equation E23); for one state."""

import jax.numpy as jnp
from jaxtyping import Array, Float


def mean_action(actions: Float[Array, "N A"]) -> Float[Array, " A"]:
    return jnp.mean(actions, axis=0)


def action_distance(actions: Float[Array, "N A"]) -> Float[Array, ""]:
    """½ mean_{i≠j} ‖a_i - a_j‖²/A, which is the members' sample variance averaged over the numbers of an action.

    A single member differs from nobody: 0.
    """
    others = max(actions.shape[0] - 1, 1)
    return jnp.mean(jnp.sum(jnp.square(actions - mean_action(actions)), axis=0)) / others
