"""Configuration trees to JSON and back: the round trip is the identity, and every mistake is reported at once.

Nodes are frozen dataclasses. A `Component` carries its `kind`; everything else is told by its place in the tree.
"""

import dataclasses
import math
import re
import types
import typing
from functools import cache
from typing import Any

from chorus.components import Component
from chorus.errors import did_you_mean


@cache
def kind_of(cls: type) -> str:
    """`CrossOwn` is stored as `cross_own`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__).lower()


@cache
def stored_fields(cls: type) -> tuple[dataclasses.Field, ...]:
    return tuple(field for field in dataclasses.fields(cls) if field.metadata.get("stored", True))


@cache
def _type_hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def encode(value: Any) -> Any:
    """A JSON value."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        cls: type = type(value)
        body = {field.name: encode(getattr(value, field.name)) for field in stored_fields(cls)}
        return {"kind": kind_of(cls), **body} if isinstance(value, Component) else body
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    return value


def decode(annotation: Any, data: Any, path: str, problems: list[str]) -> Any:
    """The value that `data` describes; what does not fit is added to `problems` as a sentence."""
    options = _options(annotation)
    if data is None and type(None) in options:
        return None
    nodes = [option for option in options if dataclasses.is_dataclass(option)]
    if nodes:
        return _decode_node(nodes, data, path, problems)
    option = next(option for option in options if option is not type(None))
    origin = typing.get_origin(option)
    if origin is tuple and isinstance(data, list):
        item = typing.get_args(option)[0]
        return tuple(decode(item, entry, f"{path}[{i}]", problems) for i, entry in enumerate(data))
    if origin is dict and isinstance(data, dict):
        item = typing.get_args(option)[1]
        return {key: decode(item, entry, f"{path}.{key}", problems) for key, entry in data.items()}
    return _decode_leaf(option, data, path, problems)


def _options(annotation: Any) -> tuple[Any, ...]:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def _decode_leaf(option: Any, data: Any, path: str, problems: list[str]) -> Any:
    wanted = typing.get_origin(option) or option
    if wanted is typing.Literal:
        allowed = typing.get_args(option)
        if data not in allowed:
            problems.append(f"{path} is {data!r}; it must be one of {', '.join(map(str, allowed))}")
        return data
    if wanted is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if wanted is float and isinstance(data, float) and not math.isfinite(data):
        problems.append(f"{path} is {data!r}; it must be a finite number")
    if not isinstance(data, wanted) or (wanted in (int, float) and isinstance(data, bool)):
        problems.append(f"{path} is {data!r}; it must be of type {wanted.__name__}")
    return data


def _decode_node(nodes: list[Any], data: Any, path: str, problems: list[str]) -> Any:
    if not isinstance(data, dict):
        problems.append(f"{path} is {data!r}; it must be an object")
        return None
    cls, known_problems = nodes[0], len(problems)
    given = dict(data)
    if issubclass(cls, Component):
        by_kind = {kind_of(node): node for node in nodes}
        kind = given.pop("kind", None)
        if not isinstance(kind, str) or kind not in by_kind:
            problems.append(f"{path}.kind is {kind!r}; it must be one of {', '.join(sorted(by_kind))}")
            return None
        cls = by_kind[kind]
    fields = {field.name: field for field in stored_fields(cls)}
    for name in sorted(given.keys() - fields.keys()):
        problems.append(f"{path}.{name} is not known{did_you_mean(name, fields)}")
    hints = _type_hints(cls)
    values = {}
    for name, field in fields.items():
        if name in given:
            values[name] = decode(hints[name], given[name], f"{path}.{name}", problems)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            problems.append(f"{path}.{name} is missing")
    # Nothing is built from values that do not fit; whoever asked reports the problems.
    return cls(**values) if len(problems) == known_problems else None


def merge(
    base: dict[str, Any], change: dict[str, Any], whole: frozenset[str] = frozenset(), prefix: str = ""
) -> dict[str, Any]:
    """`change` laid over `base`, object by object; another `kind` replaces the whole value, as do paths in `whole`."""
    merged = dict(base)
    for name, value in change.items():
        old = base.get(name)
        path = f"{prefix}{name}"
        if isinstance(old, dict) and isinstance(value, dict) and path not in whole:
            same_kind = value.get("kind", old.get("kind")) == old.get("kind")
            merged[name] = merge(old, value, whole, f"{path}.") if same_kind else value
        else:
            merged[name] = value
    return merged
