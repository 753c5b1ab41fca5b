"""The five MinAtar games, played by pgx: sticky actions 0.1 and difficulty ramping as in the original."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from chorus.envs.spec import EnvSpec
from chorus.spaces import Discrete


class Game(NamedTuple):
    """A game's name in pgx and its sizes; asking pgx for the sizes would start JAX and its threads."""

    pgx_name: str
    channels: int
    actions: int


GAMES = {
    "MinAtar/Asterix-v1": Game("minatar-asterix", 4, 5),
    "MinAtar/Breakout-v1": Game("minatar-breakout", 4, 3),
    "MinAtar/Freeway-v1": Game("minatar-freeway", 7, 3),
    "MinAtar/Seaquest-v1": Game("minatar-seaquest", 10, 6),
    "MinAtar/SpaceInvaders-v1": Game("minatar-space_invaders", 6, 4),
}

# pgx ends only Freeway by time; without a limit a good Breakout player may never finish an episode.
EPISODE_LIMIT_STEPS = 5_000

# One colour per channel, evenly spaced in viridis: distinguishable in greyscale and with colour blindness.
_PALETTE = np.array(
    [
        [68, 1, 84], [253, 231, 37], [33, 145, 140], [94, 201, 98], [59, 82, 139],
        [194, 223, 35], [38, 173, 129], [72, 40, 120], [229, 228, 25], [44, 114, 142],
    ],
    dtype=np.uint8,
)  # fmt: skip
_PIXELS_PER_CELL = 32


def describe(env_id: str, max_episode_steps: int | None) -> EnvSpec:
    game = GAMES[env_id]
    return EnvSpec(
        id=env_id,
        family="minatar",
        observation_shape=(10, 10, game.channels),
        observation_dtype=np.dtype(bool),
        actions=Discrete(game.actions),
        max_episode_steps=max_episode_steps or EPISODE_LIMIT_STEPS,
    )


@cache
def _traced_once(pgx_name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`init` and `step` of a game. Programs that contain them share one trace, which takes about a second."""
    import pgx

    game = pgx.make(pgx_name)
    return jax.jit(game.init), jax.jit(game.step)


class MinAtar:
    """One game; observations are 10 x 10 x C booleans."""

    def __init__(self, env_id: str, max_episode_steps: int | None) -> None:
        self._reset, self._step = _traced_once(GAMES[env_id].pgx_name)
        self.spec = describe(env_id, max_episode_steps)

    def reset(self, key: PRNGKeyArray) -> tuple[Any, Array]:
        state = self._reset(key)
        return state, state.observation

    def step(self, state: Any, action: Array, key: PRNGKeyArray) -> tuple[Any, Array, Array, Array]:
        state = self._step(state, action, key)
        return state, state.observation, jnp.squeeze(state.rewards), state.terminated

    def render(self, observation: np.ndarray) -> np.ndarray:
        frame = np.zeros((*observation.shape[:2], 3), np.uint8)
        for channel in range(observation.shape[2]):
            frame[observation[:, :, channel]] = _PALETTE[channel % len(_PALETTE)]
        return frame.repeat(_PIXELS_PER_CELL, axis=0).repeat(_PIXELS_PER_CELL, axis=1)
