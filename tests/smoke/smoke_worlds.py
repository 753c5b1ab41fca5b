"""Tiny environments of every layout people bring: registered when this module is imported."""

import gymnasium
import numpy as np
from gymnasium import spaces


class RandomPictures(gymnasium.Env):
    """Noise for a few steps; the second action is always the right one. It takes no render mode, as many do not."""

    def __init__(self, shape: tuple[int, ...] = (84, 84, 3), dtype: type = np.uint8, start: int = 0) -> None:
        self.observation_space = spaces.Box(0, 255 if dtype == np.uint8 else 1, shape, dtype)
        self.action_space = spaces.Discrete(3, start=start)
        self._left = 0

    def _look(self) -> np.ndarray:
        noise = self.np_random.random(self.observation_space.shape) * self.observation_space.high.max()
        return noise.astype(self.observation_space.dtype)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self._left = int(self.np_random.integers(3, 8))
        return self._look(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        if not self.action_space.contains(action):
            raise AssertionError(f"{action!r} is not an action of {self.action_space}")
        self._left -= 1
        right = action == self.action_space.start + 1
        return self._look(), float(right), self._left <= 0, False, {}


class UnequalBox(gymnasium.Env):
    """Actions of unequal bounds; the best is the upper right corner, and an episode ends by itself."""

    observation_space = spaces.Box(-1, 1, (5,), np.float64)
    action_space = spaces.Box(np.float32([-3, 10]), np.float32([1, 12]))

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self._left = int(self.np_random.integers(3, 8))
        return self.np_random.uniform(-1, 1, 5), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        if not self.action_space.contains(action):
            raise AssertionError(f"{action!r} is not an action of {self.action_space}")
        self._left -= 1
        return self.np_random.uniform(-1, 1, 5), float(action.sum()), self._left <= 0, False, {}


gymnasium.register("SmokeBox-v0", entry_point=UnequalBox, max_episode_steps=20)
gymnasium.register("SmokePictures-v0", entry_point=RandomPictures, max_episode_steps=20)
gymnasium.register(
    "SmokeChannelsFirst-v0", entry_point=RandomPictures, max_episode_steps=20, kwargs={"shape": (3, 84, 84)}
)
gymnasium.register(
    "SmokeCountsFromFive-v0", entry_point=RandomPictures, max_episode_steps=20,
    kwargs={"shape": (6,), "dtype": np.float32, "start": 5},
)  # fmt: skip
