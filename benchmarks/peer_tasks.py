"""The tasks on which Chorus, its peers and its former self are compared: the same sizes and update ratio for all."""

from dataclasses import dataclass

HIDDEN = (64, 64)

# SAC on Hopper-v4: one update per step.
BATCH = 128
WARM_UP, HOPPER_TURN = 1_500, 500

# Double DQN on MinAtar Breakout: one update per four steps, in eight environments.
ENVS, MINATAR_BATCH, BUFFER = 8, 32, 100_000
WARM_UP_MINATAR, MINATAR_TURN = 4_000, 4_000


@dataclass(frozen=True)
class Task:
    """A run of the laptop scale; it is measured in turns of so many steps after the warm-up."""

    preset: str
    env: str
    warm_up: int
    turn: int
    dense: tuple[int, ...] | None = None
    members: int | None = None


_BREAKOUT = "MinAtar/Breakout-v1"
LOOPS = {
    "minatar_single": Task("double-dqn", _BREAKOUT, 2_048, 2_048, dense=(32,)),
    "minatar_single_128": Task("double-dqn", _BREAKOUT, 2_048, 2_048, dense=(128,)),
    "minatar_n10": Task("bootstrapped-dqn", _BREAKOUT, 2_048, 512, dense=(32,), members=10),
    "minatar_n10_128": Task("bootstrapped-dqn", _BREAKOUT, 2_048, 512, dense=(128,), members=10),
    "cartpole_single": Task("double-dqn", "CartPole-v1", 1_000, 1_000),
    "atari_single": Task("double-dqn", "ALE/Pong-v5", 300, 64),
}
