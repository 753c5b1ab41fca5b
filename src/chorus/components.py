"""Components: the interchangeable parts of a configuration, open to anyone.

An interface (value map, loss, acting rule, ...) is a class that names itself: `class Sampler(Component,
interface="sampler")`. A component is a frozen dataclass below an interface, registered under a name:

    @register
    @dataclass(frozen=True, kw_only=True)
    class Tandem(ActingRule):
        passive_share: float = option(0.1, flag="passive-share", unit="P", within=SHARE, help="...")

Its fields carry their own options: flag, unit, range and help. The parser, the range checks, `--set`, the help and the
documentation are generated from them. The package's own components are registered in the same way as a user's.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, overload

from chorus.errors import ChorusError

Registered = TypeVar("Registered", bound=type["Component"])


@dataclass(frozen=True)
class Range:
    """The numbers an option may have; `text` completes the sentence "it must ..."."""

    text: str
    low: float = float("-inf")
    high: float = float("inf")
    low_open: bool = False
    high_open: bool = False

    def holds(self, value: float) -> bool:
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return above and below


AT_LEAST_1 = Range("be at least 1", low=1)
POSITIVE = Range("be positive", low=0, low_open=True)
NOT_NEGATIVE = Range("not be negative", low=0)
SHARE = Range("lie between 0 and 1", low=0, high=1)
BELOW_1 = Range("be at least 0 and below 1", low=0, high=1, high_open=True)
ABOVE_0 = Range("be above 0 and at most 1", low=0, low_open=True, high=1)


@dataclass(frozen=True, kw_only=True)
class Option:
    """What a field of the configuration says about itself."""

    help: str
    flag: str | None = None
    """Name on the command line, without the dashes; a field without one is reached by its path."""
    aliases: tuple[str, ...] = ()
    """Other names of the flag, without the dashes."""
    unit: str | None = None
    """What the number counts, as the help shows it: STEPS, N, RATE."""
    within: Range | None = None
    label: str | None = None
    """How a figure's legend writes a value: "N={}"."""
    axis: str | None = None
    """How a figure's axis names it when it is swept."""
    log_axis: bool = False
    named: bool = True
    """Whether its default counts in a configuration's name. It does not where runs existed before the option did, so
    that they keep their names."""
    also: tuple[str, ...] = ()
    """Paths that are set together with this one."""
    flags: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Flags of fields below this one: relative path -> flag."""


def option(
    default: Any = dataclasses.MISSING,
    *,
    default_factory: Any = dataclasses.MISSING,
    help: str,
    **about: Any,
) -> Any:
    """A dataclass field that declares its option."""
    metadata = {"option": Option(help=help, **about)}
    if default_factory is not dataclasses.MISSING:
        return dataclasses.field(default_factory=default_factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def option_of(field: dataclasses.Field) -> Option | None:
    return field.metadata.get("option")


class Component:
    """Base class of interchangeable configuration components."""

    interface: ClassVar[str] = ""
    kind: ClassVar[str] = ""
    """The name it is registered under, stored in configuration files."""
    title: ClassVar[str] = ""
    """What figures and reports call it; its kind if empty."""

    def __init_subclass__(cls, interface: str | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        # Inherited by the next class down otherwise, which is not registered yet.
        cls.kind = ""
        if interface is not None:
            cls.interface = interface
            INTERFACES[interface] = cls
            _REGISTRIES[interface] = {}

    def problems(self, config: Any, spec: Any) -> Iterable[str]:
        """Sentences about what makes no sense in this run: `config` is the whole RunConfig, `spec` the EnvSpec.

        Ranges of single numbers belong to their options; they are checked first, and this is called only if they hold.
        """
        return ()


INTERFACES: dict[str, type[Component]] = {}
_REGISTRIES: dict[str, dict[str, type[Component]]] = {}


@overload
def register(component: Registered) -> Registered: ...
@overload
def register(*, name: str) -> Any: ...
def register(component: Any = None, *, name: str | None = None) -> Any:
    """Make a component known under a name, by default its class name in snake case."""
    if component is None:
        return lambda cls: _register(cls, name)
    return _register(component, name)


def _register(cls: type[Component], name: str | None) -> type[Component]:
    if not (isinstance(cls, type) and issubclass(cls, Component) and cls.interface):
        raise ChorusError(
            f"{cls!r} cannot be registered: it must derive from one of {', '.join(sorted(INTERFACES))} "
            "(chorus.extend names their classes)"
        )
    if not (dataclasses.is_dataclass(cls) and cls.__dataclass_params__.frozen):
        raise ChorusError(f"{cls.__qualname__} cannot be registered: decorate it with @dataclass(frozen=True) first")
    kind = name or snake_case(cls.__name__)
    registry = _REGISTRIES[cls.interface]
    known = registry.get(kind)
    # The same class again is a module that was reloaded.
    if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ChorusError(
            f"the {cls.interface} '{kind}' is registered twice, by {known.__module__}.{known.__qualname__} and by "
            f"{cls.__module__}.{cls.__qualname__}; give one of them another name"
        )
    cls.kind = kind
    cls.title = cls.__dict__.get("title") or kind.replace("_", " ")
    registry[kind] = cls
    return cls


def snake_case(name: str) -> str:
    """`CrossOwn` as `cross_own`, `MLPTorso` as `mlp_torso`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def registered(base: type[Component]) -> dict[str, type[Component]]:
    """The components of an interface, by kind; of a class below one, those that derive from it."""
    return {kind: cls for kind, cls in _REGISTRIES.get(base.interface, {}).items() if issubclass(cls, base)}


def short_number(value: Any) -> str:
    """250000 as 250k, 4000000 as 4M; anything that is no number as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}"
    return f"{value:g}"
