"""A user's grid: presets x environments x seeds x every combination of the given settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from chorus.config.codec import candidates, stored_fields
from chorus.config.options import find_setting
from chorus.config.resolution import Request, option_applies
from chorus.config.schema import Hyperparameters, Scale
from chorus.envs.registry import expand
from chorus.errors import ChorusError
from chorus.studies.study import chosen_seeds, in_turn


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """`settings` maps options of `chorus train` to the values each is run with."""

    presets: Sequence[str]
    envs: Sequence[str]
    seeds: int | tuple[int, ...]
    scale: Scale | None = None
    hyperparameters: Hyperparameters | None = None
    settings: Mapping[str, Sequence[Any]]

    def requests(self) -> list[Request]:
        """Seed by seed, so that an interrupted sweep has some seeds of every configuration."""
        variants = in_turn([[(preset, options) for options in self._combinations(preset)] for preset in self.presets])
        envs = expand(self.envs)
        return [
            Request(
                preset=preset,
                env=env,
                seed=seed,
                scale=self.scale,
                hyperparameters=self.hyperparameters,
                options=options,
                swept=tuple(name for name in options if len(self.settings[name]) > 1),
            )
            for seed in chosen_seeds(self.seeds)
            for env in envs
            for preset, options in variants
        ]

    def _combinations(self, preset: str) -> list[dict[str, Any]]:
        """Every combination of the settings that the preset has, each once."""
        names = [name for name in self.settings if self._applies(name, preset)]
        products = [
            dict(zip(names, values, strict=True)) for values in product(*(self.settings[name] for name in names))
        ]
        found = [{name: value for name, value in one.items() if not self._is_of_another(name, one)} for one in products]
        return [one for place, one in enumerate(found) if one not in found[:place]]

    def _applies(self, name: str, preset: str) -> bool:
        """Whether the preset, or a component that the sweep puts into it, has the setting."""
        return option_applies(name, preset) or self._exchanged(name) is not None

    def _exchanged(self, name: str) -> str | None:
        """The swept component that a setting stands inside, if any."""
        path = find_setting(name).path
        inside = (other for other in self.settings if path.startswith(f"{find_setting(other).path}."))
        return next(inside, None)

    def _is_of_another(self, name: str, chosen: Mapping[str, Any]) -> bool:
        """Whether a setting belongs to another component than the one chosen in this combination."""
        outer = self._exchanged(name)
        if outer is None:
            return False
        component = candidates(find_setting(outer).annotation)[chosen[outer]["kind"]]
        field = find_setting(name).path.removeprefix(f"{find_setting(outer).path}.").partition(".")[0]
        return field not in {own.name for own in stored_fields(component)}

    def left_out(self) -> list[str]:
        """One sentence per setting that a preset does not have; the preset runs without it."""
        found = []
        for name in self.settings:
            without = [preset for preset in self.presets if not self._applies(name, preset)]
            if len(without) == len(self.presets):
                raise ChorusError(f"--set {name} applies to none of the presets {', '.join(without)}; leave it out")
            option = find_setting(name).name
            found += [f"{preset} has no option {option}; it runs without it" for preset in without]
        return found
