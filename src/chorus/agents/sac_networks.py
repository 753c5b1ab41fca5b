"""The critics and policies of a SAC ensemble, and the noise their updates draw."""

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from chorus.ensemble.auxiliaries import Features
from chorus.ensemble.value_map import ValueMap
from chorus.networks.forked import Forked, Params
from chorus.networks.gaussian import Gaussian, gaussian_of
from chorus.networks.layers import Dense, GaussianHeads, Initialization
from chorus.networks.torsos import Torso
from chorus.spaces import AnyArray, Box


@dataclass(frozen=True)
class Networks:
    """Networks of all members, or of a group of them: `critic` reads observation and action, `policy` observations.

    Parameters of critics have a leading axis C, one entry per critic of each member.
    """

    critic: Forked
    policy: Forked

    @staticmethod
    def build(torso: Torso, initialization: Initialization, value_map: ValueMap, actions: Box) -> "Networks":
        """Networks with the same hidden layers; the policy's two heads start as `GaussianHeads` says."""
        forked = partial(Forked, torso.layers(initialization), value_map.members, 0, divides=False)
        return Networks(
            critic=forked(
                heads=value_map.heads,
                actions=1,
                initialization=initialization,
                feature_layers=torso.feature_layers,
            ),
            policy=forked(heads=2, actions=actions.shape[0], initialization=GaussianHeads()),
        )

    def of(self, members: int) -> "Networks":
        """The same networks for another number of members."""
        return Networks(replace(self.critic, members=members), replace(self.policy, members=members))

    def distribution(self, params: Params, observation: AnyArray) -> Gaussian:
        """Every member's policy in each state, [B, N, A] (equation E19)."""
        return gaussian_of(self.policy.apply(params, observation)[..., 0])

    def values(
        self, params: Params, observation: AnyArray, action: AnyArray, heads: Int[np.ndarray, "N K"] | None = None
    ) -> Float[Array, "C B N K"]:
        """Each critic's value of an action; observations and actions are for all members (M = 1) or one per member."""

        # Put together per critic, so that gradients are added up after the state's part has been left out.
        def of_critic(own: Params) -> Float[Array, "B N K"]:
            return self.critic.apply(own, beside(observation, action), heads)[..., 0, 0]

        return jax.vmap(of_critic)(params)

    def values_to_improve(
        self, params: Params, observation: AnyArray, action: AnyArray, heads: Int[np.ndarray, "N K"]
    ) -> Float[Array, "C B N K"]:
        """As `values`, with a gradient in the action only: that of the state is most of a first layer's work."""
        first, *others = self.critic.torso
        if isinstance(first, Dense):
            first = first.clone(constant_inputs=observation.shape[-1])
        return replace(self, critic=replace(self.critic, torso=(first, *others))).values(
            params, jax.lax.stop_gradient(observation), action, heads
        )

    def values_and_features(
        self, params: Params, observation: AnyArray, action: AnyArray
    ) -> tuple[Float[Array, "C B N H"], Features]:
        """As `values`, with the critics' features, [C, N, B, D]."""
        state_action = beside(observation, action)
        values, features = jax.vmap(lambda own: self.critic.apply_with_features(own, state_action))(params)
        return values[..., 0, 0], features

    def values_of_policies(
        self,
        params: Params,
        observation: AnyArray,
        action: Float[Array, "B N P A"],
        heads: Int[np.ndarray, "N K"],
    ) -> Float[Array, "C B N P K"]:
        """Each critic's values of the actions of P policies; each pair of state and policy is one batch entry."""
        size, members, asked, numbers = action.shape
        flat = jnp.moveaxis(action, 2, 1).reshape(size * asked, members, numbers)
        found = self.values(params, jnp.repeat(observation, asked, axis=0), flat, heads)
        return jnp.moveaxis(found.reshape(found.shape[0], size, asked, members, -1), 2, 3)


def beside(observation: AnyArray, action: AnyArray) -> Float[Array, "B M D"]:
    """Observations and actions as the critics' input; M is 1 only if both are for all members."""
    copies = max(observation.shape[1], action.shape[1])
    state, action = (jnp.broadcast_to(x, (x.shape[0], copies, x.shape[2])) for x in (observation, action))
    return jnp.concatenate([state, action], axis=-1)


class Noise(NamedTuple):
    """Each member's own noise for one update: in s' for the targets, in s for the policy's gradient.

    `critics` is the key of the draw of target critics.
    """

    next: Float[Array, "B N A"]
    current: Float[Array, "B N A"]
    critics: PRNGKeyArray


def draw_noise(seed: Array, updates: Int[AnyArray, ""], members: int, batch_size: int, actions: int) -> Noise:
    key = jax.random.fold_in(jax.random.wrap_key_data(seed), updates)
    keys = jax.vmap(partial(jax.random.fold_in, key))(np.arange(members))
    both = jax.vmap(lambda own: jax.random.normal(own, (2, batch_size, actions)))(keys)
    return Noise(
        next=jnp.moveaxis(both[:, 0], 0, 1),
        current=jnp.moveaxis(both[:, 1], 0, 1),
        # Members have the numbers below this one.
        critics=jax.random.fold_in(key, members),
    )
