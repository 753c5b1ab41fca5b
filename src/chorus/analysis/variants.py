"""Variants: the algorithms of a dataset, each with the runs of all its environments and seeds.

A run says what it is in the `identity` of its meta.json: title, role, comparison group, and the settings in which it
differs from its preset's defaults. Runs of one preset are one variant unless, within some environment, their settings
differ; the label then names what differs. Settings that only follow the environment, such as a torso, make no variant,
and a default is the same setting in all environments.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chorus.components import short_number
from chorus.files import flatten
from chorus.runs.logs import Run, printable

MEMBERS, SHARED_LAYERS = "agent.members", "agent.shared_layers"
CAPACITY, PASSIVE_SHARE = "replay.capacity", "acting.passive_share"
CRITICS = "agent.critics"
OWN_PROBABILITY = "replay.sampler.own_probability"
# Those that the paper's main questions are about.
MAIN_ROLES = ("single", "ensemble", "tandem", "cerl")
# Published curves are drawn and tabulated, and never compared with.
ROLES = (*MAIN_ROLES, "ablation", "published")
# The settings that a label names first; others follow in alphabetical order. The scale comes before the settings that
# are relative to its defaults.
LABEL_ORDER = ("scale", "hyperparameters", MEMBERS, SHARED_LAYERS, PASSIVE_SHARE, CAPACITY, "schedule.total_steps")
# Stands for the default of a setting, which may differ between environments.
_DEFAULT = "default"
# Parts of a configuration that change no evaluation.
_IGNORED = ("seed", "env.id", "runtime", "evaluation.final_evaluations")
NO_IDENTITY = (
    "meta.json has no identity (an older version wrote it): the run is shown under its preset's name and compared "
    "with no other group"
)
POLICY_SUFFIX = {
    "individual": "indiv.",
    "aggregate": "agg.",
    "individual-mode": "indiv., modes",
    "aggregate-mode": "agg., modes",
}


@dataclass(frozen=True)
class Setting:
    """A setting of a run and the text that a label uses for it, which is empty if the title says it already."""

    value: Any
    label: str
    changed: bool = True
    """Whether the value differs from the preset's default; a swept setting may have its default."""


@dataclass(frozen=True)
class AxisStyle:
    """How a figure draws the axis of a swept setting."""

    title: str
    log: bool


@dataclass(frozen=True)
class Identity:
    """What a run says about itself."""

    title: str
    role: str
    group: str
    settings: Mapping[str, Setting]
    axes: Mapping[str, AxisStyle]
    """One axis per setting that was swept or that differs from the preset's default."""
    shares: tuple[float, ...] = ()
    """The share of the episodes that each member generates; empty if unknown or if all members act together."""


@dataclass(frozen=True, eq=False)
class Variant:
    """One algorithm as configured; `runs` are positions in the dataset."""

    label: str
    preset: str
    identity: Identity = field(repr=False)
    by_env: Mapping[str, dict[str, Any]] = field(repr=False)
    """The configuration of the first run in each environment, by dotted names; first where most variants were run."""
    runs: tuple[int, ...]
    distinguishing: tuple[tuple[str, Any], ...] = ()
    """The settings that tell the variant from others of its preset."""

    @property
    def settings(self) -> dict[str, Any]:
        """The configuration in the environment in which most variants were run: that of a sweep, if there was one."""
        return next(iter(self.by_env.values()))

    @property
    def title(self) -> str:
        return self.identity.title

    @property
    def role(self) -> str:
        return self.identity.role

    @property
    def group(self) -> str:
        return self.identity.group

    @property
    def members(self) -> int:
        return int(self.number(MEMBERS) or 1)

    @property
    def capacity(self) -> int | None:
        found = self.number(CAPACITY)
        return None if found is None else int(found)

    @property
    def critics(self) -> int:
        """Critics per member; 0 for agents without any."""
        return int(self.number(CRITICS) or 0)

    @property
    def changes(self) -> int:
        """The number of settings that differ from the preset's defaults."""
        settings = self.identity.settings
        return sum(one.changed for path, one in settings.items() if path not in ("scale", "hyperparameters"))

    @property
    def rank(self) -> tuple[int, int]:
        """The main variant of several has the lowest rank: the fewest changed settings, and then the most runs."""
        return self.changes, -len(self.runs)

    @property
    def is_smoke(self) -> bool:
        """Whether its runs only show that everything works."""
        return self.settings.get("scale") == "smoke"

    def number(self, path: str) -> float | None:
        """The value of a numeric setting; None if the configuration has no such number."""
        value = self.settings.get(path)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def distance(self, other: "Variant") -> int:
        """The number of settings that differ, in an environment of both if there is one."""
        env = next((env for env in self.by_env if env in other.by_env), None)
        first, second = (one.by_env[env] if env else one.settings for one in (self, other))
        absent = object()
        return sum(first.get(key, absent) != second.get(key, absent) for key in first.keys() | second.keys())

    def series_label(self, policy: str) -> str:
        if self.members == 1 and policy == "individual":
            return self.label
        return f"{self.label} ({POLICY_SUFFIX.get(policy, printable(policy))})"


