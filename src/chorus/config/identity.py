"""What a run is, for whoever reads it later: written into `meta.json` when it starts, so that nobody has to guess.

Also its name: `<env>__<preset>[__<setting>=<value>...]__s<seed>`, without a date, so that a resumed run finds itself.
"""

import re
from typing import Any

from chorus.components import short_number
from chorus.config.codec import candidates
from chorus.config.options import find_setting, settings
from chorus.config.presets import Role, find_preset
from chorus.config.resolution import Resolved
from chorus.config.schema import RunConfig
from chorus.files import flatten


def identity(resolved: Resolved) -> dict[str, Any]:
    """Title, role, comparison group, the settings that set the run apart, and what was swept."""
    config, preset = resolved.config, find_preset(resolved.config.preset)
    leaves = flatten(config.to_json())
    paths = [find_setting(name).path for name in resolved.request.swept]
    # A component is swept by its kind.
    swept = [path for own in paths for path in (own, f"{own}.kind") if path in leaves]
    changed = {**changed_settings(resolved), **{path: leaves[path] for path in swept}}
    defaults = flatten(resolved.default.to_json())
    options = {path: settings()[path].option for path in {*swept, *changed} if path in settings()}
    return {
        "title": preset.title_of(config),
        "preset": preset.name,
        "role": role_of(resolved),
        "group": preset.group,
        "settings": {
            path: {
                "value": value,
                "label": "" if path in preset.titled else setting_label(path, value),
                "default": defaults.get(path),
            }
            for path, value in changed.items()
        },
        "swept": swept,
        "axes": {path: {"title": o.axis or path, "log": o.log_axis} for path, o in options.items()},
        "arm": " ".join([preset.name, *(f"{path}={value}" for path, value in changed.items())]),
        "study": resolved.request.study,
        # Of the episodes, by member; null if all members choose every action together.
        "shares": None if config.acting.uses_members else config.acting.shares(config.agent.members).tolist(),
    }


def changed_settings(resolved: Resolved) -> dict[str, Any]:
    """The leaves in which a run differs from its preset; where it runs and what it counts is left out."""
    before, after = (flatten(config.to_json()) for config in (resolved.default, resolved.config))
    outside = ("seed", "env.id", "runtime.", "evaluation.policies", "states")
    return {
        path: value
        for path, value in after.items()
        if not path.startswith(outside) and (path not in before or before[path] != value)
    }


def role_of(resolved: Resolved) -> Role:
    """The preset's, unless the run is composed otherwise: then it is an ablation of it."""
    default, config = resolved.default, resolved.config
    preset = find_preset(config.preset)
    if _composition(default) != _composition(config):
        return "ablation"
    return "single" if preset.role == "ensemble" and config.agent.members == 1 else preset.role


def _composition(config: RunConfig) -> dict[str, Any]:
    """Which components a run is made of, and whether it has priors.

    Networks and what is measured do not count.
    """
    kinds = {
        path: kind
        for path, kind in flatten(config.to_json()).items()
        if path.endswith(".kind") and not path.startswith(("evaluation", "states", "agent.torso", "agent.optimizer"))
    }
    return {**kinds, "prior": bool(getattr(config.agent, "prior_scale", 0.0))}


def setting_label(path: str, value: Any) -> str:
    """One setting in a legend: N=10, L=3, 25k buffer, or name=value."""
    known = settings().get(path)
    if known is not None and known.option.label:
        plain = "{}" in known.option.label
        return known.option.label.format(short_number(value) if plain else value)
    if path.endswith(".kind"):
        return component_title(path, value)
    return f"{path.rsplit('.', 1)[-1]}={short_number(value)}"


def component_title(path: str, kind: str) -> str:
    """The title of the component that a path's `kind` names."""
    known = settings().get(path.removesuffix(".kind"))
    found = candidates(known.annotation).get(kind) if known else None
    return found.title if found else kind


def run_name(resolved: Resolved) -> str:
    return name_of_seed(configuration_name(resolved), resolved.config.seed)


def name_of_seed(configuration: str, seed: int) -> str:
    return f"{configuration}__s{seed}"


def configuration_name(resolved: Resolved) -> str:
    """What the names of its seeds have in common."""
    config = resolved.config
    settings = named_settings(resolved)
    if settings is None:
        return digest_name(resolved)
    return "__".join([env_in_names(config.env.id), config.preset, *settings])


def digest_name(resolved: Resolved) -> str:
    """The name with a digest in place of the settings: if they are too long, and in earlier versions."""
    config = resolved.config
    tag = "" if resolved.is_default else f"-{config.digest()}"
    return f"{env_in_names(config.env.id)}__{config.preset}{tag}"


# Longer names are cut by tools, and file systems refuse those of more than 255 bytes.
_LONGEST_SETTINGS = 80
_SAFE = re.compile(r"[\w.+-]+", re.ASCII)


def named_settings(resolved: Resolved) -> list[str] | None:
    """Scale and settings that set a configuration apart from its preset, as `members=5`.

    None if the words are too long, would not be safe as the name of a file, or do not say everything.
    """
    config = resolved.config
    before, after = (flatten(one.to_json()) for one in (resolved.default, config))
    changed = {path: value for path, value in after.items() if path not in before or before[path] != value}
    changed = {path: value for path, value in changed.items() if path not in ("seed", "env.id", "preset")}
    exchanged = tuple(path.removesuffix("kind") for path in changed if path.endswith(".kind"))
    if any(path not in after and not (exchanged and path.startswith(exchanged)) for path in before):
        return None
    known = settings()
    also = {
        (other, str(value)) for path, value in changed.items() if path in known for other in known[path].option.also
    }
    parts: list[str] = [config.scale] if config.scale != "laptop" else []
    parts += [config.hyperparameters] if config.hyperparameters != "code" else []
    for path, value in changed.items():
        if (path, str(value)) in also:
            # Set together with the option that was given.
            continue
        words = _in_name(value)
        if words is None:
            return None
        parts.append(f"{known[path].key if path in known else path}={words}")
    return parts if len("__".join(parts)) <= _LONGEST_SETTINGS else None


def _in_name(value: Any) -> str | None:
    """A value in the name of a file; None if it does not belong there."""
    if isinstance(value, list):
        parts = [_in_name(item) for item in value]
        return "x".join(part for part in parts if part is not None) if parts and None not in parts else None
    words = str(value).lower() if isinstance(value, bool) or value is None else str(value)
    return words if isinstance(value, bool | int | float | str | None) and _SAFE.fullmatch(words) else None


def env_in_names(env_id: str) -> str:
    """An environment's id in the name of a file."""
    return env_id.replace("/", "-").replace(":", "-")
