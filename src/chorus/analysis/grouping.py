"""How variants belong together: comparison groups, and sweep axes.

A comparison group is a single agent with the ensemble, the tandem and the CERL it is compared with. A sweep axis is one
numeric setting over several values of otherwise equal variants.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chorus.analysis.results import Results, Series
from chorus.analysis.variants import (
    MEMBERS,
    OWN_PROBABILITY,
    PASSIVE_SHARE,
    SHARED_LAYERS,
    AxisStyle,
    Variant,
    rank_by_defaults,
)

# They mean nothing for a single agent, which is drawn as a reference level instead.
_OF_ENSEMBLES = (MEMBERS, SHARED_LAYERS, PASSIVE_SHARE, OWN_PROBABILITY)


@dataclass(frozen=True)
class ComparisonGroup:
    """The variants of one comparison; None for what was not run."""

    single: Series | None
    ensemble: Variant | None
    cerl: Variant | None = None
    tandem: Variant | None = None
    larger: Variant | None = None
    """The same ensemble with a larger replay."""
    variants: tuple[Variant, ...] = ()
    """All variants of the group."""

    @property
    def empty(self) -> bool:
        return not (self.single or self.ensemble or self.cerl or self.tandem)

    def plain(self, variant: Variant) -> Variant | None:
        """The plain ensemble that a variant is compared with: the most similar one; ties go to the main one.

        A plain ensemble is compared only with the main one or with one that changes fewer settings.
        """
        if variant is self.ensemble:
            return None
        ensembles = [v for v in self.variants if v.role == "ensemble"]
        if variant.role == "ensemble":
            ensembles = [v for v in ensembles if v is self.ensemble or v.changes < variant.changes]
        return nearest(variant, ensembles)

    def alone(self, variant: Variant) -> Series | None:
        """The single agent that a variant is compared with."""
        if variant.members == 1:
            return self.single if self.single and variant is not self.single.variant else None
        found = nearest(variant, _single_agents(self.variants))
        return Series(found, "individual") if found else None


def find_comparison_groups(results: Results) -> list[ComparisonGroup]:
    """One group per `group` of the runs, around the ensemble with the default settings.

    Groups of ablations alone are left out, unless there is nothing else.
    """
    own = [v for v in results.dataset.variants if v.role != "published"]
    groups = []
    for name in dict.fromkeys(v.group for v in own):
        variants = [v for v in own if v.group == name]
        groups.append(_around(min(_with_role(variants, "ensemble"), key=_from_defaults, default=None), variants))
    return [group for group in groups if not group.empty] or groups


def nearest(centre: Variant, candidates: Sequence[Variant]) -> Variant | None:
    """The candidate with the fewest settings that differ, or else the one closest to its defaults."""
    return min(candidates, key=lambda v: (centre.distance(v), *_from_defaults(v)), default=None)


def differ_in_buffer(first: Variant, second: Variant) -> bool:
    """Whether the replay capacity is the only setting that differs."""
    return first.distance(second) == 1 and first.capacity != second.capacity


def pairs_of_interest(group: ComparisonGroup) -> list[tuple[Series, Series]]:
    """The paper's pairs: members and votes with the single agent, CERL with the plain ensemble, votes with members."""
    pairs = []
    for policy in ("individual", "aggregate"):
        if group.single and group.ensemble:
            pairs.append((Series(group.ensemble, policy), group.single))
        if group.ensemble and group.cerl:
            pairs.append((Series(group.cerl, policy), Series(group.ensemble, policy)))
    if group.ensemble:
        pairs.append((Series(group.ensemble, "aggregate"), Series(group.ensemble, "individual")))
    return pairs


