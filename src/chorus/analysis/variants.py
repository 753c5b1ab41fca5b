"""Telling algorithms apart: runs of one configuration, whatever the environment and the seed, are one
variant.

Two runs of a preset are different variants when, within some environment, their configurations differ; the
label then names what differs. Settings that only follow the environment (a torso, a step budget) make no
new variant.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from chorus.analysis.runs import Run, clean

DISPLAY_NAMES = {
    "cerl": "Bootstrapped DQN + CERL",
    "cerl-self-target": "CERL (self-target)",
    "sac": "SAC",
    "ensemble-sac": "Ensemble SAC",
    "ensemble-sac-cerl-self-target": "Ensemble SAC + CERL (self-target)",
}
TANDEMS = {"tandem": "", "sac-tandem": "SAC "}
ACRONYMS = {word.lower(): word for word in ("DQN", "SAC", "CERL", "QR", "MH", "MICo")}
ADDED = {"cerl": "+ CERL", "mh": "+ MH", "mico": "+ MICo", "prior": "+ priors"}  # after another name

# What a label says first; other settings follow by name.
LABELLED_FIRST = ("members", "shared_layers", "passive_share", "capacity", "scale", "total_steps")
# Where a run lives and how it is watched changes no result.
NOT_THE_ALGORITHM = ("seed", "source", "env.id", "out", "name", "run", "runtime")

POLICY_SUFFIX = {
    "individual": "indiv.",
    "aggregate": "agg.",
    "individual-mode": "indiv., modes",
    "aggregate-mode": "agg., modes",
}


@dataclass(frozen=True)
class Traits:
    """What a configuration says about an ensemble, as far as figures and sentences need it."""

    members: int
    shared_layers: int
    value_map: str
    acting: str
    passive_share: float | None
    buffer: int | None
    estimate: str
    auxiliary: str
    sampler: str
    torso: str
    prior_scale: float

    @property
    def role(self) -> str:
        """single, tandem, ensemble, published, or the value map that sets an ensemble apart."""
        if self.value_map == "published":
            return "published"
        if self.acting == "tandem":
            return "tandem"
        if self.members == 1:
            return "single"
        return "ensemble" if self.value_map == "members" else self.value_map

    @property
    def plain(self) -> bool:
        """Without extra heads, auxiliary task, special sampler, extra width or priors: the paper's two baselines."""
        usual = (self.value_map, self.auxiliary, self.sampler) == ("members", "no_auxiliary", "shared")
        usual = usual and self.acting in ("uniform", "tandem")
        return usual and self.torso != "widened" and self.prior_scale == 0


@dataclass(frozen=True, eq=False)
class Variant:
    """One algorithm as configured; `runs` are positions in the dataset, `told` what sets it apart in its preset."""

    label: str
    preset: str
    traits: Traits
    settings: dict[str, Any] = field(repr=False)
    runs: tuple[int, ...]
    told: tuple[tuple[str, Any], ...] = ()

    def distance(self, other: "Variant") -> int:
        """How many settings differ: the reference of a variant is the nearest one that has the role."""
        keys = self.settings.keys() | other.settings.keys()
        absent = object()
        return sum(self.settings.get(key, absent) != other.settings.get(key, absent) for key in keys)

    def series_label(self, policy: str) -> str:
        if self.traits.members == 1 and policy == "individual":
            return self.label
        return f"{self.label} ({POLICY_SUFFIX.get(policy, clean(policy))})"


def flatten(config: Any, prefix: str = "") -> dict[str, Any]:
    """Nested settings under dotted names; lists are kept as JSON text so that every value can be compared."""
    if not isinstance(config, dict):
        return {prefix: json.dumps(config) if isinstance(config, list) else config}
    flat: dict[str, Any] = {}
    for key, value in config.items():
        flat |= flatten(value, f"{prefix}.{key}" if prefix else str(key))
    return flat


def algorithm_settings(config: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in flatten(config).items()
        if not any(key == outside or key.startswith(outside + ".") for outside in NOT_THE_ALGORITHM)
    }


def read_traits(config: dict[str, Any]) -> Traits:
    agent, acting = part_of(config, "agent"), part_of(config, "acting")
    share = acting.get("passive_share")
    capacity = part_of(config, "replay").get("capacity")
    return Traits(
        members=_whole(agent.get("members"), 1),
        shared_layers=_whole(agent.get("shared_layers"), 0),
        value_map=_kind(agent, "value_map", "members"),
        acting=str(acting.get("kind", "uniform")),
        passive_share=float(share) if isinstance(share, int | float) else None,
        buffer=capacity if isinstance(capacity, int) else None,
        estimate=f"{_kind(agent, 'actor', 'greedy')}/{_kind(agent, 'estimate', 'scalar')}",
        auxiliary=_kind(agent, "auxiliary", "no_auxiliary"),
        sampler=_kind(part_of(config, "replay"), "sampler", "shared"),
        torso=_kind(agent, "torso", "unknown"),
        prior_scale=float(prior) if isinstance(prior := agent.get("prior_scale"), int | float) else 0.0,
    )


