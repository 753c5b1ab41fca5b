"""From what a user asks for to a resolved configuration, remembering who decided each value.

The layers, each laid over the one before: the scale's row, the preset and its parents, a configuration file,
single options.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from chorus.config.base import base_config
from chorus.config.codec import decode, merge
from chorus.config.options import option_tree
from chorus.config.presets import PRESETS, Preset, find_preset
from chorus.config.scales import row_for
from chorus.config.schema import Hyperparameters, RunConfig, Scale
from chorus.config.validation import validate
from chorus.envs.registry import describe
from chorus.envs.spec import EnvSpec
from chorus.errors import ChorusError
from chorus.files import flatten, read_json
from chorus.networks.torsos import CustomTorso, Widened
from chorus.training.policies import Member

_HEAD: dict[str, Any] = {"preset": str, "scale": Scale, "hyperparameters": Hyperparameters, "seed": int}
# Maps whose names are the user's: a file that has one says all that is to be in it.
_WHOLE = frozenset({"evaluation.policies"})


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a user asks for; `options` maps names of `options.OPTIONS` to values."""

    preset: str | None = None
    env: str | None = None
    seed: int | None = None
    scale: Scale | None = None
    hyperparameters: Hyperparameters | None = None
    file: Path | None = None
    options: dict[str, Any] = field(default_factory=dict)
    eval_members: bool = False
    torso: CustomTorso | None = None


@dataclass(frozen=True)
class Resolved:
    """A valid configuration; `sources` says for each leaf of the tree who set it."""

    config: RunConfig
    spec: EnvSpec
    is_default: bool
    sources: dict[str, str]


def resolve(request: Request) -> Resolved:
    """Raises a sentence for whatever cannot be."""
    stored = _read_file(request.file)
    preset = find_preset(_wanted("a preset", request.preset, stored.get("preset"), "chorus list"))
    if stored.get("preset", preset.name) != preset.name:
        raise ChorusError(
            f"{request.file} is a configuration of '{stored['preset']}', not of '{preset.name}'; leave out the "
            "preset, or take the algorithm's own parts out of the file"
        )
    env_id = _wanted("--env", request.env, stored.get("env", {}).get("id"), "chorus list envs")
    _check_labels(request, stored)
    scale: Scale = request.scale or stored.get("scale") or "laptop"
    hyperparameters: Hyperparameters = request.hyperparameters or stored.get("hyperparameters") or "code"
    seed = request.seed if request.seed is not None else stored.get("seed", 0)
    _check_head({"scale": scale, "hyperparameters": hyperparameters}, "what was asked for")

    found = describe(env_id)
    env_id = found.id
    default, sources = _preset_layers(found, preset, scale, hyperparameters, seed)
    _check_table(found, preset, default)
    config = _lay_over(default, stored, sources, f"file {request.file}")
    config = _lay_over(config, option_tree(request.options, preset), sources, "given as an option")
    config = replace(config, preset=preset.name, scale=scale, hyperparameters=hyperparameters, seed=seed)
    config = replace(config, env=replace(config.env, id=env_id))
    if request.torso is not None:
        if isinstance(config.agent.torso, Widened):
            raise ChorusError(
                f"{preset.name} widens a network of Chorus's own; leave out torso, or use bootstrapped-dqn"
            )
        config = replace(config, agent=replace(config.agent, torso=request.torso))
    config = _single_member(config)
    if request.eval_members:
        config = _with_each_member(config)
    limit = config.env.max_episode_steps
    # A limit below 1 is validation's to refuse, not the environment's.
    spec = describe(env_id, limit if limit is None else max(limit, 1))
    validate(config, spec)
    return Resolved(config, spec, config == replace(default, scale="laptop", hyperparameters="code"), sources)


def _check_labels(request: Request, stored: dict[str, Any]) -> None:
    """A file's numbers are those of its scale: under another name they would still be."""
    for name, asked in {"scale": request.scale, "hyperparameters": request.hyperparameters}.items():
        if asked is not None and stored.get(name, asked) != asked:
            raise ChorusError(
                f"{request.file} is a configuration with {name} '{stored[name]}', not '{asked}', and its numbers are "
                f"those; leave out --{name}, or take '{name}' and the numbers that shall change out of the file"
            )


def _check_table(spec: EnvSpec, preset: Preset, config: RunConfig) -> None:
    """An option that would change a label and no number is refused."""
    if config.hyperparameters == "code":
        return
    code, _ = _preset_layers(spec, preset, config.scale, "code", config.seed)
    if replace(config, hyperparameters="code") == code:
        raise ChorusError(
            f"--hyperparameters table changes nothing in {preset.name}, whose optimiser and epsilon are not those of "
            "the paper's table; leave the option out"
        )


