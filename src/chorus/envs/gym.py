"""Any Gymnasium environment with a Box observation: flat or image with Discrete actions, flat with Box actions."""

import warnings
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from chorus.envs.given import find_maker, make_given, time_limit
from chorus.envs.mujoco_setup import set_up_mujoco
from chorus.envs.spec import EnvSpec, StepResult
from chorus.errors import ChorusError
from chorus.extras import require_named
from chorus.spaces import Actions, Box, Discrete

# Smaller images leave no pixels after the strides of the Nature network.
_SMALLEST_IMAGE_SIDE = 36
_CHANNEL_COUNTS = (1, 3, 4)


class GymEnvs:
    """E copies of a Gymnasium environment. Observations keep their layout; 64-bit floats are stored as 32-bit."""

    def __init__(self, env_id: str, slots: int, max_episode_steps: int | None, render_mode: str | None = None) -> None:
        self._envs = [make(env_id, max_episode_steps, render_mode) for _ in range(slots)]
        self.spec = describe(env_id, self._envs[0])

    def reset(self, seeds: np.ndarray) -> np.ndarray:
        return np.stack([self._start(slot, int(seed)) for slot, seed in enumerate(seeds)])

    def _start(self, slot: int, seed: int | None) -> np.ndarray:
        observation, _ = self._envs[slot].reset(seed=seed)
        return np.asarray(observation, self.spec.observation_dtype)

    def step(self, actions: np.ndarray) -> StepResult:
        native = self.spec.actions.native(actions)
        results = [env.step(action) for env, action in zip(self._envs, native, strict=True)]
        observed, rewards, terminations, truncations, _ = zip(*results, strict=True)
        # Copies: environments may write their next observation into the same array.
        observation = np.array(observed, self.spec.observation_dtype)
        terminated, truncated = np.array(terminations, bool), np.array(truncations, bool)
        reset_observation, ended = observation, terminated | truncated
        if ended.any():
            reset_observation = observation.copy()
            for slot in np.flatnonzero(ended).tolist():
                reset_observation[slot] = self._start(slot, None)
        return StepResult(
            observation=observation,
            reset_observation=reset_observation,
            reward=np.array(rewards, np.float32),
            terminated=terminated,
            truncated=truncated,
            life_lost=np.zeros(len(ended), bool),
        )

    def render(self) -> np.ndarray:
        try:
            frame: Any = self._envs[0].render()
        except Exception as problem:  # rendering may need a package, a driver or a display that is missing
            require_named(problem, f"a video of '{self.spec.id}'")
            missing = isinstance(problem, ImportError | gymnasium.error.DependencyNotInstalled)
            remedy = "install what is missing" if missing else "its render() must work by itself"
            reason = f"{type(problem).__name__}: {' '.join(str(problem).split())}"
            raise ChorusError(
                f"'{self.spec.id}' cannot be filmed ({reason}); {remedy}, or leave out --video"
            ) from problem
        if frame is None:
            raise ChorusError(f"'{self.spec.id}' cannot be filmed: its render() returns nothing in rgb_array mode")
        return np.asarray(frame, np.uint8)

    def close(self) -> None:
        for env in self._envs:
            env.close()


def make(env_id: str, max_episode_steps: int | None, render_mode: str | None) -> gymnasium.Env:
    # Only what was asked for is passed on: many constructors do not take `render_mode`.
    rendered: dict[str, Any] = {} if render_mode is None else {"render_mode": render_mode}
    limited: dict[str, Any] = {} if max_episode_steps is None else {"max_episode_steps": max_episode_steps}
    maker = None
    try:
        with warnings.catch_warnings():
            # Environments that cannot render are reported below, or when rendering is asked for.
            warnings.filterwarnings("ignore", message=r"(?s).*render_mode")
            # The paper's tasks are MuJoCo's v4; newer versions do not matter.
            warnings.filterwarnings("ignore", message=r"(?s).*is out of date")
            set_up_mujoco(render_mode)
            maker = find_maker(env_id)
            if maker is not None:
                return make_given(maker, max_episode_steps, rendered)
            return gymnasium.make(env_id, **rendered, **limited)
    except ChorusError:
        raise
    except (gymnasium.error.Error, ImportError) as problem:
        require_named(problem, f"'{env_id}'")
        raise ChorusError(
            f"the environment '{env_id}' cannot be made ({problem}); `chorus list envs` shows what is known here, "
            "and my_package:MyEnv-v0 imports my_package first, which must be installed or in a folder of PYTHONPATH"
        ) from problem
    except Exception as problem:
        # Other exceptions come from the constructor's own code; the error gives their first line.
        reason = f"{type(problem).__name__}: {next(iter(str(problem).splitlines()), 'no message')}"
        if isinstance(problem, TypeError) and render_mode is not None:
            raise ChorusError(
                f"'{env_id}' cannot be filmed ({reason}); its constructor must take render_mode='{render_mode}'"
            ) from problem
        called = f"gymnasium.make('{env_id}')" if maker is None else f"{env_id.partition(':')[2]}()"
        raise ChorusError(
            f"the environment '{env_id}' cannot be made: its constructor raised {reason}; {called} must work by itself"
        ) from problem


