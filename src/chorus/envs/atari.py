"""Atari with the paper's protocol, through ALE's own vector environment.

Preprocessing happens in C++: minimal action set, each action for four frames, the last two of them max-pooled, gray,
84 x 84, the newest four stacked with zeros before an episode's start. Rewards are raw; learners clip.
"""

from dataclasses import dataclass

import numpy as np

from chorus.components import NOT_NEGATIVE, Range, option
from chorus.envs.atari_games import canonical, games, minimal_actions
from chorus.envs.spec import EnvSpec, StepResult
from chorus.extras import require
from chorus.spaces import Discrete

ACTION_REPEAT, FRAME_STACK, SIDE_PIXELS = 4, 4, 84
# 108,000 frames, half an hour of play.
EPISODE_LIMIT_STEPS = 27_000
_RENDER_SCALE = 4
# The emulator's seeds are signed 32-bit numbers; a negative one means no seed.
_SEED_MASK = 0x7FFF_FFFF


@dataclass(frozen=True, kw_only=True)
class AtariSettings:
    """Options of Atari games; the defaults are the paper's protocol."""

    sticky_actions: float = option(
        0.0,
        flag="sticky-actions",
        unit="P",
        within=Range("be a chance from 0 to below 1 (the paper uses 0, Gymnasium's v5 0.25)", 0, 1, high_open=True),
        help="Atari: chance that the emulator repeats the previous action, from 0 to below 1; Gymnasium's v5 uses 0.25",
    )
    noop_max: int = option(
        0,
        flag="noop-max",
        unit="K",
        within=NOT_NEGATIVE,
        help="Atari: up to this many no-ops before each game, their number drawn at random",
    )
    terminal_on_life_loss: bool = option(
        False,
        flag="terminal-on-life-loss",
        help="Atari: the learner sees a terminal at each lost life; game, frame stack and scores go on",
    )
    redraw_on_life_loss: bool = option(
        False,
        flag="redraw-on-life-loss",
        help="Atari: draw the acting member at each lost life, not only where a game starts",
    )


def describe(env_id: str, max_episode_steps: int | None) -> EnvSpec:
    name = canonical(env_id)
    # The description needs no emulator, but every run does: it is missed here, before a run has a directory.
    require("ale_py", f"'{name}'")
    return EnvSpec(
        id=name,
        family="atari",
        observation_shape=(FRAME_STACK, SIDE_PIXELS, SIDE_PIXELS),
        observation_dtype=np.dtype(np.uint8),
        actions=Discrete(minimal_actions(games()[name])),
        max_episode_steps=max_episode_steps or EPISODE_LIMIT_STEPS,
        action_repeat=ACTION_REPEAT,
        channels_first=True,
        frame_stack=FRAME_STACK,
        whole_episodes=True,
    )


class AtariEnvs:
    """E copies of one game."""

    def __init__(self, env_id: str, slots: int, max_episode_steps: int | None, settings: AtariSettings) -> None:
        from ale_py import AtariVectorEnv
        from gymnasium.vector import AutoresetMode

        self.spec = describe(env_id, max_episode_steps)
        self._limit = max_episode_steps or EPISODE_LIMIT_STEPS
        # The emulator's own limit stops before the last frame is drawn, so that the final observation of a truncated
        # episode, from which values bootstrap, would be an old one: steps are counted here instead.
        # Lives are found by their drop: `episodic_life` would restart the game at each, and `life_loss_info` would
        # set a flag that cannot be told from the end of the game.
        self._games = AtariVectorEnv(
            games()[self.spec.id],
            slots,
            max_num_frames_per_episode=(self._limit + 1) * ACTION_REPEAT,
            repeat_action_probability=settings.sticky_actions,
            autoreset_mode=AutoresetMode.SAME_STEP,
            img_height=SIDE_PIXELS,
            img_width=SIDE_PIXELS,
            stack_num=FRAME_STACK,
            frameskip=ACTION_REPEAT,
            noop_max=settings.noop_max,
            episodic_life=False,
            life_loss_info=False,
            reward_clipping=False,
            use_fire_reset=False,
        )
        self._lives = np.zeros(slots, np.int32)
        self._elapsed = np.zeros(slots, np.int64)
        self._newest = self.spec.example()

    def reset(self, seeds: np.ndarray) -> np.ndarray:
        observation, info = self._games.reset(seed=(seeds & _SEED_MASK).astype(np.int64))
        self._lives, self._newest = info["lives"], observation[0]
        self._elapsed[:] = 0
        return observation

    def step(self, actions: np.ndarray) -> StepResult:
        observation, reward, terminated, _, info = self._games.step(actions.astype(np.int32, copy=False))
        reset_observation = observation
        if terminated.any():
            # These slots have started their next game. `final_obs` of the other slots is uninitialised memory.
            observation = np.where(terminated[:, None, None, None], info["final_obs"], reset_observation)
        life_lost = (info["lives"] < self._lives) & ~terminated
        self._elapsed += 1
        truncated = (self._elapsed >= self._limit) & ~terminated
        if truncated.any():
            reset_observation, info = self._games.reset(options={"reset_mask": truncated})
        self._elapsed[terminated | truncated] = 0
        self._lives, self._newest = info["lives"], observation[0]
        return StepResult(
            observation=observation,
            reset_observation=reset_observation,
            reward=reward.astype(np.float32),
            terminated=terminated,
            truncated=truncated,
            life_lost=life_lost,
        )

    def render(self) -> np.ndarray:
        """The newest frame as the agent sees it, enlarged."""
        frame = self._newest[-1].repeat(_RENDER_SCALE, axis=0).repeat(_RENDER_SCALE, axis=1)
        return np.repeat(frame[..., None], 3, axis=2)

    def close(self) -> None:
        self._games.close()
        # The emulators and their threads end with the last reference to them.
        del self._games