def preset_difference(config: RunConfig, parent: Preset) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `parent` has and this configuration's preset has not, and the other way round, before any option or file."""
    spec, preset = describe(config.env.id), find_preset(config.preset)
    leaves = [
        flatten(_single_member(_preset_layers(spec, one, config.scale, config.hyperparameters, 0)[0]).to_json())
        for one in (parent, preset)
    ]
    before, after = ({path: value for path, value in own.items() if path != "preset"} for own in leaves)
    gone = {path: value for path, value in before.items() if path not in after or after[path] != value}
    come = {path: value for path, value in after.items() if path not in before or before[path] != value}
    return gone, come


def _wanted(what: str, given: str | None, stored: str | None, where: str) -> str:
    if given or stored:
        return given or stored or ""
    raise ChorusError(f"{what} is missing; `{where}` shows what there is")


def _read_file(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        stored = read_json(path)
    except (OSError, ValueError) as problem:
        raise ChorusError(
            f"the configuration file {path} cannot be read ({problem}); give a run's config.json"
        ) from problem
    if not isinstance(stored, dict):
        raise ChorusError(
            f"the configuration file {path} holds no JSON object; give a run's config.json or a part of it"
        )
    _check_head(stored, str(path))
    return stored


def _check_head(given: dict[str, Any], origin: str) -> None:
    """What decides on which defaults the rest is laid must be right before anything else can be checked."""
    problems: list[str] = []
    for name, annotation in _HEAD.items():
        if name in given:
            decode(annotation, given[name], f"config.{name}", problems)
    env = given.get("env", {})
    if not isinstance(env, dict):
        problems.append(f"config.env is {env!r}; it must be an object")
    elif "id" in env:
        decode(str, env["id"], "config.env.id", problems)
    if problems:
        raise ChorusError(f"{origin} cannot be used: " + "; ".join(problems))


def _preset_layers(
    spec: EnvSpec, preset: Preset, scale: Scale, hyperparameters: Hyperparameters, seed: int
) -> tuple[RunConfig, dict[str, str]]:
    row = row_for(spec.family, scale, hyperparameters)
    base = base_config(spec, scale, hyperparameters, seed)
    root = _lineage(preset)[0]
    sources = {path: _base_source(path, root, row.source) for path in flatten(base.to_json())}
    for ancestor in _lineage(preset):
        before = flatten(base.to_json())
        base = ancestor.change(base, row)
        _note_changes(before, flatten(base.to_json()), sources, f"preset {ancestor.name} ({ancestor.source})")
    if base.agent.members == row.members:
        sources["agent.members"] = f"ensemble size of the {row.source}"
    return replace(base, preset=preset.name), sources


# What a preset without a parent consists of, before any scale has a say.
_STRUCTURE = ("value_map", "actor", "estimate", "error", "selection", "auxiliary", "initialization", "prior",
              "discount", "members", "shared")  # fmt: skip
_ASKED_FOR = ("preset", "scale", "hyperparameters", "seed", "env.id")


def _base_source(path: str, root: Preset, row_source: str) -> str:
    if path in _ASKED_FOR:
        return "asked for"
    if path.startswith((*(f"agent.{part}" for part in _STRUCTURE), "acting", "replay.sampler")):
        return f"preset {root.name} ({root.source})"
    return row_source


def _lineage(preset: Preset) -> list[Preset]:
    return [*(_lineage(PRESETS[preset.parent]) if preset.parent else []), preset]


def _note_changes(before: dict[str, Any], after: dict[str, Any], sources: dict[str, str], who: str) -> None:
    for path, value in after.items():
        if path not in before or before[path] != value:
            sources[path] = who
    for path in set(sources) - set(after):
        del sources[path]


def _lay_over(config: RunConfig, change: dict[str, Any], sources: dict[str, str], who: str) -> RunConfig:
    before = config.to_json()
    after = merge(before, change, whole=_WHOLE)
    if after == before:
        return config
    _note_changes(flatten(before), flatten(after), sources, who)
    return RunConfig.from_json(after, who)


def _single_member(config: RunConfig) -> RunConfig:
    """An ensemble of one has nobody to agree with: it reports `individual`."""
    evaluation = config.evaluation
    if config.agent.members != 1:
        return config
    individual = {name: policy for name, policy in evaluation.policies.items() if not policy.way.together}
    return replace(config, evaluation=replace(evaluation, policies=individual))


def _with_each_member(config: RunConfig) -> RunConfig:
    each = {f"member_{i}": Member(index=i) for i in range(config.agent.members)}
    return replace(config, evaluation=replace(config.evaluation, policies={**config.evaluation.policies, **each}))


def run_name(resolved: Resolved) -> str:
    """`<env>__<preset>[-<hash>]__s<seed>`: without a date, so that a resumed run finds itself."""
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
