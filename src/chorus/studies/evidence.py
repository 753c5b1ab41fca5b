"""The runs behind docs/results.md, as data: stages in the order in which they are made, each filled up seed by seed.

`python examples/evidence.py` makes them. Stages share runs with each other and with the studies: the same configuration
is one run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chorus.config.resolution import Request
from chorus.config.schema import Scale
from chorus.envs.registry import env_sets
from chorus.errors import ChorusError, did_you_mean
from chorus.studies.beyond import BYSTANDER, DIVERGENCES
from chorus.studies.demo import DENSE, GAME, QUICK, not_at_smoke
from chorus.studies.environments import FEW_GAMES, TASKS
from chorus.studies.study import Arm, EnvironmentSet, Part, Scaled

# Asterix comes first in every round, because CERL's effect was first seen there.
FIRST_GAME = "MinAtar/Asterix-v1"
_ALL = (FIRST_GAME, *(env for env in env_sets()["minatar5"] if env != FIRST_GAME))
_FIRST, _SECOND = tuple(range(5)), tuple(range(5, 10))


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A part of the campaign: `folder` of results/ takes its runs, `figures` are the paper's that it serves."""

    name: str
    folder: str
    title: str
    figures: tuple[int, ...]
    envs: tuple[str, ...]
    seeds: tuple[int, ...]
    arms: tuple[Arm, ...]

    def requests(self, scale: Scale = "laptop") -> list[Request]:
        """One seed of everything, then the next."""
        environments = EnvironmentSet(self.envs, self.seeds)
        scaled = Scaled(smoke=environments, laptop=environments, paper=environments)
        return Part(name=self.name, environments=scaled, arms=self.arms).requests(scale)


_MAIN = tuple(map(Arm, ("double-dqn", "bootstrapped-dqn", "cerl", "tandem")))
# N = 10, L = 0, a tenth of the episodes and a replay of 100k are the main runs.
_SIZES = {"members": (2, 5, 20)}
_BUFFERS = {"buffer_size": (25_000, 500_000)}
_LARGE_BUFFER = {"buffer_size": (500_000,)}
_LAYERS = {"shared_layers": (1, 2)}
_VARIANTS = (
    Arm("bootstrapped-dqn", _SIZES),
    Arm("cerl", _SIZES),
    *map(Arm, ("self-oversampled", "data-bootstrapped", "per-step", "wide")),
    Arm("tandem", {"passive_share": (0.05, 0.3, 0.5)}),
    Arm("double-dqn", _BUFFERS),
    Arm("bootstrapped-dqn", _BUFFERS),
    Arm("bootstrapped-dqn", {**_LARGE_BUFFER, **_LAYERS}),
    *(Arm(f"{preset}-{kind}") for kind in ("mh", "mico") for preset in ("double-dqn", "bootstrapped-dqn")),
    *map(Arm, ("qr-dqn", "bootstrapped-qr-dqn")),
)
# The usual replay of these tasks holds 20k transitions; 100k are all.
_TASK_BUFFERS = {"buffer_size": (20_000, 100_000)}
_CONTROL = (
    *(Arm(preset, _TASK_BUFFERS) for preset in ("sac", "ensemble-sac", "ensemble-sac-cerl")),
    Arm("sac-tandem"),
)


def _short(preset: str, dense: str = DENSE, **settings: tuple[Any, ...]) -> Arm:
    """An arm in the demo's setting; `dense` is where the preset keeps the width of its network."""
    values = {dense if option == DENSE else option: (value,) for option, value in QUICK.items()}
    return Arm(preset, not_at_smoke({**values, **settings}))


# The demo's runs are the plain ones: N = 10, L = 0, a replay of 4,000 and a decay of 10,000. Other values must not be
# the scale's defaults either, because comparisons are made around the ensemble with the fewest changed settings.
_SHORT = (
    *(_short("bootstrapped-dqn", shared_layers=(layers,)) for layers in (1, 2)),
    _short("cerl"),
    *map(_short, ("self-oversampled", "data-bootstrapped", "per-step")),
    _short("wide", dense="agent.torso.torso.dense"),
    _short("tandem", passive_share=(0.1, 0.3, 0.5)),
    _short("bootstrapped-dqn", members=(2, 5)),
    _short("cerl", members=(2, 5)),
    _short("cerl", shared_layers=(1,)),
    _short("cerl-self-target"),
    *(_short(preset, buffer_size=(12_000, 36_000)) for preset in ("double-dqn", "bootstrapped-dqn")),
    _short("bootstrapped-dqn", buffer_size=(36_000,), shared_layers=(1, 2)),
    *(_short(f"{preset}-{kind}") for kind in ("mh", "mico") for preset in ("double-dqn", "bootstrapped-dqn")),
    *map(_short, ("qr-dqn", "bootstrapped-qr-dqn")),
    *(_short(preset, epsilon_decay=(2_000,)) for preset in ("double-dqn", "bootstrapped-dqn")),
    *(_short(preset, optimizer_epsilon=(1.5e-2,)) for preset in ("double-dqn", "bootstrapped-dqn")),
)

