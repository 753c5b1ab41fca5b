"""Where studies are run: environments and seeds per scale.

At the laptop scale MinAtar stands for Atari; at the smoke scale a study only shows that everything works. What the
paper leaves open (the four games and tasks of its ablations) is settled in docs/deviations.md.
"""

from dataclasses import replace

from chorus.envs.registry import env_sets
from chorus.studies.study import Arm, EnvironmentSet, Part, Scaled

BREAKOUT = "MinAtar/Breakout-v1"
_ASTERIX, _INVADERS = "MinAtar/Asterix-v1", "MinAtar/SpaceInvaders-v1"
_SETS = env_sets()

ALL_GAMES = Scaled(
    smoke=EnvironmentSet((BREAKOUT,), 2),
    laptop=EnvironmentSet(_SETS["minatar5"], 5),
    paper=EnvironmentSet(_SETS["atari55"], 5),
)
# These members cost half as much again: fewer seeds keep the study within one night.
ALL_GAMES_FEWER_SEEDS = replace(ALL_GAMES, laptop=EnvironmentSet(_SETS["minatar5"], 4))
FEW_GAMES = Scaled(
    smoke=EnvironmentSet((BREAKOUT,), 2),
    laptop=EnvironmentSet((_ASTERIX, BREAKOUT, _INVADERS), 5),
    paper=EnvironmentSet(_SETS["atari4"], 5),
)
FEW_GAMES_FEWER_SEEDS = replace(FEW_GAMES, laptop=replace(FEW_GAMES.laptop, seeds=4))
# Every value of a sweep over own data is an ensemble of ten.
TWO_GAMES = replace(FEW_GAMES, laptop=EnvironmentSet((_ASTERIX, BREAKOUT), 4))
# MinAtar has no lives, so these studies use small Atari runs.
GAMES_WITH_LIVES = Scaled(
    smoke=EnvironmentSet(("ALE/Breakout-v5",), 2),
    laptop=EnvironmentSet(("ALE/Breakout-v5",), 3),
    paper=EnvironmentSet(_SETS["atari4"], 5),
)
ONE_GAME = Scaled(
    smoke=EnvironmentSet((BREAKOUT,), 2),
    laptop=EnvironmentSet((BREAKOUT,), 5),
    paper=EnvironmentSet(("ALE/Breakout-v5",), 5),
)
TASKS = Scaled(
    smoke=EnvironmentSet(("InvertedPendulum-v4",), 2),
    laptop=EnvironmentSet(("HalfCheetah-v4", "Hopper-v4", "Walker2d-v4"), 5),
    paper=EnvironmentSet(_SETS["mujoco4"], 30),
)
# Sweeping every arm over capacities is expensive on a CPU.
FEW_TASKS = Scaled(
    smoke=TASKS.smoke,
    laptop=EnvironmentSet(("HalfCheetah-v4", "Walker2d-v4"), 3),
    paper=TASKS.paper,
)
TWO_TASKS = Scaled(
    smoke=TASKS.smoke,
    laptop=replace(FEW_TASKS.laptop, seeds=5),
    paper=replace(TASKS.paper, seeds=10),
)
ONE_TASK = Scaled(
    smoke=TASKS.smoke,
    laptop=EnvironmentSet(("Hopper-v4",), 5),
    paper=EnvironmentSet(("Humanoid-v4",), 5),
)

SEAS = Scaled(
    smoke=EnvironmentSet(("DeepSea-5-v0", "DeepSea-8-v0"), 2),
    laptop=EnvironmentSet(tuple(f"DeepSea-{size}-v0" for size in (5, 10, 15, 20)), 5),
    paper=EnvironmentSet(tuple(f"DeepSea-{size}-v0" for size in (10, 20, 30, 40, 50)), 5),
)


def games(*arms: Arm, environments: Scaled[EnvironmentSet] = FEW_GAMES) -> Part:
    """A discrete part."""
    return Part(name="discrete", environments=environments, arms=arms)


def tasks(*arms: Arm, environments: Scaled[EnvironmentSet] = TASKS) -> Part:
    """A continuous part."""
    return Part(name="continuous", environments=environments, arms=arms)
