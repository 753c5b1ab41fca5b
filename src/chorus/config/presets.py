"""Presets: algorithms by name. A preset is a function, and a child is a diff from its parent.

`chorus.config.catalogue` has the package's own; a plugin registers one with the same decorator.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from chorus.config.scales import ScaleRow
from chorus.config.schema import RunConfig
from chorus.errors import ChorusError, did_you_mean
from chorus.plugins import origin
from chorus.training.policies import Policy

# (the parent's configuration, the scale's row) -> this preset's configuration
Change = Callable[[RunConfig, ScaleRow], RunConfig]
# What a run is compared as: the two plain baselines, the tandem, the cure, or anything else.
Role = Literal["single", "ensemble", "tandem", "cerl", "ablation"]


@dataclass(frozen=True, kw_only=True)
class Preset:
    """One algorithm."""

    name: str
    title: str
    summary: str
    source: str
    """Where it is defined: a figure of the paper, an equation."""
    parent: str | None
    change: Change
    role: Role
    group: str
    """Presets of one group are compared with each other."""
    fixes: frozenset[str]
    """Options that the algorithm itself decides and that cannot be given."""
    home: str
    """An environment to show it in."""
    run_title: Callable[[RunConfig], str] | None
    """The title of a run where it depends on the configuration."""
    also_called: frozenset[str]
    """Names that people may look for it under; they are suggested, and name nothing."""
    titled: frozenset[str]
    """Paths of the settings that the title of a run states already."""

    def lineage(self) -> "list[Preset]":
        """The preset and its ancestors, the oldest first."""
        return [*(find_preset(self.parent).lineage() if self.parent else []), self]

    def title_of(self, config: RunConfig) -> str:
        return self.run_title(config) if self.run_title else self.title

    def allows(self, option: str) -> bool:
        return option not in self.fixes


PRESETS: dict[str, Preset] = {}


def preset(
    name: str,
    *,
    title: str,
    summary: str,
    source: str = "",
    parent: str | None = None,
    role: Role = "ablation",
    group: str | None = None,
    fixes: frozenset[str] | set[str] = frozenset(),
    home: str | None = None,
    run_title: Callable[[RunConfig], str] | None = None,
    titled: frozenset[str] | set[str] = frozenset(),
    also_called: frozenset[str] | set[str] = frozenset(),
) -> Callable[[Change], Change]:
    """Register a preset: decorates the function that turns the parent's configuration into its own.

    Group and home are the parent's unless given.
    """
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise ChorusError(f"the preset '{name}' needs a name of small letters and digits, with hyphens between words")
    if role not in get_args(Role):
        raise ChorusError(f"the preset '{name}' has the role '{role}'; there are {', '.join(get_args(Role))}")
    above = find_preset(parent) if parent else None
    if above is None and (group is None or home is None):
        raise ChorusError(f"the preset '{name}' has no parent and needs a group and a home environment")

    def add(change: Change) -> Change:
        known = PRESETS.get(name)
        if known is not None and known.change.__module__ != change.__module__:
            raise ChorusError(
                f"the preset '{name}' is registered twice, by {known.change.__module__} and by {change.__module__}; "
                "give one of them another name"
            )
        PRESETS[name] = Preset(
            name=name,
            title=title,
            summary=summary,
            source=source or f"plugin {origin(change.__module__) or change.__module__}",
            parent=parent,
            change=change,
            role=role,
            group=group or (above.group if above else ""),
            fixes=frozenset(fixes),
            home=home or (above.home if above else ""),
            run_title=run_title,
            titled=frozenset(titled),
            also_called=frozenset(also_called),
        )
        return change

    return add


def find_preset(name: str) -> Preset:
    """By its name; capital letters, and underscores for hyphens, make no difference."""
    plain = name.casefold().replace("_", "-")
    if plain in PRESETS:
        return PRESETS[plain]
    parts = [part.strip() for part in plain.split(",")]
    if len(parts) > 1 and all(part in PRESETS for part in parts):
        raise ChorusError(
            f"'{name}' are {len(parts)} presets; for several use `chorus sweep --preset {' '.join(parts)} --env ID`"
        )
    called = next((preset.name for preset in PRESETS.values() if plain in preset.also_called), None)
    hint = f"; did you mean '{called}'?" if called else did_you_mean(name, PRESETS)
    raise ChorusError(f"the preset '{name}' is not known{hint} (a preset of your own needs its --plugin)")


def with_agent(config: RunConfig, **changes: Any) -> RunConfig:
    """The configuration with other fields of its learner."""
    return replace(config, agent=replace(config.agent, **changes))


def with_replay(config: RunConfig, **changes: Any) -> RunConfig:
    """The configuration with other fields of its replay."""
    return replace(config, replay=replace(config.replay, **changes))


def with_policies(config: RunConfig, policies: Mapping[str, Policy]) -> RunConfig:
    """The configuration with these evaluation policies instead of its own."""
    return replace(config, evaluation=replace(config.evaluation, policies=dict(policies)))
