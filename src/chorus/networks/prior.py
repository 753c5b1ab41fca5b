"""Randomized prior functions (Osband et al., 2018): every prediction adds that of a fixed random network.

Each member has such a network of its own. Head (i, k) predicts the value of member
policy[i,k]'s policy, so it adds that member's prior, online and target alike (equation E15).
"""

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from chorus.ensemble.auxiliaries import Features
from chorus.networks.forked import Forked, Params
from chorus.spaces import AnyArray

FIXED = "prior"


@dataclass(frozen=True)
class WithPrior:
    """A network and its priors behind the network's own interface; the priors are the group `prior` of its params."""

    network: Forked
    policy: Int[np.ndarray, "N H"]
    scale: float

    @property
    def actions(self) -> int:
        return self.network.actions

    @property
    def _prior(self) -> Forked:
        return replace(self.network, shared=0, heads=1, feature_layers=0)

    @property
    def keys(self) -> int:
        return 2

    def init(self, key: PRNGKeyArray, observation: AnyArray) -> Params:
        return self.init_from(jax.random.split(key, self.keys), observation)

    def init_from(self, keys: Key[Array, " K"], observation: AnyArray) -> Params:
        learnt_key, fixed_key = keys
        params = self.network.init(learnt_key, observation)
        return {**params, FIXED: self._prior.init(fixed_key, observation)}

    def features(self, params: Params, observation: AnyArray) -> Features:
        """Features of the learnt network only."""
        return self.network.features(params, observation)

    def apply(
        self, params: Params, observation: AnyArray, heads: Int[np.ndarray, "N K"] | None = None
    ) -> Float[Array, "B N K A Z"]:
        return self.apply_with_features(params, observation, heads)[0]

    def apply_with_features(
        self, params: Params, observation: AnyArray, heads: Int[np.ndarray, "N K"] | None = None
    ) -> tuple[Float[Array, "B N K A Z"], Features]:
        values, features = self.network.apply_with_features(params, observation, heads)
        whose = self.policy if heads is None else np.take_along_axis(self.policy, heads, axis=1)
        fixed = jax.lax.stop_gradient(self._prior.apply(params[FIXED], observation))
        return values + self.scale * fixed[:, whose, 0], features

    def view(self, params: Params, member: Int[Array, ""], head: Int[Array, ""]) -> Params:
        whose = jnp.asarray(self.policy)[member, head]
        fixed = self._prior.view(params[FIXED], whose, jnp.zeros((), jnp.int32))
        return {**self.network.view(params, member, head), FIXED: fixed}

    def alone(self) -> "WithPrior":
        return WithPrior(self.network.alone(), np.zeros((1, 1), int), self.scale)
