"""Every field of the configuration as an option, generated from the schema and the registered components.

A field is reached by its dotted path (`agent.torso.dense`); those that declare a flag also by that (`--members`).
"""

import argparse
import dataclasses
import math
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from chorus.components import INTERFACES, Component, Option, option_of, registered
from chorus.config.codec import alternatives, candidates, is_component, stored_fields, type_hints
from chorus.config.schema import RunConfig
from chorus.errors import ChorusError, did_you_mean
from chorus.files import parse_json

# Fields that every command has options of its own for.
ASKED_FOR = ("preset", "scale", "hyperparameters", "seed", "env.id")
# Options of the commands themselves, which no component may take.
RESERVED = frozenset(
    (
        *(
            "env",
            "preset",
            "seed",
            "seeds",
            "scale",
            "hyperparameters",
            "config",
            "set",
            "eval-members",
            "plugin",
            "help",
        ),
        *("out", "quiet", "tensorboard", "track", "keep-replay", "json", "version", "engine", "workers"),
        *("address", "partition", "time", "gpus", "memory", "cpus-per-task", "account", "qos", "sbatch"),
        *("wandb-project", "wandb-entity", "wandb-group", "wandb-tags"),
        *("dry-run", "policy", "episodes", "video", "long", "part", "yes", "sort"),
    )
)


@dataclass(frozen=True)
class Setting:
    """One field of the configuration, as it can be set."""

    path: str
    annotation: Any
    option: Option
    flag: str | None
    default: Any
    owner: str
    """The component that has this field, as `acting rule tandem`; empty if every configuration has it."""
    declared: str
    """Class and field that declare it."""

    @property
    def name(self) -> str:
        """As written on the command line: `--members`, or its path."""
        return f"--{self.flag}" if self.flag else self.path

    @property
    def key(self) -> str:
        """As a keyword of Python: `learning_rate`, or its path."""
        return self.flag.replace("-", "_") if self.flag else self.path

    def read(self, text: str) -> Any:
        """The JSON value that a text stands for; raises a ValueError with the reason."""
        return read_value(self.annotation, text)


def read_value(annotation: Any, text: str) -> Any:
    """What `text` means for a field of this type; a component is written by its kind."""
    options = alternatives(annotation)
    if type(None) in options and text.lower() in ("none", "null"):
        return None
    if known := candidates(annotation):
        return _read_component(known, text)
    wanted = next(option for option in options if option is not type(None))
    origin = typing.get_origin(wanted) or wanted
    if origin is typing.Literal:
        if text not in typing.get_args(wanted):
            raise ValueError(f"{text!r} is none of {', '.join(map(str, typing.get_args(wanted)))}")
        return text
    if origin is tuple:
        return _read_list(typing.get_args(wanted)[0], text)
    readers: dict[Any, Callable[[str], Any]] = {int: whole, float: number, bool: truth, str: str}
    if origin in readers:
        return readers[origin](text)
    return parse_json(text)


def _read_component(known: dict[str, type[Component]], text: str) -> Any:
    if text.startswith("{"):
        return parse_json(text)
    if text not in known:
        raise ValueError(f"{text!r} is not a known {next(iter(known.values())).interface}{did_you_mean(text, known)}")
    return {"kind": text}


def _read_list(item: Any, text: str) -> list[Any]:
    """`128,64` and `[128,64]` are lists of two."""
    inside = text.strip().removeprefix("[").removesuffix("]")
    if item not in (int, float, str):
        return parse_json(text)
    return [read_value(item, part.strip()) for part in inside.split(",") if part.strip()]


def whole(text: str) -> int:
    """A count; 500_000 and 5e5 are accepted for 500000, and all digits of a long seed count."""
    for convert in (int, _whole_float):
        try:
            return convert(text)
        except (ValueError, OverflowError):
            continue
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")


def _whole_float(text: str) -> int:
    value = float(text)
    if value != int(value):
        raise ValueError(text)
    return int(value)


