"""From what a user asks for to a resolved configuration, remembering who decided each value.

The layers, each laid over the one before: the scale's row, the preset and its parents, a configuration file,
single options. One error lists all problems of a request.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, get_args

import chorus.config.catalogue  # noqa: F401 - registers the presets
from chorus.config.codec import decode
from chorus.config.layers import WHOLE_IN_FILES, lay_over, preset_layers, single_member
from chorus.config.options import Setting, declared_settings, find_setting, settings, settings_in
from chorus.config.presets import PRESETS, Preset, find_preset
from chorus.config.request import Request
from chorus.config.schema import SCALES, Hyperparameters, RunConfig, Scale
from chorus.config.validation import find_problems
from chorus.envs.registry import describe, full_id
from chorus.envs.spec import EnvSpec
from chorus.errors import ChorusError
from chorus.files import read_json_or_yaml
from chorus.networks.torsos import CustomTorso, Widened
from chorus.training.policies import Member

_HEAD: dict[str, Any] = {"preset": str, "scale": Scale, "hyperparameters": Hyperparameters, "seed": int}
GIVEN = "given as an option"
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Resolved:
    """A valid configuration; `sources` says for each leaf of the tree who set it."""

    request: Request
    config: RunConfig
    default: RunConfig
    """The preset at this scale and environment, before any file or option."""
    spec: EnvSpec
    sources: dict[str, str]

    @property
    def is_default(self) -> bool:
        return self.config == replace(self.default, scale="laptop", hyperparameters="code")


class _Problems(list[str]):
    """Collects sentences instead of stopping at the first."""

    def catch(self, ask: Callable[[], Answer]) -> Answer | None:
        try:
            return ask()
        except ChorusError as problem:
            self.append(str(problem))
            return None

    def raise_any(self) -> None:
        if self:
            raise ChorusError("; ".join(dict.fromkeys(self)))


@dataclass(frozen=True)
class _Start:
    """What decides on the defaults: the preset, the environment, scale, hyperparameters and seed."""

    preset: Preset
    spec: EnvSpec
    scale: Scale
    hyperparameters: Hyperparameters
    seed: int


def resolve(request: Request) -> Resolved:
    """The configuration that a request stands for; one error lists all problems."""
    problems = _Problems(request.problems)
    stored = read_file(request.file)
    given = _given(request, problems)
    start = _start(request, stored, problems)
    layers = problems.catch(
        lambda: preset_layers(start.spec, start.preset, start.scale, start.hyperparameters, start.seed)
    )
    if layers is None:
        problems.raise_any()
    assert layers is not None
    default, sources = layers
    problems.catch(lambda: _check_table(start.spec, start.preset, default))
    origin = f"file {request.origin}" if isinstance(request.file, Path) else request.origin
    config = lay_over(default, stored, sources, origin, problems, WHOLE_IN_FILES)
    config = _with_options(config, given, start.preset, sources, problems)
    config = replace(
        config,
        preset=start.preset.name,
        scale=start.scale,
        hyperparameters=start.hyperparameters,
        seed=start.seed,
        env=replace(config.env, id=start.spec.id),
    )
    config = problems.catch(lambda: _with_torso(config, request.torso, start.preset)) or config
    config = single_member(config)
    if request.eval_members:
        config = _with_each_member(config)
    limit = config.env.max_episode_steps
    # A limit below 1 is validation's to refuse, not the environment's.
    spec = describe(start.spec.id, limit if limit is None else max(limit, 1))
    problems += find_problems(config, spec)
    problems.raise_any()
    return Resolved(request, config, default, spec, sources)


def _start(request: Request, stored: dict[str, Any], problems: _Problems) -> _Start:
    preset = problems.catch(lambda: _find_preset(request, stored))
    stored_env = stored.get("env", {}).get("id")
    spec = problems.catch(lambda: describe(full_id(_wanted("--env", request.env, stored_env, "list envs"))))
    problems.catch(lambda: _check_labels(request, stored))
    scale: Scale = request.scale or stored.get("scale") or "laptop"
    hyperparameters: Hyperparameters = request.hyperparameters or stored.get("hyperparameters") or "code"
    seed = request.seed if request.seed is not None else stored.get("seed", 0)
    for name, value, annotation in (("scale", scale, Scale), ("hyperparameters", hyperparameters, Hyperparameters)):
        decode(annotation, value, name, problems)
    if preset is None or spec is None or {scale, hyperparameters} - {*SCALES, *get_args(Hyperparameters)}:
        problems.raise_any()
    assert preset is not None and spec is not None
    return _Start(preset, spec, scale, hyperparameters, seed)


def _given(request: Request, problems: _Problems) -> list[tuple[Setting, Any]]:
    """The settings of the request's options, outer components before what is inside them."""
    found = [(problems.catch(partial(find_setting, name)), value) for name, value in request.options.items()]
    known = [(setting, value) for setting, value in found if setting is not None]
    counts = Counter(setting.path for setting, _ in known)
    twice = [path for path, count in counts.items() if count > 1]
    problems += [f"{path} is given twice, by its path and by its name; leave one out" for path in twice]
    return sorted(known, key=lambda pair: pair[0].path.count("."))


