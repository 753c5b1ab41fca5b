"""What SAC computes for an ensemble: distributions, values, targets and losses (equations E19 to E22).

`agents.sac` makes an agent of it.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from chorus.agents.optimizers import Optimizer
from chorus.agents.q import weighted_mean
from chorus.ensemble.losses import Loss
from chorus.ensemble.value_map import ValueMap
from chorus.networks.forked import Forked, Params
from chorus.networks.gaussian import Gaussian, draw, gaussian_of
from chorus.networks.layers import GaussianHeads, Initialization
from chorus.networks.torsos import Torso
from chorus.replay.batch import Batch
from chorus.spaces import AnyArray, Box


@dataclass(frozen=True)
class SoftActorCritic:
    """How a SAC ensemble learns: the composition, and nothing else."""

    value_map: ValueMap
    loss: Loss
    critics: int
    initial_temperature: float
    target_entropy: float
    optimizer: Optimizer
    target_period_updates: int
    target_rate: float
    reward_clip: float | None


@dataclass(frozen=True)
class Networks:
    """Of all members, or of a group of them: `critic` reads observation and action, `policy` observations."""

    critic: Forked
    policy: Forked

    @staticmethod
    def build(torso: Torso, initialization: Initialization, value_map: ValueMap, actions: Box) -> "Networks":
        """Networks of the same hidden layers; the policy's two heads are those of `GaussianHeads`."""
        forked = partial(Forked, torso.layers(initialization), value_map.members, 0, divides=False)
        return Networks(
            critic=forked(heads=value_map.heads, actions=1, initialization=initialization),
            policy=forked(heads=2, actions=actions.shape[0], initialization=GaussianHeads()),
        )

    def of(self, members: int) -> "Networks":
        return Networks(replace(self.critic, members=members), replace(self.policy, members=members))

    def distribution(self, params: Params, observation: AnyArray) -> Gaussian:
        """Of every member in each state, [B, N, A]."""
        return gaussian_of(self.policy.apply(params, observation)[..., 0])

    def values(
        self, params: Params, observation: AnyArray, action: AnyArray, heads: Int[np.ndarray, "N K"] | None = None
    ) -> Float[Array, "C B N K"]:
        """What each critic gives an action; both may be the same for all members (M = 1) or each member's own."""
        copies = max(observation.shape[1], action.shape[1])
        state, action = (jnp.broadcast_to(x, (x.shape[0], copies, x.shape[2])) for x in (observation, action))
        state_action = jnp.concatenate([state, action], axis=-1)
        return jax.vmap(lambda own: self.critic.apply(own, state_action, heads)[..., 0, 0])(params)

    def values_of_policies(
        self,
        params: Params,
        observation: AnyArray,
        action: Float[Array, "B N P A"],
        heads: Int[np.ndarray, "N K"],
    ) -> Float[Array, "C B N P K"]:
        """What each critic gives the actions of P policies in one state, as if each were a state of its own."""
        size, members, asked, numbers = action.shape
        flat = jnp.moveaxis(action, 2, 1).reshape(size * asked, members, numbers)
        found = self.values(params, jnp.repeat(observation, asked, axis=0), flat, heads)
        return jnp.moveaxis(found.reshape(found.shape[0], size, asked, members, -1), 2, 3)


class Noise(NamedTuple):
    """What one update draws, for every member its own: in s' for the targets, in s for the policy's gradient."""

    next: Float[Array, "B N A"]
    current: Float[Array, "B N A"]


class Losses(NamedTuple):
    """Each member's, with the mean value its main heads give the actions taken, its entropy and its temperature."""

    td_loss: Float[Array, " N"]
    q_values: Float[Array, " N"]
    actor_loss: Float[Array, " N"]
    entropy: Float[Array, " N"]
    temperature: Float[Array, " N"]


def draw_noise(
    seed: Array, updates: Int[AnyArray, ""], members: Int[np.ndarray, " N"], batch_size: int, actions: int
) -> Noise:
    """A member's numbers depend on its own index alone, so grouping changes nothing."""
    key = jax.random.fold_in(jax.random.wrap_key_data(seed), updates)
    keys = jax.vmap(partial(jax.random.fold_in, key))(members)
    both = jax.vmap(lambda own: jax.random.normal(own, (2, batch_size, actions)))(keys)
    return Noise(next=jnp.moveaxis(both[:, 0], 0, 1), current=jnp.moveaxis(both[:, 1], 0, 1))


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
    loss: Loss,
    networks: Networks,
    main: Int[np.ndarray, " N"],
    params: Params,
    batch: Batch,
    targets: Float[Array, "B N H 1"],
) -> tuple[Float[Array, " N"], Float[Array, " N"]]:
    """Mean over the batch, sum over critics and heads (E20, E22); and the mean value of the main heads."""
    predictions = networks.values(params, batch.observation, batch.action)[..., None]
    of_batch = jax.vmap(partial(loss.of_heads, main))
    errors = jax.vmap(of_batch, in_axes=(0, None))(predictions, targets)
    losses = jax.vmap(weighted_mean, in_axes=(0, None))(errors, batch.weight)
    main_values = predictions[:, :, np.arange(len(main)), main, 0]
    return jnp.sum(losses, axis=(0, 2)), jnp.mean(main_values, axis=(0, 1))


def actor_losses(
    networks: Networks,
    main: Int[np.ndarray, " N"],
    params: Params,
    critic_params: Params,
    temperature: Float[Array, " N"],
    batch: Batch,
    noise: Float[Array, "B N A"],
) -> tuple[Float[Array, " N"], Float[Array, " N"]]:
    """mean_b [α log π(ã|s) - min_c Q_c(s, ã)] by the main heads, and the entropy -mean_b log π (equation E21)."""
    action, log_prob = draw(networks.distribution(params, batch.observation), noise)
    lowest = jnp.min(networks.values(critic_params, batch.observation, action, main[:, None]), axis=0)[..., 0]
    per_sample = jnp.stack([temperature * log_prob - lowest, -log_prob], axis=-1)
    losses = weighted_mean(per_sample, batch.weight)
    return losses[:, 0], losses[:, 1]