def find_variants(runs: Sequence[Run]) -> tuple[Variant, ...]:
    """Groups runs by what they ran; single agents come first, then by label."""
    by_preset: dict[str, list[int]] = {}
    for position, run in enumerate(runs):
        by_preset.setdefault(run.preset, []).append(position)
    settings = [algorithm_settings(run.config) for run in runs]
    variants = []
    for preset, positions in by_preset.items():
        keys = telling_keys([(runs[p].env, settings[p]) for p in positions])
        groups: dict[tuple[Any, ...], list[int]] = {}
        for p in positions:
            groups.setdefault(tuple(settings[p].get(key) for key in keys), []).append(p)
        for values, members in groups.items():
            first = members[0]
            base = display_name(preset, runs[first].config)
            told = [pair for pair in zip(keys, values, strict=True) if not _in_name(preset, pair[0])]
            qualifiers = [describe(key, value) for key, value in told]
            variants.append(
                Variant(
                    label=", ".join([base, *qualifiers]),
                    preset=preset,
                    traits=read_traits(runs[first].config),
                    settings=settings[first],
                    runs=tuple(members),
                    told=tuple(zip(keys, values, strict=True)),
                )
            )
    return tuple(sorted(variants, key=_order))


def _in_name(preset: str, key: str) -> bool:
    """A tandem's name says its share already."""
    return preset in TANDEMS and key.endswith("passive_share")


def telling_keys(entries: Iterable[tuple[str, dict[str, Any]]]) -> list[str]:
    """The fewest settings, in the order labels name them, that tell configurations within an environment
    apart.
    """
    by_env: dict[str, list[dict[str, Any]]] = {}
    for env, settings in entries:
        by_env.setdefault(env, []).append(settings)
    differing = {
        key
        for group in by_env.values()
        for key in set().union(*group)
        if len({repr(settings.get(key)) for settings in group}) > 1
    }
    chosen: list[str] = []
    parts = _distinct(by_env, chosen)
    for key in sorted(differing, key=_label_order):
        refined = _distinct(by_env, [*chosen, key])
        if refined > parts:
            chosen, parts = [*chosen, key], refined
    return chosen


def _distinct(by_env: dict[str, list[dict[str, Any]]], keys: list[str]) -> int:
    return sum(len({repr([s.get(key) for key in keys]) for s in group}) for group in by_env.values())


def _label_order(key: str) -> tuple[int, str]:
    last = key.rsplit(".", 1)[-1]
    return (LABELLED_FIRST.index(last) if last in LABELLED_FIRST else len(LABELLED_FIRST), key)


def display_name(preset: str, config: dict[str, Any]) -> str:
    """A preset's name as people write it: `double-dqn` is Double DQN, `tandem` says its passive share."""
    share = read_traits(config).passive_share
    if preset in TANDEMS and share is not None:
        return f"{TANDEMS[preset]}{100 * share:g}%-tandem"
    if preset in DISPLAY_NAMES:
        return DISPLAY_NAMES[preset]
    first, *rest = [word for word in clean(preset).strip("_").split("-") if word] or ["unnamed"]
    words = [ACRONYMS.get(first.lower(), first)]
    words += [ADDED.get(word.lower()) or ACRONYMS.get(word.lower(), word) for word in rest]
    name = " ".join(words).replace("QR DQN", "QR-DQN")
    return name[0].upper() + name[1:]


def describe(key: str, value: Any) -> str:
    """One setting in a label: N=10, L=3, 1M buffer, or name=value."""
    last = key.rsplit(".", 1)[-1]
    if last == "members":
        return f"N={value}"
    if last == "shared_layers":
        return f"L={value}"
    if last == "capacity":
        return f"{short_number(value)} buffer"
    if last == "total_steps":
        return f"{short_number(value)} steps"
    if last == "passive_share" and isinstance(value, int | float):
        return f"p={100 * value:g}%"
    if last == "scale":
        return f"{clean(str(value))} scale"
    return f"{clean(last)}={clean(short_number(value))}"


def short_number(value: Any) -> str:
    """250000 as 250k, 4000000 as 4M; anything that is no number as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}"
    return f"{value:g}"


def _order(variant: Variant) -> tuple[Any, ...]:
    roles = ("single", "ensemble", "tandem", "cross", "cross_own", "horizons")
    role = variant.traits.role
    rank = roles.index(role) if role in roles else len(roles)
    traits = variant.traits
    return (
        rank,
        variant.preset,
        traits.members,
        traits.shared_layers,
        traits.passive_share or 0.0,
        traits.buffer or 0,
        variant.label,
    )


def part_of(config: dict[str, Any], key: str) -> dict[str, Any]:
    value = config.get(key)
    return value if isinstance(value, dict) else {}


def _kind(config: dict[str, Any], key: str, default: str) -> str:
    value = config.get(key)
    if isinstance(value, dict):
        value = value.get("kind")
    return value if isinstance(value, str) else default


def _whole(value: Any, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default