def _around(ensemble: Variant | None, variants: Sequence[Variant]) -> ComparisonGroup:
    centre = ensemble or variants[0]
    single = nearest(centre, _single_agents(variants))
    cerl, tandem = (nearest(centre, _with_role(variants, role)) for role in ("cerl", "tandem"))
    larger = [
        v
        for v in _with_role(variants, "ensemble")
        if ensemble and differ_in_buffer(v, ensemble) and (v.capacity or 0) > (ensemble.capacity or 0)
    ]
    return ComparisonGroup(
        single=Series(single, "individual") if single else None,
        ensemble=ensemble,
        cerl=cerl,
        tandem=tandem,
        larger=max(larger, key=lambda v: v.capacity or 0, default=None),
        variants=tuple(variants),
    )


def _with_role(variants: Sequence[Variant], role: str) -> list[Variant]:
    return [v for v in variants if v.role == role]


def _single_agents(variants: Sequence[Variant]) -> list[Variant]:
    """The single agents; an ensemble of one, as in a sweep over N, only where there is no other."""
    singles = _with_role(variants, "single")
    ensembles = {v.preset for v in variants if v.members > 1}
    return [v for v in singles if v.preset not in ensembles] or singles


def _from_defaults(variant: Variant) -> tuple[bool, int, int, float, int]:
    """Runs that learn first, then fewest changed settings, most runs, fewest shared layers, and most members."""
    layers = variant.number(SHARED_LAYERS) or 0
    return variant.is_smoke, variant.changes, -len(variant.runs), layers, -variant.members


@dataclass(frozen=True)
class SweepAxis:
    """One setting over several values, with one line per set of otherwise equal variants."""

    path: str
    style: AxisStyle
    lines: tuple[tuple[Variant, ...], ...]  # each ordered by the value of the setting
    references: tuple[Variant, ...]  # single agents, if the setting does not apply to them

    @property
    def name(self) -> str:
        """A unique name for files and page elements."""
        return self.path.replace(".", "-")

    def value(self, variant: Variant) -> float:
        return float(variant.number(self.path) or 0.0)

    def line_label(self, line: Sequence[Variant]) -> str:
        """The common title of the variants, with the settings that tell the line from others of its preset."""
        first = line[0]
        title = first.title if len({variant.title for variant in line}) == 1 else first.preset
        alone = [other[0].preset for other in self.lines].count(first.preset) == 1
        settings = first.identity.settings
        others = [] if alone else [settings[p].label for p, _ in _other_settings(first, self.path) if p in settings]
        return ", ".join(filter(None, [title, *others]))


def find_sweep_axes(results: Results) -> tuple[SweepAxis, ...]:
    variants = results.dataset.variants
    styles = {path: style for v in variants for path, style in v.identity.axes.items()}
    found = []
    for path, style in styles.items():
        of_ensembles = path in _OF_ENSEMBLES
        swept = [v for v in variants if v.number(path) is not None and (v.members > 1 or not of_ensembles)]
        lines: dict[str, list[Variant]] = {}
        for variant in swept:
            same_preset = [v for v in swept if v.preset == variant.preset]
            title = "" if _titles_follow(path, same_preset) else variant.title
            lines.setdefault(repr((variant.preset, title, _other_settings(variant, path))), []).append(variant)
        several = [line for line in lines.values() if len({v.number(path) for v in line}) > 1]
        if several:
            singles = rank_by_defaults([v for v in variants if v.role == "single"], variants) if of_ensembles else []
            ordered = tuple(_ordered(line, path) for line in several)
            found.append(SweepAxis(path, style, ordered, tuple(singles[:1])))
    return tuple(found)


def _ordered(line: Sequence[Variant], path: str) -> tuple[Variant, ...]:
    return tuple(sorted(line, key=lambda variant: variant.number(path) or 0.0))


def _titles_follow(path: str, variants: Sequence[Variant]) -> bool:
    """Whether titles differ exactly where the setting does, as those of tandems with several passive shares."""
    pairs = {(v.title, v.number(path)) for v in variants}
    return len(pairs) == len({title for title, _ in pairs}) == len({value for _, value in pairs})


def _other_settings(variant: Variant, path: str) -> list[tuple[str, Any]]:
    return [(other, value) for other, value in variant.distinguishing if other != path]
