"""The description of an environment, and the two kinds of environments: pure JAX functions, or Python objects."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, Shaped

from chorus.spaces import Actions


@dataclass(frozen=True)
class EnvSpec:
    """The description of an environment; `family` chooses the row of the scale table.

    Episodes are truncated after `max_episode_steps` agent steps. With a `frame_stack` of S > 1 an observation holds
    the newest S frames along its first axis, oldest first, with zeros before the episode's start. With
    `whole_episodes` an iteration in a single environment ends with an episode. `optimal_return` is the expected return
    of the best policy, `solved_return` the mean return from which the environment counts as solved; None if unknown.
    With `one_hot`, at most one value of an observation is not zero, and it tells the states apart.
    """

    id: str
    family: str
    observation_shape: tuple[int, ...]
    observation_dtype: np.dtype
    actions: Actions
    max_episode_steps: int | None
    action_repeat: int = 1
    channels_first: bool = False
    frame_stack: int = 1
    whole_episodes: bool = False
    optimal_return: float | None = None
    solved_return: float | None = None
    one_hot: bool = False

    def example(self) -> np.ndarray:
        """An observation of zeros."""
        return np.zeros(self.observation_shape, self.observation_dtype)


@runtime_checkable
class JaxEnv(Protocol):
    """An environment of pure functions for one slot, so that acting and stepping are one jitted call."""

    spec: EnvSpec

    def reset(self, key: PRNGKeyArray) -> tuple[Any, Array]:
        """A state and its observation."""
        ...

    def step(self, state: Any, action: Array, key: PRNGKeyArray) -> tuple[Any, Array, Array, Array]:
        """The next state, its observation, the reward, and whether the episode terminated."""
        ...

    def render(self, observation: np.ndarray) -> np.ndarray:
        """An RGB frame of an observation."""
        ...


class StepResult(NamedTuple):
    """One step of E slots.

    Where an episode ended, `observation` is its last one and `reset_observation` the first of the next episode.
    `life_lost` marks lost lives after which the game continues.
    """

    observation: Shaped[np.ndarray, "E ..."]
    reset_observation: Shaped[np.ndarray, "E ..."]
    reward: Float[np.ndarray, " E"]
    terminated: Bool[np.ndarray, " E"]
    truncated: Bool[np.ndarray, " E"]
    life_lost: Bool[np.ndarray, " E"]


@runtime_checkable
class HostEnvs(Protocol):
    """E slots of an environment that lives in Python, stepped together; constructed anew each iteration."""

    spec: EnvSpec

    def reset(self, seeds: Int[np.ndarray, " E"]) -> Shaped[np.ndarray, "E ..."]:
        """The first observation of every slot; later episodes start by themselves."""
        ...

    def step(self, actions: Shaped[np.ndarray, "E ..."]) -> StepResult:
        """One step; actions are the agent's, not the environment's own (see `chorus.spaces`)."""
        ...

    def render(self) -> np.ndarray:
        """An RGB frame of the first slot after its last step."""
        ...

    def close(self) -> None: ...
