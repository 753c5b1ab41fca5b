"""Five tiny environments whose values are known, so that an agent can be asked for the right number; each with two
actions, and with one number between -1 and 1 as its action.

An agent that learns values, reads observations, discounts, and prefers better actions, in this order, passes them
one after the other; the first that fails says what is broken.
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
    """Episodes of `length` steps. `show` makes the observation of time and a random sign; `pay` the last reward.

    Discrete actions are -1 and +1 in `pay`.
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
    """One probe; one number to observe."""

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