def describe(env_id: str, env: gymnasium.Env) -> EnvSpec:
    """The environment's description; raises a `ChorusError` with the reason if Chorus cannot learn in it."""
    observation = env.observation_space
    actions = _actions(env_id, env.action_space)
    if not isinstance(observation, spaces.Box):
        raise ChorusError(
            f"'{env_id}' has the observation space {type(observation).__name__}; Chorus needs a Box: "
            "wrap it in gymnasium.wrappers.FlattenObservation and register the wrapped environment"
        )
    if len(observation.shape) not in (1, 3):
        raise ChorusError(
            f"'{env_id}' observes arrays of shape {observation.shape}; Chorus takes flat vectors (n,) and "
            "images (height, width, channels): reshape them with gymnasium.wrappers.ReshapeObservation"
        )
    shape = tuple(int(size) for size in observation.shape)
    if isinstance(actions, Box) and len(shape) != 1:
        raise ChorusError(
            f"'{env_id}' observes arrays of shape {shape}; with Box actions Chorus takes flat vectors (n,) only: "
            "wrap it in gymnasium.wrappers.FlattenObservation and register the wrapped environment"
        )
    channels_first = len(shape) == 3 and _channels_first(env_id, shape)
    known = env.spec
    return EnvSpec(
        id=env_id,
        family=_family(shape, channels_first) if isinstance(actions, Discrete) else "control",
        observation_shape=shape,
        observation_dtype=_storage_dtype(observation.dtype),
        actions=actions,
        max_episode_steps=time_limit(env),
        channels_first=channels_first,
        solved_return=known.reward_threshold if known is not None else None,
        one_hot=_is_one_hot(env),
    )


def _is_one_hot(env: gymnasium.Env) -> bool:
    """Whether the environment is the usual flat form of one whose observations are numbers of states."""
    while isinstance(env, gymnasium.Wrapper):
        flattened = isinstance(env, gymnasium.wrappers.FlattenObservation)
        if flattened and isinstance(env.env.observation_space, spaces.Discrete):
            return True
        # Others may change observations, unless they leave the space to the environment below.
        if env._observation_space is not None:
            return False
        env = env.env
    return False


def _channels_first(env_id: str, shape: tuple[int, ...]) -> bool:
    """Decided by a usual number of channels, then by equal sides, then by the smaller end (stacks: 12 x 84 x 84)."""
    first, middle, last = shape
    for end, at_the_front in ((last, False), (first, True)):
        if end in _CHANNEL_COUNTS:
            return at_the_front
    if (first == middle) != (middle == last):
        return middle == last
    if first == last:
        raise ChorusError(
            f"'{env_id}' observes arrays of shape {shape}, and nothing tells which axis holds the channels; register "
            "it with gymnasium.wrappers.ReshapeObservation, as (height, width, channels) with few channels"
        )
    return first < last


def _actions(env_id: str, space: spaces.Space) -> Actions:
    if isinstance(space, spaces.Discrete):
        return Discrete(int(space.n), int(space.start))
    numbers = isinstance(space, spaces.Box) and np.issubdtype(space.dtype, np.floating)
    if not isinstance(space, spaces.Box) or not numbers or not space.low.size or not space.shape:
        raise ChorusError(
            f"'{env_id}' has the action space {space}; Chorus acts in Discrete spaces and in Boxes of floats with at "
            "least one axis: wrap the environment or choose another one"
        )
    with np.errstate(over="ignore"):
        width = np.float32(space.high) - np.float32(space.low)
    if not np.isfinite(width).all():
        raise ChorusError(
            f"'{env_id}' has the action space {space}, which is unbounded; Chorus stretches actions between finite "
            "bounds: wrap it in gymnasium.wrappers.TransformAction with a finite Box, and leave out ClipAction"
        )
    low, high = (tuple(map(float, side.flatten())) for side in (space.low, space.high))
    return Box(low, high, tuple(map(int, space.shape)), np.dtype(space.dtype).name)


def _family(shape: tuple[int, ...], channels_first: bool) -> str:
    if len(shape) == 1:
        return "flat"
    sides = shape[1:] if channels_first else shape[:2]
    return "image" if min(sides) >= _SMALLEST_IMAGE_SIDE else "minatar"


def _storage_dtype(dtype: Any) -> np.dtype:
    kept = (np.dtype(np.uint8), np.dtype(bool), np.dtype(np.int32))
    return np.dtype(dtype) if np.dtype(dtype) in kept else np.dtype(np.float32)
