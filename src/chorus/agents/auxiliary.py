"""How learners train an auxiliary loss: where its own parameters live, and its share of the total loss.

Own parameters are the group `auxiliary` of the parameters of the network whose features the loss reads. They are learnt
and saved with it, and the target network has none.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from chorus.ensemble.auxiliaries import Auxiliary, AuxiliaryContext, AuxiliaryInputs
from chorus.networks.forked import Forked, Params
from chorus.networks.prior import WithPrior
from chorus.spaces import Actions, AnyArray

AUXILIARY = "auxiliary"


def init_with_auxiliary(
    auxiliary: Auxiliary, key: PRNGKeyArray, network: Forked | WithPrior, observation: AnyArray, actions: Actions
) -> Params:
    """The network's initial parameters, with the auxiliary loss's own beside them.

    The auxiliary loss has the last key of the split. The network's weights do not depend on it: the first keys of a
    split are the same, however many follow.
    """
    keys = jax.random.split(key, network.keys + 1)
    params = network.init_from(keys[:-1], observation)
    if not auxiliary.weight:
        return params
    features = jax.eval_shape(network.features, params, jnp.asarray(observation)[None, None])
    shape = None if features.representation is None else features.representation.shape
    context = AuxiliaryContext(
        members=features.last.shape[0],
        feature_size=features.last.shape[2],
        representation=None if shape is None else (shape[0], shape[2]),
        actions=actions,
    )
    own = auxiliary.init(keys[-1], context)
    return {**params, AUXILIARY: own} if jax.tree.leaves(own) else params


def without_auxiliary(params: Params) -> Params:
    return {group: own for group, own in params.items() if group != AUXILIARY}


def auxiliary_losses(auxiliary: Auxiliary, params: Params, inputs: AuxiliaryInputs) -> Float[Array, " terms"]:
    """Zero, and not computed, if the weight is 0."""
    return auxiliary.losses(params.get(AUXILIARY, {}), inputs) if auxiliary.weight else jnp.zeros(1)


def total_loss(auxiliary: Auxiliary, td: Float[Array, " N"], terms: Float[Array, "*axes"]) -> Float[Array, ""]:
    """(1 - weight) TD + weight auxiliary, summed over members."""
    return (1.0 - auxiliary.weight) * jnp.sum(td) + auxiliary.weight * jnp.sum(terms)


def logged(auxiliary: Auxiliary, totals: dict[str, Any]) -> dict[str, Any]:
    """The statistics without that of an auxiliary loss that is not computed."""
    return {name: total for name, total in totals.items() if auxiliary.weight or name != "auxiliary_loss"}
