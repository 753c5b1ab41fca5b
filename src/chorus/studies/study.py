"""A study is data: which presets with which settings, in which environments, with how many seeds, and its panels.

`chorus.studies.table` lists all studies; this module turns them into requests for runs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product, zip_longest
from typing import Any, Generic, TypeVar

from chorus.config.resolution import Request
from chorus.config.schema import Hyperparameters, Scale
from chorus.errors import ChorusError
from chorus.studies.panels import Panel

Value = TypeVar("Value")
Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class Scaled(Generic[Value]):
    """One value per scale."""

    smoke: Value
    laptop: Value
    paper: Value

    def at(self, scale: Scale) -> Value:
        return {"smoke": self.smoke, "laptop": self.laptop, "paper": self.paper}[scale]


@dataclass(frozen=True)
class EnvironmentSet:
    """Environments, and the seeds in each."""

    envs: tuple[str, ...]
    seeds: int | tuple[int, ...]
    """How many, from 0 on, or which."""


@dataclass(frozen=True)
class Arm:
    """One preset; a setting with several values is run with each of them.

    Settings are named as the options of `chorus train`, and None is an option that is not given. They may depend on
    the scale. `seeds` is for an arm with fewer seeds than the others: the first ones of its environment set.
    """

    preset: str
    settings: Mapping[str, tuple[Any, ...] | Scaled[tuple[Any, ...]]] = field(default_factory=dict)
    seeds: Scaled[int] | None = None

    def _values(self, scale: Scale) -> dict[str, tuple[Any, ...]]:
        return {name: at.at(scale) if isinstance(at, Scaled) else at for name, at in self.settings.items()}

    def swept(self, scale: Scale) -> tuple[str, ...]:
        """The options that this arm varies."""
        return tuple(name for name, values in self._values(scale).items() if len(values) > 1)

    def variants(self, scale: Scale) -> Iterator[dict[str, Any]]:
        """The options of each configuration of this arm."""
        values = self._values(scale)
        for chosen in product(*values.values()):
            yield {name: value for name, value in zip(values, chosen, strict=True) if value is not None}


@dataclass(frozen=True, kw_only=True)
class Part:
    """Arms compared with each other in the same environments: the discrete or the continuous half of a figure."""

    name: str
    environments: Scaled[EnvironmentSet]
    arms: tuple[Arm, ...]

    def with_seeds(self, seeds: int | tuple[int, ...]) -> "Part":
        """The same part with this many seeds, or with these, per configuration."""
        environments = Scaled(**{scale: replace(at, seeds=seeds) for scale, at in vars(self.environments).items()})
        return replace(self, environments=environments, arms=tuple(replace(arm, seeds=None) for arm in self.arms))

    def requests(
        self,
        scale: Scale,
        device: str | None = None,
        study: str | None = None,
        hyperparameters: Hyperparameters | None = None,
    ) -> list[Request]:
        """Seed by seed, so that an interrupted grid has some seeds of every configuration."""
        environments = self.environments.at(scale)
        variants = in_turn([[(arm, options) for options in arm.variants(scale)] for arm in self.arms])
        return [
            Request(
                preset=arm.preset,
                env=env,
                seed=seed,
                scale=scale,
                hyperparameters=hyperparameters,
                options={**options, **({"device": device} if device else {})},
                swept=arm.swept(scale),
                study=study,
            )
            for seed in sorted({seed for arm in self.arms for seed in self._seeds(arm, scale)})
            for env in environments.envs
            for arm, options in variants
            if seed in self._seeds(arm, scale)
        ]

    def most_seeds(self, scale: Scale) -> int:
        """The number of seeds of the configuration that has most."""
        return max(len(self._seeds(arm, scale)) for arm in self.arms)

    def _seeds(self, arm: Arm, scale: Scale) -> Sequence[int]:
        seeds = chosen_seeds(self.environments.at(scale).seeds)
        return seeds[: arm.seeds.at(scale)] if arm.seeds else seeds


@dataclass(frozen=True, kw_only=True)
class Study:
    """Runs that answer one question, and the panels that show the answer.

    `figure` is the number of the paper's figure, None for a study beside them. `laptop` says what the laptop scale
    changes, beside MinAtar instead of Atari.
    """

    name: str
    figure: int | None = None
    title: str
    parts: tuple[Part, ...]
    panels: tuple[Panel, ...]
    laptop: str = ""

    @property
    def heading(self) -> str:
        """The title, with the figure's number if it has one."""
        return (
            f"{self.title[:1].upper()}{self.title[1:]}"
            if self.figure is None
            else f"Figure {self.figure}: {self.title}"
        )

    def choose(self, part: str | None) -> tuple[Part, ...]:
        """All parts, or the one with this name."""
        if part is None:
            return self.parts
        names = [one.name for one in self.parts]
        if part not in names:
            raise ChorusError(f"{self.name} has no part '{part}'; it has {' and '.join(names)}")
        return tuple(one for one in self.parts if one.name == part)


def chosen_seeds(seeds: int | tuple[int, ...]) -> Sequence[int]:
    """These seeds, or so many from 0 on."""
    if isinstance(seeds, tuple):
        return seeds
    if seeds < 1:
        raise ChorusError(f"--seeds is {seeds}; it must be at least 1")
    return range(seeds)


def in_turn(lists: Sequence[Sequence[Item]]) -> list[Item]:
    """The first of each list, then the second of each.

    Neighbours run at the same time. Variants of one preset often compile to the same program, and the second one finds
    it in the cache if it starts after the first.
    """
    rows = zip_longest(*([(item,) for item in own] for own in lists), fillvalue=())
    return [item for row in rows for cell in row for item in cell]