# A fifth of the laptop scale's steps; the replay holds a fifth of them, as at that scale, or four fifths. CERL's arms
# also evaluate member 1, because in two of them member 0 diverges: with Huber's auxiliary loss in one, with squared
# errors in the other.
_SHORT_TASK: Mapping[str, tuple[Any, ...]] = {"total_steps": (20_000,), "iteration_steps": (2_000,)}
_SHORT_BUFFERS = {"buffer_size": (4_000, 16_000)}


def _short_task(preset: str, **settings: tuple[Any, ...]) -> Arm:
    return Arm(preset, not_at_smoke({**_SHORT_TASK, "buffer_size": (4_000,), **settings}))


_SHORT_CONTROL = (
    *(_short_task(preset, **_SHORT_BUFFERS) for preset in ("sac", "ensemble-sac")),
    *map(_short_task, ("sac-tandem", "ensemble-sac-cerl-self-target")),
    *(_short_task("ensemble-sac-cerl", **BYSTANDER, **loss) for loss in ({}, *DIVERGENCES)),
)

EVIDENCE = (
    Stage(
        name="asterix",
        folder="minatar",
        title="the four algorithms on Asterix",
        figures=(),
        envs=(FIRST_GAME,),
        seeds=(*_FIRST, *_SECOND),
        arms=_MAIN,
    ),
    Stage(
        name="short",
        folder="short",
        title="every ablation of the games in the demo's setting",
        figures=(),
        envs=(GAME,),
        # Six seeds of each of the first three blocks of demos, so that these runs can be compared with those.
        seeds=tuple(first + seed for first in (1000, 1100, 1200) for seed in range(6)),
        arms=_SHORT,
    ),
    Stage(
        name="short-control",
        folder="short-control",
        title="SAC, Ensemble SAC, CERL, the tandem and a diverging member on Hopper, a fifth of the laptop scale",
        figures=(),
        envs=("Hopper-v4",),
        seeds=(*_FIRST, *_SECOND),
        arms=_SHORT_CONTROL,
    ),
    Stage(
        name="games",
        folder="minatar",
        title="the four algorithms on the five MinAtar games",
        figures=(2, 3, *range(9, 14)),
        envs=_ALL,
        seeds=_FIRST,
        arms=_MAIN,
    ),
    Stage(
        name="sharing",
        folder="sharing",
        title="shared layers and CERL's own targets",
        figures=(7, 22, 23),
        envs=FEW_GAMES.laptop.envs,
        seeds=_FIRST,
        arms=(
            Arm("bootstrapped-dqn", _LAYERS),
            Arm("cerl-self-target"),
            Arm("cerl", {"shared_layers": (1,)}),
        ),
    ),
    Stage(
        name="variants",
        folder="variants",
        title="sizes, data, acting, width, passive shares, replay, auxiliary losses and quantiles",
        figures=(4, 5, 14, *range(16, 22), *range(24, 29)),
        envs=FEW_GAMES.laptop.envs,
        seeds=_FIRST,
        arms=_VARIANTS,
    ),
    Stage(
        name="control",
        folder="control",
        title="SAC, Ensemble SAC, CERL and the tandem in continuous control",
        figures=(2, 4, 7, 8),
        envs=TASKS.laptop.envs,
        seeds=_FIRST,
        arms=_CONTROL,
    ),
    Stage(
        name="seeds",
        folder="minatar",
        title="five more seeds of the four algorithms on the five MinAtar games",
        figures=(),
        envs=_ALL,
        seeds=_SECOND,
        arms=_MAIN,
    ),
)


def find_stages(names: Sequence[str], envs: Sequence[str] = (), rounds: int | None = None) -> list[Stage]:
    """The stages of these names in this order, all of them without any; `envs` replaces their environments, and
    `rounds` keeps only the first seeds of each."""
    known = {stage.name: stage for stage in EVIDENCE}
    for name in names:
        if name not in known:
            raise ChorusError(f"there is no stage '{name}'{did_you_mean(name, known)}")
    chosen = [known[name] for name in names] or list(EVIDENCE)
    return [replace(stage, envs=tuple(envs) or stage.envs, seeds=stage.seeds[:rounds]) for stage in chosen]