def _find_preset(request: Request, stored: dict[str, Any]) -> Preset:
    preset = find_preset(_wanted("a preset", request.preset, stored.get("preset"), "list"))
    if stored.get("preset", preset.name) != preset.name:
        raise ChorusError(
            f"{request.origin} is a configuration of '{stored['preset']}', not of '{preset.name}'; leave out the "
            "preset, or take the algorithm's own parts out of the file"
        )
    return preset


def _wanted(what: str, given: str | None, stored: str | None, command: str) -> str:
    if given or stored:
        return given or stored or ""
    raise ChorusError(f"{what} is missing; `chorus {command}` shows what there is")


def _check_labels(request: Request, stored: dict[str, Any]) -> None:
    """Refuse a scale or hyperparameters that contradict those of the file."""
    for name, asked in {"scale": request.scale, "hyperparameters": request.hyperparameters}.items():
        if asked is not None and stored.get(name, asked) != asked:
            raise ChorusError(
                f"{request.origin} is a configuration with {name} '{stored[name]}', not '{asked}', and its numbers are "
                f"those; leave out --{name}, or take '{name}' and the numbers that shall change out of the file"
            )


def _check_table(spec: EnvSpec, preset: Preset, config: RunConfig) -> None:
    """An option that would change a label and no number is refused."""
    if config.hyperparameters == "code":
        return
    code, _ = preset_layers(spec, preset, config.scale, "code", config.seed)
    if replace(config, hyperparameters="code") == code:
        raise ChorusError(
            f"--hyperparameters table changes nothing in {preset.name}, whose optimizer and epsilon are not those of "
            "the paper's table; leave the option out"
        )


def read_file(path: Path | Mapping[str, Any] | None) -> dict[str, Any]:
    """A configuration file, or a part of one, in JSON or YAML, or what it would hold."""
    if path is None:
        return {}
    if isinstance(path, Mapping):
        stored = dict(path)
        _check_head(stored, "config")
        return stored
    try:
        stored = read_json_or_yaml(path)
    except (OSError, ValueError) as problem:
        raise ChorusError(
            f"the configuration file {path} cannot be read ({problem}); give a run's config.json, or YAML"
        ) from problem
    if not isinstance(stored, dict):
        raise ChorusError(f"the configuration file {path} holds no object; give a run's config.json or a part of it")
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


