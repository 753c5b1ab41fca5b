"""The tasks on which Chorus and its peers are compared: the same environment, sizes and update ratio for all."""

HIDDEN = (64, 64)

# SAC on Hopper-v4: one update per step.
BATCH = 128
WARM_UP, HOPPER_TURN = 1_500, 500

# Double DQN on MinAtar Breakout: one update per four steps, in eight environments.
ENVS, MINATAR_BATCH, BUFFER = 8, 32, 100_000
WARM_UP_MINATAR, MINATAR_TURN = 4_000, 4_000
