"""DeepSea: N x N cells in which only N right moves in a row are rewarded (Osband et al.; rules and numbers of bsuite).

An episode starts at the top left and falls one row per step. Of the two actions one moves right, if there is a column
to the right, and one left; which one is drawn for each of the N x N cells, so that what was learnt in a cell says
nothing about the next. A step to the right costs 0.01 / N, also where no column is left; a step to the right in the
bottom right cell earns 1. The episode ends after N steps, with an observation of zeros. The best return is 1 - 0.01,
and random actions find the treasure in one of 2^N episodes.

In the stochastic form a step to the right fails with chance 1 / N (it costs the same, and the column stays), and both
corners of the bottom row add noise from N(0, 1) to the reward, whatever the action.

The meaning of the actions belongs to the id, not to the seed of a run: `DeepSea-20-v0` is one environment, with the
draw of bsuite's mapping seed 42, and `DeepSea-20-map7-v0` is another one. Runs that differ in their seed are thus
repetitions on the same problem, and several mappings are compared as several environments.
"""

import re
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from chorus.envs.spec import EnvSpec
from chorus.errors import ChorusError
from chorus.spaces import Discrete

SMALLEST, LARGEST = 5, 100
# What ids of this module begin with, and how they are written.
PREFIX = r"DeepSea(Stochastic)?[-0-9]"
FORMS = f"DeepSea-N-v0 and DeepSeaStochastic-N-v0, N from {SMALLEST} to {LARGEST}"
MOVE_COST = 0.01
MAPPING_SEED = 42
# Of the best return: an agent that finds the treasure every second time has solved the sea.
SOLVED_SHARE = 0.5
# Without zeros in front: one environment has one id.
_NUMBER = "(0|[1-9][0-9]{0,8})"
_ID = re.compile(rf"DeepSea(?P<stochastic>Stochastic)?-(?P<size>{_NUMBER})(-map(?P<mapping>{_NUMBER}))?-v0")
_PIXELS_PER_CELL = 8


class Sea(NamedTuple):
    """What an id says."""

    size: int
    stochastic: bool
    mapping_seed: int

    @property
    def optimal_return(self) -> float:
        """The expected return of the best policy.

        In the stochastic form it gives up, at no cost, after the first failed step to the right. With p = 1 - 1/N it is
        paid with chance p^(N-1) and makes 1 + p + ... + p^(N-1) = N (1 - p^N) steps to the right on average.
        """
        p = 1.0 - 1.0 / self.size if self.stochastic else 1.0
        steps = self.size * (1.0 - p**self.size) if self.stochastic else self.size
        return p ** (self.size - 1) - steps * MOVE_COST / self.size


def parse(env_id: str) -> Sea:
    """What the id says; an error if there is no such sea."""
    if (found := _ID.fullmatch(env_id)) is None:
        raise ChorusError(
            f"the environment '{env_id}' does not exist; write DeepSea-20-v0, DeepSeaStochastic-20-v0, or "
            "DeepSea-20-map7-v0 for another meaning of the actions"
        )
    size = int(found["size"])
    if not SMALLEST <= size <= LARGEST:
        raise ChorusError(f"'{env_id}' has {size} x {size} cells; DeepSea has sizes from {SMALLEST} to {LARGEST}")
    mapping = found["mapping"]
    return Sea(size, found["stochastic"] is not None, MAPPING_SEED if mapping is None else int(mapping))


def describe(env_id: str, max_episode_steps: int | None) -> EnvSpec:
    """A limit below the size ends episodes above the treasure; then the best return is not known."""
    sea = parse(env_id)
    limit = max_episode_steps or sea.size
    optimal = sea.optimal_return if limit >= sea.size else None
    return EnvSpec(
        id=env_id,
        family="deep_sea",
        observation_shape=(sea.size, sea.size),
        observation_dtype=np.dtype(bool),
        actions=Discrete(2),
        max_episode_steps=limit,
        optimal_return=optimal,
        solved_return=None if optimal is None else SOLVED_SHARE * optimal,
        one_hot=True,
    )


def right_actions(sea: Sea) -> Int[np.ndarray, "N N"]:
    """The action that moves right in each cell; the generator is bsuite's, so that the environments are the same."""
    generator = np.random.RandomState(sea.mapping_seed)
    return generator.binomial(1, 0.5, (sea.size, sea.size)).astype(np.int32)


class SeaState(NamedTuple):
    row: Int[Array, ""]
    column: Int[Array, ""]


class DeepSea:
    """One sea; an observation marks the present cell."""

    def __init__(self, env_id: str, max_episode_steps: int | None) -> None:
        self._sea = parse(env_id)
        self._right = right_actions(self._sea)
        self.spec = describe(env_id, max_episode_steps)

    def _observe(self, state: SeaState) -> Bool[Array, "N N"]:
        """Below the last row nothing is marked."""
        cells = jnp.arange(self._sea.size)
        return (cells[:, None] == state.row) & (cells == state.column)

    def reset(self, key: PRNGKeyArray) -> tuple[SeaState, Bool[Array, "N N"]]:
        state = SeaState(row=jnp.zeros((), jnp.int32), column=jnp.zeros((), jnp.int32))
        return state, self._observe(state)

    def step(
        self, state: SeaState, action: Array, key: PRNGKeyArray
    ) -> tuple[SeaState, Bool[Array, "N N"], Float[Array, ""], Bool[Array, ""]]:
        last = self._sea.size - 1
        right = action == jnp.asarray(self._right)[state.row, state.column]
        reward = right * ((state.column == last) - MOVE_COST / self._sea.size)
        succeeds = jnp.ones((), bool)
        if self._sea.stochastic:
            noise_key, wind_key = jax.random.split(key)
            corner = (state.row == last) & ((state.column == 0) | (state.column == last))
            reward = reward + corner * jax.random.normal(noise_key)
            succeeds = jax.random.uniform(wind_key) >= 1.0 / self._sea.size
        shift = jnp.where(right, succeeds.astype(jnp.int32), -1)
        moved = SeaState(row=state.row + 1, column=jnp.clip(state.column + shift, 0, last))
        return moved, self._observe(moved), reward.astype(jnp.float32), moved.row > last

    def render(self, observation: np.ndarray) -> np.ndarray:
        frame = np.where(observation[..., None], np.uint8(255), np.array([20, 40, 90], np.uint8))
        return frame.repeat(_PIXELS_PER_CELL, axis=0).repeat(_PIXELS_PER_CELL, axis=1)