def _with_options(
    config: RunConfig, given: list[tuple[Setting, Any]], preset: Preset, sources: dict[str, str], problems: list[str]
) -> RunConfig:
    """The configuration with its options; a component is exchanged together with the options inside it."""
    chosen = [setting.path for setting, value in given if isinstance(value, dict)]

    def inside(setting: Setting) -> bool:
        return any(setting.path.startswith(f"{path}.") for path in chosen)

    for setting, value in given:
        if inside(setting):
            continue
        if reason := why_not(setting, preset, config):
            problems.append(f"{setting.name} {_words(value)} {reason}")
            continue
        within = [
            (one, own) for one, own in given if one.path.startswith(f"{setting.path}.") and isinstance(value, dict)
        ]
        tree: dict[str, Any] = {}
        for path, own in ((setting.path, value), *((path, value) for path in setting.option.also)):
            _put(tree, path, own)
        for one, own in within:
            _put(tree, one.path, own)
        wrong: list[str] = []
        config = lay_over(config, tree, sources, GIVEN, wrong)
        problems += [one.removeprefix(f"{GIVEN} cannot be used: ") for one in wrong]
    return config


def _put(tree: dict[str, Any], path: str, value: Any) -> None:
    *parents, leaf = path.split(".")
    for part in parents:
        tree = tree.setdefault(part, {})
    tree[leaf] = dict(value) if isinstance(value, dict) else list(value) if isinstance(value, tuple) else value


def _words(value: Any) -> str:
    return value["kind"] if isinstance(value, dict) and "kind" in value else str(value)


def why_not(setting: Setting, preset: Preset, config: RunConfig) -> str | None:
    """Why an option cannot be given to a preset with this configuration, as the end of a sentence."""
    if setting.path.startswith("env.atari.") and config.env.atari is None:
        return f"is for Atari games and {config.env.id} is none; leave it out"
    if _is_allowed(preset, setting) and _has(config, setting):
        return None
    presets = [other for other in PRESETS if _preset_has(other, setting) and other != preset.name]
    owners = {f"the {one.owner}" for one in declared_settings() if one.path == setting.path and one.owner}
    belongs = ", ".join(presets) or " and ".join(sorted(owners))
    return f"does not apply to {preset.name}; it belongs to {belongs}"


def option_applies(name: str, preset_name: str) -> bool:
    """Whether the algorithm itself has this option; what an environment has is not asked."""
    setting = find_setting(name)
    return setting.path.startswith("env.") or _preset_has(preset_name, setting)


def _preset_has(preset_name: str, setting: Setting) -> bool:
    try:
        return _is_allowed(find_preset(preset_name), setting) and _has(_composition_of(preset_name), setting)
    except ChorusError:
        # A preset that cannot be built is reported when it is asked for.
        return False


def _is_allowed(preset: Preset, setting: Setting) -> bool:
    return preset.allows(settings().get(setting.path, setting).key)


@cache
def _composition_of(preset_name: str) -> RunConfig:
    """A preset's configuration where every preset can be built: Atari, whose description starts no emulator."""
    return preset_layers(describe("ALE/Breakout-v5"), find_preset(preset_name), "smoke", "code", 0)[0]


def _has(config: RunConfig, setting: Setting) -> bool:
    """Whether a configuration has the field, and, if it is asked for by a flag, declares that flag for it."""
    found = settings_in(config)
    parent = setting.path.rpartition(".")[0]
    is_new_entry = setting.path not in found and isinstance(_value_at(config, parent), dict)
    return is_new_entry or (setting.path in found and setting.flag in (None, found[setting.path]))


def _value_at(config: RunConfig, path: str) -> Any:
    node: Any = config
    for part in path.split("."):
        node = node.get(part) if isinstance(node, dict) else getattr(node, part, None)
    return node


def _with_torso(config: RunConfig, torso: CustomTorso | None, preset: Preset) -> RunConfig:
    if torso is None:
        return config
    if isinstance(config.agent.torso, Widened):
        raise ChorusError(f"{preset.name} widens a network of Chorus's own; leave out torso, or use bootstrapped-dqn")
    return replace(config, agent=replace(config.agent, torso=torso))


def _with_each_member(config: RunConfig) -> RunConfig:
    each = {f"member_{i}": Member(index=i) for i in range(config.agent.members)}
    return replace(config, evaluation=replace(config.evaluation, policies={**config.evaluation.policies, **each}))