def number(text: str) -> float:
    try:
        value = float(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from problem
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text == "true"


# What is registered: answers are kept until there is more.
_Known = tuple[tuple[Any, ...], ...]


def _known() -> _Known:
    return tuple((name, *registered(base).values()) for name, base in INTERFACES.items())


def settings() -> Mapping[str, Setting]:
    """Every field by its path; if several components have it, the usual one's."""
    return _settings(_known())


@cache
def _settings(known: _Known) -> Mapping[str, Setting]:
    found: dict[str, Setting] = {}
    for setting in _declared(known):
        found.setdefault(setting.path, setting)
    return found


def declared_settings() -> tuple[Setting, ...]:
    """Every field of every registered component, at every place where it can stand."""
    return _declared(_known())


@cache
def _declared(known: _Known) -> tuple[Setting, ...]:
    return tuple(setting for setting in _walk(RunConfig, "", (), {}) if setting.path not in ASKED_FOR)


def _walk(
    cls: type, prefix: str, inside: tuple[type, ...], flags: dict[str, str], owner: str = "", usual: Any = None
) -> Iterator[Setting]:
    """Depth first. A component that contains its own interface is not entered twice.

    `owner` is the component that decides whether the fields exist; `usual` is the default component.
    """
    for field in stored_fields(cls):
        option = option_of(field)
        if option is None:
            continue
        annotation, path = type_hints(cls)[field.name], f"{prefix}{field.name}"
        default = getattr(usual, field.name) if isinstance(usual, cls) else _default(field)
        flag = flags.get(path) or option.flag
        yield Setting(path, annotation, option, flag, default, owner, f"{cls.__qualname__}.{field.name}")
        below = {**flags, **{f"{path}.{name}": flag for name, flag in option.flags.items()}}
        nodes = [*candidates(annotation).values(), *_plain_nodes(annotation)]
        # The usual component first: what others have in common with it keeps its default.
        for node in sorted(nodes, key=lambda node: not isinstance(default, node)):
            if node not in inside:
                inner = owner if owner and not owner.startswith("learner") else _owner(node) or owner
                yield from _walk(node, f"{path}.", (*inside, node), below, inner, default)


def _owner(cls: type) -> str:
    return f"{cls.interface} {cls.kind}" if issubclass(cls, Component) else ""


def _default(field: dataclasses.Field) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def _plain_nodes(annotation: Any) -> list[type]:
    return [
        option
        for option in alternatives(annotation)
        if isinstance(option, type) and dataclasses.is_dataclass(option) and not is_component(option)
    ]


def options() -> Mapping[str, Setting]:
    """The settings with a flag, by their Python keyword; an error if two fields claim one flag.

    A component that also stands inside another one keeps its flag for the outermost place.
    """
    return _options(_known())


@cache
def _options(known: _Known) -> Mapping[str, Setting]:
    found: dict[str, Setting] = {}
    for setting in sorted(_declared(known), key=lambda setting: setting.path.count(".")):
        if setting.flag is None:
            continue
        first = found.setdefault(setting.key, setting)
        if setting.flag in RESERVED or (first.path != setting.path and first.declared != setting.declared):
            other = "an option of the commands" if setting.flag in RESERVED else f"the option of {first.declared}"
            raise ChorusError(
                f"the flag --{setting.flag} of {setting.declared} is already {other}; give the field another flag"
            )
    place = {path: number for number, path in enumerate(_settings(known))}
    return dict(sorted(found.items(), key=lambda item: place[item[1].path]))


def find_setting(name: str) -> Setting:
    """By its flag or keyword (`--buffer-size`, `buffer_size`) or by its path; `agent.torso.kind` is `agent.torso`."""
    by_path, by_key = settings(), options()
    key, path = name.removeprefix("--").replace("-", "_"), name.removesuffix(".kind")
    if key in by_key:
        return by_key[key]
    for setting in by_key.values():
        if key in setting.option.aliases:
            return setting
    if path in by_path:
        # By its path a field is the same whichever component has it.
        return replace(by_path[path], flag=None)
    if (entry := _entry(path)) is not None:
        return entry
    if "." in name:
        raise ChorusError(f"the setting '{name}' is not known{did_you_mean(name, by_path)}")
    raise ChorusError(f"the option '{name}' is not known{did_you_mean(key, by_key)}")


def _entry(path: str) -> Setting | None:
    """An entry of a map, such as `evaluation.policies.individual`, or a field of one."""
    for setting in settings().values():
        if typing.get_origin(setting.annotation) is dict and path.startswith(f"{setting.path}."):
            name, _, field = path.removeprefix(f"{setting.path}.").partition(".")
            item = typing.get_args(setting.annotation)[1]
            entry = replace(setting, path=f"{setting.path}.{name}", annotation=item, flag=None, default=None)
            fields = [one for node in candidates(item).values() for one in _walk(node, f"{entry.path}.", (node,), {})]
            return entry if not field else next((one for one in fields if one.path == path), None)
    return None


def settings_in(config: RunConfig) -> dict[str, str | None]:
    """The paths that a configuration has, each with the flag that its own component declares."""
    return dict(_paths(config, "", {}))


def _paths(node: Any, prefix: str, flags: dict[str, str]) -> Iterator[tuple[str, str | None]]:
    if isinstance(node, dict):
        for name, item in node.items():
            yield f"{prefix}{name}", None
            yield from _paths(item, f"{prefix}{name}.", flags)
    if not dataclasses.is_dataclass(node):
        return
    for field in stored_fields(type(node)):
        option, path = option_of(field), f"{prefix}{field.name}"
        below = {**flags, **{f"{path}.{name}": flag for name, flag in (option.flags if option else {}).items()}}
        yield path, flags.get(path) or (option.flag if option else None)
        yield from _paths(getattr(node, field.name), f"{path}.", below)