def read_identity(run: Run) -> Identity:
    """The identity of a run; a run of an older version is an ablation under its preset's name."""
    content = run.meta.get("identity")
    scale = {
        "scale": Setting(run.config.get("scale"), f"{run.config.get('scale')} scale"),
        "hyperparameters": _plain_setting("hyperparameters", run.config.get("hyperparameters")),
    }
    if not isinstance(content, dict):
        settings = {path: _plain_setting(path, value) for path, value in algorithm_settings(run.config).items()}
        return Identity(run.preset, "ablation", "other", settings | scale, {})
    role, axes = content.get("role"), section(content, "axes")
    return Identity(
        title=_text(content.get("title")) or run.preset,
        role=role if role in ROLES else "ablation",
        group=_text(content.get("group")) or "other",
        settings={printable(path): _read_setting(path, one) for path, one in section(content, "settings").items()}
        | scale,
        axes={path: _read_axis(path, section(axes, path)) for path in axes},
        shares=_read_shares(content.get("shares")),
    )


def is_default(run: Run) -> bool:
    """Whether a run has its preset's default settings; a sweep records those that it varies, even at their defaults."""
    return not changed_settings(run)


def arm_of(run: Run) -> str:
    """The preset and the settings that differ from its defaults, the same for all seeds and whatever was swept."""
    return " ".join([run.preset, *(f"{path}={value!r}" for path, value in sorted(changed_settings(run).items()))])


def changed_settings(run: Run) -> dict[str, Any]:
    """The values that differ from the preset's defaults, by their paths."""
    found = section(section(run.meta, "identity"), "settings")
    return {path: setting.value for path, one in found.items() if (setting := _read_setting(path, one)).changed}


def algorithm_settings(config: dict[str, Any]) -> dict[str, Any]:
    """A configuration by dotted names, without what changes no result."""
    return {
        path: value
        for path, value in flatten(config).items()
        if not any(path == ignored or path.startswith(f"{ignored}.") for ignored in _IGNORED)
    }


def find_variants(runs: Sequence[Run]) -> tuple[Variant, ...]:
    """Groups runs by preset, title and settings; single agents come first, ablations last."""
    identities = [read_identity(run) for run in runs]
    by_preset: dict[str, list[int]] = {}
    for position, run in enumerate(runs):
        by_preset.setdefault(run.preset, []).append(position)
    variants: list[Variant] = []
    for preset, positions in by_preset.items():
        # A run started by another sweep does not record this setting, because it has the default.
        recorded = dict.fromkeys(path for p in positions for path in identities[p].settings)
        entries = {p: _comparable(runs[p], identities[p], recorded) for p in positions}
        paths = distinguishing_settings([(runs[p].env, entries[p]) for p in positions])
        groups: dict[str, list[int]] = {}
        for p in positions:
            groups.setdefault(repr([entries[p].get(path) for path in ("title", *paths)]), []).append(p)
        for members in groups.values():
            first = members[0]
            labels = [one.label for path in paths if (one := identities[first].settings.get(path))]
            variants.append(
                Variant(
                    label=", ".join(filter(None, [identities[first].title, *labels])),
                    preset=preset,
                    identity=identities[first],
                    by_env=_settings_by_env([runs[p] for p in members]),
                    runs=tuple(members),
                    distinguishing=tuple((path, entries[first].get(path)) for path in paths),
                )
            )
    return tuple(sorted(_with_unique_labels(_most_common_first(variants)), key=_order))


def _settings_by_env(runs: Iterable[Run]) -> dict[str, dict[str, Any]]:
    firsts: dict[str, Run] = {}
    for run in runs:
        firsts.setdefault(run.env, run)
    return {env: algorithm_settings(run.config) for env, run in firsts.items()}


def _most_common_first(variants: Sequence[Variant]) -> list[Variant]:
    """Defaults differ between environments, so variants are compared by their settings in the same one."""
    counts = Counter(env for variant in variants for env in variant.by_env)
    return [
        replace(v, by_env=dict(sorted(v.by_env.items(), key=lambda own: counts[own[0]], reverse=True)))
        for v in variants
    ]


