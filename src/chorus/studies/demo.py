"""What `chorus demo` runs, as data: the curse, the vote and the tandem on MinAtar, in at most ten minutes on two recent
cores.

Game, replay and evaluations were chosen by measurement (docs/decisions.md): Space Invaders is the one game in which a
small network learns something worth comparing within a few tens of thousands of steps. The short stage of the evidence
(`chorus.studies.evidence`) has the same setting.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from chorus.studies.study import Arm, EnvironmentSet, Part, Scaled

GAME, DENSE = "MinAtar/SpaceInvaders-v1", "agent.torso.dense"
# The replay is small because the paper finds the curse most evident there. Evaluations are many and short because a
# final score is the mean of the last six, which must leave out the learning phase.
QUICK: Mapping[str, Any] = {
    "total_steps": 36_000,
    "iteration_steps": 2_000,
    "num_envs": 4,
    "max_episode_steps": 500,
    "learning_starts": 1_000,
    "epsilon_decay": 10_000,
    "buffer_size": 4_000,
    "learning_rate": 1e-3,
    "target_period": 250,
    "eval_episodes": 40,
    "final_evaluations": 6,
    # A quarter of the laptop scale's units, so that ten minutes are enough.
    DENSE: [32],
}
# A replay of a fifth of all steps, as in the paper's continuous tasks.
_OVERNIGHT: Mapping[str, Any] = {
    **QUICK,
    "total_steps": 500_000,
    "iteration_steps": 20_000,
    "num_envs": 8,
    "max_episode_steps": 2_500,
    "epsilon_decay": 50_000,
    "buffer_size": 100_000,
    "eval_episodes": 60,
    "final_evaluations": 5,
}

# The demo's seeds begin here. Nothing was chosen by their runs: trials had smaller seeds, and results/demo has blocks
# of 100 from 1000 on.
FIRST_SEED = 2_000
_SMOKE_SEEDS = 2
# Options of single presets. The quick demo has the scale's ten members, whose curse is larger than that of five; its
# passive member never acts, and falls behind further.
_MEMBERS: Mapping[str, Any] = {"members": 5}
_PASSIVE: Mapping[str, Any] = {"passive_share": 0.0}


def not_at_smoke(settings: Mapping[str, tuple[Any, ...]]) -> dict[str, Scaled[tuple[Any, ...]]]:
    """These values of each setting; the smoke scale, which is smaller, keeps its own."""
    return {option: Scaled(smoke=(None,), laptop=values, paper=values) for option, values in settings.items()}


def _seeds(count: int) -> tuple[int, ...]:
    return tuple(range(FIRST_SEED, FIRST_SEED + count))


def _part(name: str, laptop: EnvironmentSet, arms: Mapping[str, Mapping[str, Any]], seeds: Mapping[str, int]) -> Part:
    """Presets with their settings; the smoke scale keeps its own, and `seeds` is for those that differ."""

    def arm(preset: str, settings: Mapping[str, Any]) -> Arm:
        own = seeds.get(preset)
        some = None if own is None else Scaled(smoke=_SMOKE_SEEDS, laptop=own, paper=own)
        return Arm(preset, not_at_smoke({option: (value,) for option, value in settings.items()}), some)

    smoke = EnvironmentSet(laptop.envs[:1], _seeds(_SMOKE_SEEDS))
    return Part(
        name=name,
        environments=Scaled(smoke=smoke, laptop=laptop, paper=laptop),
        arms=tuple(arm(preset, settings) for preset, settings in arms.items()),
    )


# As many seeds as settle curse, vote and tandem with a chance of 90 % each (examples/demo_audit.py). No setting of ten
# minutes settled a gain of CERL; the report shows what the shipped runs say of it, first those of `WITH_CERL`.
DEMO = _part(
    "demo",
    EnvironmentSet((GAME,), _seeds(18)),
    {"double-dqn": QUICK, "bootstrapped-dqn": QUICK, "tandem": {**QUICK, **_PASSIVE}},
    {"bootstrapped-dqn": 7, "tandem": 8},
)
# What ships in the demo's setting.
WITH_CERL = replace(DEMO, arms=(*DEMO.arms, Arm("cerl", not_at_smoke({name: (one,) for name, one in QUICK.items()}))))
LONG = _part(
    "long demo",
    EnvironmentSet((GAME, "MinAtar/Breakout-v1", "MinAtar/Asterix-v1"), _seeds(10)),
    {
        "double-dqn": _OVERNIGHT,
        "bootstrapped-dqn": {**_OVERNIGHT, **_MEMBERS},
        "cerl": {**_OVERNIGHT, **_MEMBERS},
        "tandem": _OVERNIGHT,
    },
    {},
)
