"""Studies of what an ensemble buys: who acts, who learns from which data, and what else could explain the results."""

from dataclasses import replace

from chorus.studies.environments import (
    FEW_GAMES,
    FEW_GAMES_FEWER_SEEDS,
    FEW_TASKS,
    SEAS,
    TASKS,
    TWO_GAMES,
    games,
    tasks,
)
from chorus.studies.panels import BY_POLICY, Curves, Diversity, EnvironmentCurves, Solved, Sweep
from chorus.studies.study import Arm, Scaled, Study

_SINGLE, _ENSEMBLE, _SAC, _ENSEMBLE_SAC = map(Arm, ("double-dqn", "bootstrapped-dqn", "sac", "ensemble-sac"))

_EXPLORATION = Study(
    name="exploration",
    title="what an ensemble finds in DeepSea",
    parts=(
        games(
            _SINGLE,
            *map(Arm, ("bootstrapped-dqn", "bootstrapped-dqn-prior", "cerl", "cerl-prior")),
            environments=SEAS,
        ),
    ),
    panels=(Solved(), *BY_POLICY),
    laptop="sizes 5 to 20 instead of 10 to 50, 30k steps instead of 500k, N = 10 instead of 20",
)


def _acting(preset: str, *rules: str) -> tuple[Arm, ...]:
    """The preset once with each of these acting rules."""
    return tuple(Arm(preset, {"acting": ({"kind": rule},)}) for rule in rules)


_ACTING = Study(
    name="acting",
    title="who chooses the actions in training",
    parts=(
        games(
            _SINGLE,
            _ENSEMBLE,
            Arm("per-step"),
            *_acting("bootstrapped-dqn", "vote", "greedy_mean", "ucb"),
            environments=replace(FEW_GAMES, laptop=replace(FEW_GAMES.laptop, seeds=3)),
        ),
        tasks(_SAC, _ENSEMBLE_SAC, *_acting("ensemble-sac", "mean_action", "ucb"), environments=FEW_TASKS),
    ),
    panels=(*BY_POLICY, Diversity()),
    laptop="3 games instead of 4, 3 seeds instead of 5; 2 tasks, 3 seeds instead of 30",
)

# Chance 0 is the common batch for everybody, 1 a batch of one's own as soon as there is one.
_OWN = Scaled(smoke=(0.0, 1.0), laptop=(0.0, 0.25, 0.5, 0.75, 1.0), paper=(0.0, 0.25, 0.5, 0.75, 1.0))
_OWN_DATA = Study(
    name="own-data",
    title="from shared data to one's own",
    parts=(
        games(
            _SINGLE,
            _ENSEMBLE,
            Arm("separate"),
            Arm("self-oversampled", {"own_probability": _OWN}),
            environments=TWO_GAMES,
        ),
    ),
    panels=(
        Sweep(path="replay.sampler.own_probability"),
        Curves(policies=("aggregate",)),
        Curves(policies=("individual",)),
    ),
    laptop="2 games instead of 4, 4 seeds instead of 5",
)

_WATCHING = ("individual", "observer")
_OBSERVER = Study(
    name="observer",
    title="a member that only watches",
    parts=(games(_SINGLE, _ENSEMBLE, Arm("observer")),),
    panels=(Curves(policies=_WATCHING), EnvironmentCurves(policies=_WATCHING)),
    laptop="3 games instead of 4",
)

_NORMALISED = {"layer_norm": (True,)}
_LAYER_NORM = Study(
    name="layer-norm",
    title="layer normalisation",
    parts=(
        games(
            *(
                Arm(preset, settings)
                for settings in ({}, _NORMALISED)
                for preset in ("double-dqn", "bootstrapped-dqn", "cerl")
            ),
            environments=FEW_GAMES_FEWER_SEEDS,
        ),
    ),
    panels=BY_POLICY,
    laptop="3 games instead of 4, 4 seeds instead of 5",
)

_CRITICS = Study(
    name="critics",
    title="an ensemble of agents and an ensemble of critics",
    parts=(tasks(_SAC, Arm("sac-critics"), _ENSEMBLE_SAC, environments=TASKS),),
    panels=BY_POLICY,
    laptop="3 tasks, 5 seeds instead of 30",
)

CONTROLS = (_EXPLORATION, _ACTING, _OWN_DATA, _OBSERVER, _LAYER_NORM, _CRITICS)