def distinguishing_settings(entries: Iterable[tuple[str, dict[str, Any]]]) -> list[str]:
    """The fewest settings that, beside the title, tell runs of one environment apart; in the order of labels."""
    by_env: dict[str, list[dict[str, Any]]] = {}
    for env, settings in entries:
        by_env.setdefault(env, []).append(settings)
    differing = {
        path
        for group in by_env.values()
        for path in set().union(*group)
        if len({repr(settings.get(path)) for settings in group}) > 1
    }
    chosen = ["title"]
    parts = _distinct(by_env, chosen)
    for path in sorted(differing, key=_label_order):
        refined = _distinct(by_env, [*chosen, path])
        if refined > parts:
            chosen, parts = [*chosen, path], refined
    return chosen[1:]


def rank_by_defaults(singles: Sequence[Variant], variants: Sequence[Variant]) -> list[Variant]:
    """Single agents in the order in which they are taken as the reference of a comparison.

    Smoke runs come last. First come those with the fewest settings that differ from their preset's defaults, then
    those that differ least from one of the plain ensembles, have the fewest settings at all, and have the most runs;
    then the order of the variants, which is by the numbers of their settings.
    """
    ensembles = [v for v in variants if v.role == "ensemble"]

    def order(single: Variant) -> tuple[bool, int, int, int, int]:
        nearest = min((single.distance(ensemble) for ensemble in ensembles), default=0)
        return single.is_smoke, single.changes, nearest, len(single.settings), -len(single.runs)

    return sorted(singles, key=order)


def section(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object inside a JSON object; empty if it is missing or something else."""
    value = content.get(name)
    return value if isinstance(value, dict) else {}


def _read_shares(content: Any) -> tuple[float, ...]:
    sound = isinstance(content, list) and all(type(share) in (int, float) and 0 <= share <= 1 for share in content)
    return tuple(map(float, content)) if sound else ()


def _comparable(run: Run, identity: Identity, paths: Iterable[str]) -> dict[str, Any]:
    """The title and the values at these paths; a default is the same in all environments, whatever its value."""
    older = not isinstance(run.meta.get("identity"), dict)
    config = flatten(run.config) if older else dict.fromkeys(paths, _DEFAULT)
    changed = {path: one.value for path, one in identity.settings.items() if one.changed}
    return {"title": identity.title} | {path: changed.get(path, config.get(path)) for path in paths}


def _distinct(by_env: dict[str, list[dict[str, Any]]], paths: list[str]) -> int:
    return sum(len({repr([s.get(path) for path in paths]) for s in group}) for group in by_env.values())


def _label_order(path: str) -> tuple[int, str]:
    return (LABEL_ORDER.index(path) if path in LABEL_ORDER else len(LABEL_ORDER), path)


def _with_unique_labels(variants: Sequence[Variant]) -> list[Variant]:
    """Variants with one label between them get the values that tell them apart, even where these are defaults."""
    counts = Counter(variant.label for variant in variants)
    found = []
    for variant in variants:
        if counts[variant.label] > 1:
            texts = [_plain_setting(path, variant.settings.get(path)).label for path, _ in variant.distinguishing]
            variant = replace(variant, label=", ".join([variant.label, *texts] if texts else [variant.preset]))
        found.append(variant)
    return found


def _order(variant: Variant) -> tuple[Any, ...]:
    single = variant.members == 1 and variant.role != "published"
    numbers = [variant.number(path) or 0 for path in (MEMBERS, SHARED_LAYERS, PASSIVE_SHARE, CAPACITY)]
    return (0 if single else ROLES.index(variant.role), variant.preset, *numbers, variant.label)


def _plain_setting(path: str, value: Any) -> Setting:
    return Setting(value, printable(f"{path.rsplit('.', 1)[-1]}={short_number(value)}"))


def _read_setting(path: str, content: Any) -> Setting:
    if not isinstance(content, dict):
        return _plain_setting(path, content)
    label = content.get("label")
    changed = "default" not in content or content["default"] != content.get("value")
    return Setting(content.get("value"), printable(label) if isinstance(label, str) else "", changed)


def _read_axis(path: str, content: dict[str, Any]) -> AxisStyle:
    return AxisStyle(_text(content.get("title")) or printable(path.rsplit(".", 1)[-1]), content.get("log") is True)


def _text(value: Any) -> str:
    return printable(value) if isinstance(value, str) else ""
