"""The losses of SAC ensembles, in the order of equations E20 to E22; `networks` may be those of a group of members."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from chorus.agents.auxiliary import auxiliary_losses
from chorus.agents.critics import CriticLearner
from chorus.agents.sac_networks import Networks, beside, draw_noise
from chorus.ensemble.auxiliaries import AuxiliaryInputs, Features
from chorus.ensemble.losses import weighted_mean
from chorus.ensemble.targets import bootstrapped
from chorus.ensemble.value_map import ValueMap
from chorus.networks.forked import Params, as_float
from chorus.networks.gaussian import draw
from chorus.replay.batch import Batch
from chorus.spaces import AnyArray


class Lesson(NamedTuple):
    """What one update learns from: the batch, every head's targets, each policy's action in s', and noise for s."""

    batch: Batch
    targets: Float[Array, "B N H 1"]
    next_action: Float[Array, "B N A"]
    noise: Float[Array, "B N A"]


class CriticLosses(NamedTuple):
    """Each member's losses, the mean value its main heads give the actions taken, and their TD errors."""

    td: Float[Array, " N"]
    auxiliary: Float[Array, " terms"]
    value: Float[Array, " N"]
    error: Float[Array, "B N"]


class PolicyLosses(NamedTuple):
    actor: Float[Array, " N"]
    entropy: Float[Array, " N"]


def prepare(
    learner: CriticLearner,
    networks: Networks,
    params: Params,
    target_params: Params,
    batch: Batch,
    seed: Array,
    updates: Int[AnyArray, ""],
) -> Lesson:
    """The lesson of all members; the targets are those of equation E20."""
    value_map = learner.tables
    batch = batch._replace(
        observation=as_float(batch.observation),
        next_observation=as_float(batch.next_observation),
        rewards=learner.clipped(batch.rewards),
    )
    noise = draw_noise(seed, updates, value_map.members, batch.action.shape[0], networks.policy.actions)
    action, log_prob = draw(networks.distribution(params["policy"], batch.next_observation), noise.next)
    policies, heads = value_map.policies_read(), value_map.heads_read()
    drawn = learner.critic_rule.drawn(noise.critics, learner.critics, value_map.members)
    if drawn is not None:
        target_params = critics_taken(target_params, drawn)
    values = networks.values_of_policies(target_params, batch.next_observation, action[:, policies], heads)
    soft = partial(bootstrap_of, value_map, policies, heads, jnp.exp(params["log_temperature"]))
    bootstrap = jax.vmap(soft, in_axes=(1, 0))(values, log_prob)
    targets = jax.vmap(partial(bootstrapped, value_map))(bootstrap, batch.rewards, batch.length, batch.terminated)
    return Lesson(batch, targets, action, noise.current)


def critics_taken(params: Params, drawn: Int[Array, "M N"]) -> Params:
    """The parameters [M, N, ...] of the drawn critics of each member."""
    return jax.tree.map(lambda leaf: leaf[drawn, jnp.arange(drawn.shape[1])], params)


def bootstrap_of(
    value_map: ValueMap,
    policies: Int[np.ndarray, "N P"],
    heads: Int[np.ndarray, "N K"],
    temperature: Float[Array, " N"],
    values: Float[Array, "C N P K"],
    log_prob: Float[Array, " N"],
) -> Float[Array, "N H 1"]:
    """min_c Q̄_c[source[i,k]](s', a'_j) - α_j log π_j(a'_j|s'), j = policy[i,k], for one transition (equation E20)."""
    source = value_map.source_in(heads)
    lowest = jnp.min(values, axis=0)[source[..., 0], value_map.policy_in(policies), source[..., 1]]
    return (lowest - (temperature * log_prob)[value_map.policy])[..., None]


def critic_losses(
    learner: CriticLearner,
    networks: Networks,
    main: Int[np.ndarray, " N"],
    params: Params,
    target_params: Params,
    lesson: Lesson,
) -> CriticLosses:
    """Mean over the batch, sum over critics and heads (equations E20 and E22)."""
    batch, own = lesson.batch, (np.arange(len(main)), main)
    values, features = networks.values_and_features(params, batch.observation, batch.action)
    predictions = values[..., None]
    of_batch = jax.vmap(partial(learner.loss.of_heads, main))
    losses = jax.vmap(of_batch, in_axes=(0, None))(predictions, lesson.targets)
    td = jax.vmap(weighted_mean, in_axes=(0, None))(losses, batch.weight)
    # Behind a barrier, so that returning the errors changes neither how the losses are compiled nor their last digits.
    ours, theirs = jax.lax.optimization_barrier(jax.lax.stop_gradient((values, lesson.targets[..., 0])))
    return CriticLosses(
        td=jnp.sum(td, axis=(0, 2)),
        auxiliary=critic_auxiliary_losses(learner, networks, params, target_params, lesson, predictions, features),
        value=jnp.mean(predictions[:, :, *own, 0], axis=(0, 1)),
        error=jnp.mean(jnp.abs(theirs[:, *own] - ours[:, :, *own]), axis=0),
    )


def critic_auxiliary_losses(
    learner: CriticLearner,
    networks: Networks,
    params: Params,
    target_params: Params,
    lesson: Lesson,
    predictions: Float[Array, "C B N H 1"],
    features: Features,
) -> Float[Array, " terms"]:
    """The auxiliary loss of each critic by itself, summed over critics."""
    batch = lesson.batch

    def of_critic(own: Params, target: Params, predicted: Array, online: Features) -> Float[Array, " terms"]:
        inputs = AuxiliaryInputs(
            batch=batch,
            predictions=predicted,
            online=online,
            target=lambda: networks.critic.features(target, beside(batch.observation, batch.action)),
            next_target=lambda: networks.critic.features(target, beside(batch.next_observation, lesson.next_action)),
            discount=learner.main_discount,
        )
        return auxiliary_losses(learner.auxiliary, own, inputs)

    terms = jax.vmap(of_critic, in_axes=0, axis_size=predictions.shape[0])
    return jnp.sum(terms(params, target_params, predictions, features), axis=0)


def policy_losses(
    learner: CriticLearner,
    networks: Networks,
    main: Int[np.ndarray, " N"],
    params: Params,
    critic_params: Params,
    temperature: Float[Array, " N"],
    lesson: Lesson,
) -> PolicyLosses:
    """mean_b [α log π(ã|s) - Q(s, ã)] by the main heads, and the entropy -mean_b log π (equation E21).

    Q is the lowest of the critics, or their mean (equation E26).
    """
    batch = lesson.batch
    action, log_prob = draw(networks.distribution(params, batch.observation), lesson.noise)
    values = networks.values_to_improve(critic_params, batch.observation, action, main[:, None])
    value = learner.critic_rule.value(values)[..., 0]
    per_sample = jnp.stack([temperature * log_prob - value, -log_prob], axis=-1)
    losses = weighted_mean(per_sample, batch.weight)
    return PolicyLosses(actor=losses[:, 0], entropy=losses[:, 1])
