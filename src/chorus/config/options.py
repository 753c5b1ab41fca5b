"""Every field of the configuration as an option, generated from the schema and the registered components.

A field is reached by its dotted path (`agent.torso.dense`); those that declare a flag also by that (`--members`).
"""

import argparse
import dataclasses
import json
import math
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from chorus.components import INTERFACES, Component, Option, option_of, registered
from chorus.config.codec import alternatives, candidates, is_component, stored_fields, type_hints
from chorus.config.schema import RunConfig
from chorus.errors import ChorusError, did_you_mean

# What decides on everything else, and has options of its own in every command.
_ASKED_FOR = frozenset({"preset", "scale", "hyperparameters", "seed", "env.id"})


@dataclass(frozen=True)
class Setting:
    """One field of the configuration, as it can be set."""

    path: str
    annotation: Any
    option: Option
    flag: str | None
    default: Any
    owners: tuple[str, ...]
    """The components that have this field, as `acting rule tandem`; empty where every configuration has it."""

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
        return _read_component(annotation, known, text)
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
    return json.loads(text)


def _read_component(annotation: Any, known: dict[str, type[Component]], text: str) -> Any:
    if text.startswith("{"):
        return json.loads(text)
    if text not in known:
        raise ValueError(f"{text!r} is not a known {next(iter(known.values())).interface}{did_you_mean(text, known)}")
    return {"kind": text}


def _read_list(item: Any, text: str) -> list[Any]:
    """`128,64` and `[128,64]` are lists of two."""
    inside = text.strip().removeprefix("[").removesuffix("]")
    if item not in (int, float, str):
        return json.loads(text)
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


def settings() -> dict[str, Setting]:
    """Every field by its path; components registered since the last call are included."""
    return _settings(tuple((name, *registered(base)) for name, base in INTERFACES.items()))


@cache
def _settings(known: tuple[tuple[str, ...], ...]) -> dict[str, Setting]:
    """`known` is what was registered: another answer once there is more."""
    found: dict[str, Setting] = {}
    for setting in _walk(RunConfig, "", (), {}):
        earlier = found.get(setting.path)
        if earlier is not None:
            setting = dataclasses.replace(earlier, owners=tuple(dict.fromkeys((*earlier.owners, *setting.owners))))
        found[setting.path] = setting
    return {path: setting for path, setting in found.items() if path not in _ASKED_FOR}


def _walk(
    cls: type,
    prefix: str,
    inside: tuple[type, ...],
    flags: dict[str, str],
    owner: tuple[str, ...] = (),
    usual: Any = None,
) -> Iterator[Setting]:
    """Depth first. A component that contains its own interface is not entered twice.

    `owner` is the component that decides whether the fields are there at all; `usual` is the value that stands there if
    nothing is said.
    """
    for field in stored_fields(cls):
        option = option_of(field)
        if option is None:
            continue
        annotation, path = type_hints(cls)[field.name], f"{prefix}{field.name}"
        default = getattr(usual, field.name) if isinstance(usual, cls) else _default(field)
        flag = flags.get(path) or option.flag
        yield Setting(path, annotation, option, flag, default, owner)
        below = {**flags, **{f"{path}.{name}": flag for name, flag in option.flags.items()}}
        nodes = [*candidates(annotation).values(), *_plain_nodes(annotation)]
        # The usual component first: what others have in common with it keeps its default.
        for node in sorted(nodes, key=lambda node: not isinstance(default, node)):
            if node not in inside:
                inner = owner if owner and not owner[0].startswith("learner") else _owner(node) or owner
                yield from _walk(node, f"{path}.", (*inside, node), below, inner, default)


def _owner(cls: type) -> tuple[str, ...]:
    return (f"{cls.interface} {cls.kind}",) if issubclass(cls, Component) else ()


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


def options() -> dict[str, Setting]:
    """The settings with a flag, by their Python keyword."""
    return {setting.key: setting for setting in settings().values() if setting.flag}


def find_setting(name: str) -> Setting:
    """By its flag or keyword (`--buffer-size`, `buffer_size`) or by its path."""
    if "." in name:
        if name in settings():
            return settings()[name]
        raise ChorusError(f"the setting '{name}' is not known{did_you_mean(name, settings())}")
    key = name.removeprefix("--").replace("-", "_")
    if key not in options():
        raise ChorusError(f"the option '{name}' is not known{did_you_mean(key, options())}")
    return options()[key]


def path_name(path: str) -> str:
    """What a message calls the field at this path."""
    found = settings().get(path)
    return found.name if found else {"seed": "--seed"}.get(path, path)
