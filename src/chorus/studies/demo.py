"""What `chorus demo` runs, as data: the paper's four algorithms on MinAtar, in about ten minutes.

Game, replay and evaluations were chosen by measurement (docs/decisions.md): Space Invaders is the one game in which a
small network learns something worth comparing within a few tens of thousands of steps.
"""

from collections.abc import Mapping
from typing import Any

from chorus.studies.study import Arm, EnvironmentSet, Part, Scaled

# The replay is small because the paper finds the curse most evident there. Evaluations are many and short because a
# final score is the mean of the last five, which must leave out the learning phase.
_QUICK: Mapping[str, Any] = {
    "total_steps": 36_000,
    "iteration_steps": 2_000,
    "num_envs": 4,
    "max_episode_steps": 500,
    "learning_starts": 1_000,
    "epsilon_decay": 10_000,
    "buffer_size": 4_000,
    "learning_rate": 1e-3,
    "target_period": 250,
    "eval_episodes": 20,
    "final_evaluations": 5,
    # A quarter of the laptop scale's units, so that ten minutes are enough.
    "agent.torso.dense": [32],
}
# A replay of a fifth of all steps, as in the paper's continuous tasks.
_OVERNIGHT: Mapping[str, Any] = {
    **_QUICK,
    "total_steps": 500_000,
    "iteration_steps": 20_000,
    "num_envs": 8,
    "max_episode_steps": 2_500,
    "epsilon_decay": 50_000,
    "buffer_size": 100_000,
    "eval_episodes": 60,
}


def _part(name: str, laptop: EnvironmentSet, settings: Mapping[str, Any]) -> Part:
    """The four algorithms with the same settings; the smoke scale keeps its own."""

    def given(more: Mapping[str, Any]) -> dict[str, Scaled[tuple[Any, ...]]]:
        """The settings as values per scale."""
        return {
            option: Scaled(smoke=(None,), laptop=(value,), paper=(value,))
            for option, value in {**settings, **more}.items()
        }

    smoke = EnvironmentSet(laptop.envs[:1], 2)
    return Part(
        name=name,
        environments=Scaled(smoke=smoke, laptop=laptop, paper=laptop),
        arms=(
            Arm("double-dqn", given({})),
            Arm("bootstrapped-dqn", given({"members": 5})),
            Arm("cerl", given({"members": 5})),
            Arm("tandem", given({})),
        ),
    )


DEMO = _part("demo", EnvironmentSet(("MinAtar/SpaceInvaders-v1",), 5), _QUICK)
LONG = _part(
    "long demo",
    EnvironmentSet(("MinAtar/SpaceInvaders-v1", "MinAtar/Breakout-v1", "MinAtar/Asterix-v1"), 10),
    _OVERNIGHT,
)
