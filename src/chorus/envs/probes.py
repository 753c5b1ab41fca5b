"""Five tiny environments with known values, each with two Discrete actions and with a Box action in [-1, 1].

They test, in this order, whether an agent learns values, reads observations, discounts, prefers better actions, and
combines these; the first probe that fails shows what is broken.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from chorus.envs.spec import EnvSpec
from chorus.spaces import Actions, Box, Discrete


@dataclass(frozen=True)
class Probe:
    """Episodes of `length` steps; only the last one is rewarded.

    `show` computes the observation from the time and a random sign, `pay` the reward from the sign and the action.
    `pay` gets -1 and +1 for Discrete actions.
    """

    length: int
    show: Callable[[Array, Array], Array]
    pay: Callable[[Array, Array], Array]
    actions: Actions = Discrete(2)  # noqa: RUF009 (a frozen value)


_DISCRETE = {
    "Probe/Constant-v0": Probe(1, show=lambda t, sign: 0.0 * sign, pay=lambda sign, action: 1.0 + 0.0 * sign),
    "Probe/Observation-v0": Probe(1, show=lambda t, sign: sign, pay=lambda sign, action: sign),
    "Probe/Discount-v0": Probe(2, show=lambda t, sign: 1.0 * t, pay=lambda sign, action: 1.0 + 0.0 * sign),
    "Probe/Action-v0": Probe(1, show=lambda t, sign: 0.0 * sign, pay=lambda sign, action: action),
    "Probe/Both-v0": Probe(1, show=lambda t, sign: sign, pay=lambda sign, action: sign * action),
}
_UNIT = Box(low=(-1.0,), high=(1.0,), native_shape=(1,))
PROBES = _DISCRETE | {
    name.replace("Probe/", "Probe/Continuous"): replace(probe, actions=_UNIT) for name, probe in _DISCRETE.items()
}


def describe(env_id: str, max_episode_steps: int | None) -> EnvSpec:
    return EnvSpec(
        id=env_id,
        family="flat" if isinstance(PROBES[env_id].actions, Discrete) else "control",
        observation_shape=(1,),
        observation_dtype=np.dtype(np.float32),
        actions=PROBES[env_id].actions,
        max_episode_steps=max_episode_steps or PROBES[env_id].length,
    )


class ProbeState(NamedTuple):
    time: Int[Array, ""]
    sign: Float[Array, ""]


class ProbeEnv:
    """One probe; its observation is a single number."""

    def __init__(self, env_id: str, max_episode_steps: int | None) -> None:
        self._probe = PROBES[env_id]
        self.spec = describe(env_id, max_episode_steps)

    def _observe(self, state: ProbeState) -> Float[Array, " 1"]:
        return jnp.reshape(self._probe.show(state.time, state.sign), (1,)).astype(jnp.float32)

    def reset(self, key: PRNGKeyArray) -> tuple[ProbeState, Float[Array, " 1"]]:
        state = ProbeState(time=jnp.zeros((), jnp.int32), sign=jax.random.rademacher(key, (), jnp.float32))
        return state, self._observe(state)

    def step(
        self, state: ProbeState, action: Array, key: PRNGKeyArray
    ) -> tuple[ProbeState, Float[Array, " 1"], Float[Array, ""], Bool[Array, ""]]:
        moved = ProbeState(time=state.time + 1, sign=state.sign)
        last = moved.time >= self._probe.length
        signed = 2.0 * action - 1.0 if isinstance(self._probe.actions, Discrete) else action[0]
        reward = jnp.where(last, self._probe.pay(state.sign, signed), 0.0)
        return moved, self._observe(moved), reward, last

    def render(self, observation: np.ndarray) -> np.ndarray:
        grey = int(np.clip(127.5 + 127.5 * observation[0], 0, 255))
        return np.full((64, 64, 3), grey, np.uint8)
