"""What a run is, for whoever reads it later: written into `meta.json` when it starts, so that nobody has to guess.

Also its name: `<env>__<preset>[-<hash>]__s<seed>`, without a date, so that a resumed run finds itself.
"""

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
    tag = "" if resolved.is_default else f"-{config.digest()}"
    return f"{env_in_names(config.env.id)}__{config.preset}{tag}"


def env_in_names(env_id: str) -> str:
    """An environment's id in the name of a file."""
    return env_id.replace("/", "-").replace(":", "-")
