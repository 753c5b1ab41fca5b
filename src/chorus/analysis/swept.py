"""Finding the settings that were swept: variants of one preset that differ in a single number."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from chorus.analysis.results import Results
from chorus.analysis.variants import Variant, describe, display_name

# What can be swept, and how an axis names it.
FIELDS = {
    "members": "ensemble size N",
    "shared_layers": "shared layers L",
    "buffer": "replay capacity (transitions)",
    "passive_share": "passive share p of the tandem",
}
# A setting is called what its field is, but for one.
_SETTING = {"buffer": "capacity"}
LOGARITHMIC = ("buffer", "members")


@dataclass(frozen=True)
class SweptSetting:
    """One setting over several values, for each group of variants that are otherwise alike."""

    field: str
    axis: str
    groups: tuple[tuple[Variant, ...], ...]  # each ordered by the swept value
    bystanders: tuple[Variant, ...]  # single agents the setting does not apply to

    @property
    def log_axis(self) -> bool:
        return self.field in LOGARITHMIC

    def value(self, variant: Variant) -> float:
        return float(getattr(variant.traits, self.field))

    def group_label(self, group: Sequence[Variant]) -> str:
        """What the variants of a group have in common: their preset, and what else sets it apart from its others."""
        first = group[0]
        alone = [other[0].preset for other in self.groups].count(first.preset) == 1
        others = [] if alone else [describe(key, value) for key, value in _untouched(first, self.field)]
        return ", ".join([display_name(first.preset, {}), *others])


def find_swept(results: Results) -> tuple[SweptSetting, ...]:
    variants = results.dataset.variants
    found = []
    for field, axis in FIELDS.items():
        groups: dict[tuple[Any, ...], list[Variant]] = {}
        for variant in variants:
            swept = getattr(variant.traits, field) is not None
            if swept and (field == "buffer" or variant.traits.members > 1):
                alike = (variant.preset, *_untouched(variant, field))
                groups.setdefault(alike, []).append(variant)
        real = [g for g in groups.values() if len({getattr(v.traits, field) for v in g}) > 1]
        if real:
            singles = [v for v in variants if v.traits.role == "single" and v.traits.plain]
            ordered = [tuple(sorted(group, key=_by(field))) for group in real]
            bystanders = () if field == "buffer" else tuple(singles[:1])
            found.append(SweptSetting(field, axis, tuple(ordered), bystanders))
    return tuple(found)


def _untouched(variant: Variant, field: str) -> list[tuple[str, Any]]:
    """What sets a variant apart in its preset, but for the swept setting."""
    swept = _SETTING.get(field, field)
    return [(key, value) for key, value in variant.told if key.rsplit(".", 1)[-1] != swept]


def _by(field: str) -> Callable[[Variant], float]:
    return lambda variant: float(getattr(variant.traits, field))
