"""Configuration trees to JSON and back: the round trip is the identity, and every mistake is reported at once.

Nodes are frozen dataclasses. A `Component` carries its `kind`; everything else is told by its place in the tree.
"""

import dataclasses
import math
import types
import typing
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from chorus.components import Component, option_of, registered
from chorus.errors import did_you_mean

LARGEST_INTEGER = 2**62
"""Counts are 64-bit integers in arrays, with room to add to them."""


def stored_fields(cls: Any) -> tuple[dataclasses.Field, ...]:
    return _stored_fields(cls)


@cache
def _stored_fields(cls: Any) -> tuple[dataclasses.Field, ...]:
    return tuple(field for field in dataclasses.fields(cls) if field.metadata.get("stored", True))


@cache
def type_hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def alternatives(annotation: Any) -> tuple[Any, ...]:
    """The members of a union, or the annotation itself."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return typing.get_args(annotation)
    return (annotation,)


def is_component(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Component)


def candidates(annotation: Any) -> dict[str, type[Component]]:
    """The registered components that fit an annotation, by kind; none if it is for something else."""
    found: dict[str, type[Component]] = {}
    for option in alternatives(annotation):
        if is_component(option):
            found |= registered(option)
    return found


# Nearly all values of a tree are of these types, and studies encode millions of them.
_PLAIN = (str, int, float, type(None))


def encode(value: Any, *, for_name: bool = False) -> Any:
    """A JSON value; `for_name` leaves out the defaults that do not count in a configuration's name."""
    if isinstance(value, _PLAIN):
        return value
    again = partial(encode, for_name=for_name)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field for field in stored_fields(type(value)) if not (for_name and _is_unnamed(field, value))]
        body = {field.name: again(getattr(value, field.name)) for field in fields}
        return {"kind": value.kind, **body} if isinstance(value, Component) else body
    if isinstance(value, tuple | list):
        return [again(item) for item in value]
    if isinstance(value, dict):
        return {key: again(item) for key, item in value.items()}
    return value


def _is_unnamed(field: dataclasses.Field, node: Any) -> bool:
    option = option_of(field)
    return option is not None and not option.named and getattr(node, field.name) == field.default


def decode(annotation: Any, data: Any, path: str, problems: list[str]) -> Any:
    """The value that `data` describes; what does not fit is added to `problems` as a sentence."""
    options = alternatives(annotation)
    if data is None and type(None) in options:
        return None
    if any(is_component(option) for option in options):
        return _decode_component(annotation, data, path, problems)
    node = next((option for option in options if isinstance(option, type) and dataclasses.is_dataclass(option)), None)
    if node is not None:
        return _decode_node(node, data, path, problems)
    option = next(option for option in options if option is not type(None))
    origin = typing.get_origin(option)
    if origin is tuple and isinstance(data, list):
        item = typing.get_args(option)[0]
        return tuple(decode(item, entry, f"{path}[{i}]", problems) for i, entry in enumerate(data))
    if origin is dict and isinstance(data, dict):
        item = typing.get_args(option)[1]
        return {key: decode(item, entry, f"{path}.{key}", problems) for key, entry in data.items()}
    return _decode_leaf(option, data, path, problems)


def _decode_leaf(option: Any, data: Any, path: str, problems: list[str]) -> Any:
    wanted = typing.get_origin(option) or option
    if wanted is typing.Literal:
        allowed = typing.get_args(option)
        if data not in allowed:
            problems.append(f"{path} is {data!r}; it must be one of {', '.join(map(str, allowed))}")
        return data
    if isinstance(data, int) and abs(data) > LARGEST_INTEGER:
        # Python refuses to print integers of more than 4,300 digits.
        problems.append(f"{path} is about 2**{data.bit_length()}; it must be at most 2**62")
        return data
    if wanted is float and isinstance(data, int) and not isinstance(data, bool):
        return float(data)
    if wanted is int and isinstance(data, float) and data.is_integer() and abs(data) <= LARGEST_INTEGER:
        # As written by hand: 1e5 steps.
        return int(data)
    if wanted is float and isinstance(data, float) and not math.isfinite(data):
        problems.append(f"{path} is {data!r}; it must be a finite number")
    if not isinstance(data, wanted) or (wanted in (int, float) and isinstance(data, bool)):
        problems.append(f"{path} is {data!r}; it must be of type {wanted.__name__}")
    return data


def _decode_component(annotation: Any, data: Any, path: str, problems: list[str]) -> Any:
    data = {"kind": data} if isinstance(data, str) else data
    if not isinstance(data, dict):
        problems.append(f"{path} is {data!r}; it must be an object, or the kind of a component")
        return None
    known = candidates(annotation)
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in known:
        problems.append(
            f"{path}.kind is {kind!r}; it must be one of {', '.join(sorted(known))} (a component of your own needs its "
            "--plugin)"
        )
        return None
    return _decode_node(known[kind], {name: value for name, value in data.items() if name != "kind"}, path, problems)


def _decode_node(cls: type, data: Any, path: str, problems: list[str]) -> Any:
    if not isinstance(data, dict):
        problems.append(f"{path} is {data!r}; it must be an object")
        return None
    known_problems = len(problems)
    fields = {field.name: field for field in stored_fields(cls)}
    for name in sorted(data.keys() - fields.keys(), key=str):
        problems.append(f"{path}.{name} is not known{did_you_mean(str(name), fields)}")
    hints = type_hints(cls)
    values = {}
    for name, field in fields.items():
        if name in data:
            values[name] = decode(hints[name], data[name], f"{path}.{name}", problems)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            problems.append(f"{path}.{name} is missing")
    # Nothing is built from values that do not fit; the caller reports the problems.
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


def nodes(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every dataclass of a configuration with its path, the outermost first."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield path, value
        for field in stored_fields(type(value)):
            yield from nodes(getattr(value, field.name), f"{path}.{field.name}" if path else field.name)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from nodes(item, f"{path}.{name}")
