"""What the rest of Chorus knows of an environment, and the two shapes an environment can have."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Array, PRNGKeyArray


@dataclass(frozen=True)
class EnvSpec:
    """`max_episode_steps` is a truncation in agent steps; `family` chooses the row of the scale table.

    Agents count actions from 0; `first_action` is what the environment calls its first one.
    """

    id: str
    family: str
    observation_shape: tuple[int, ...]
    observation_dtype: np.dtype
    num_actions: int
    max_episode_steps: int | None
    action_repeat: int = 1
    channels_first: bool = False
    first_action: int = 0

    def example(self) -> np.ndarray:
        return np.zeros(self.observation_shape, self.observation_dtype)


@runtime_checkable
class JaxEnv(Protocol):
    """An environment of pure functions, for one slot; acting and stepping become one jitted call."""

    spec: EnvSpec

    def reset(self, key: PRNGKeyArray) -> tuple[Any, Array]:
        """A state and its observation."""
        ...

    def step(self, state: Any, action: Array, key: PRNGKeyArray) -> tuple[Any, Array, Array, Array]:
        """The next state, its observation, the reward, and whether the episode terminated."""
        ...

    def render(self, observation: np.ndarray) -> np.ndarray:
        """An RGB picture of an observation."""
        ...


@runtime_checkable
class HostEnv(Protocol):
    """One slot of an environment that lives in Python; constructed anew each iteration."""

    spec: EnvSpec

    def reset(self, seed: int | None) -> np.ndarray: ...

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool]:
        """Observation, reward, terminated, truncated."""
        ...

    def render(self) -> np.ndarray: ...

    def close(self) -> None: ...
