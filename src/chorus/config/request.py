"""What a user asks for, before anything is looked up; here only its types are checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any

from chorus.config.schema import Hyperparameters, Scale
from chorus.errors import ChorusError
from chorus.networks.torsos import CustomTorso

_TEXT = ((str, NoneType), "text")
_FLAG = ((bool,), "true or false")
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "preset": _TEXT,
    "env": _TEXT,
    "seed": ((int, NoneType), "a whole number"),
    "scale": _TEXT,
    "hyperparameters": _TEXT,
    "file": ((Path, Mapping, NoneType), "a path or a mapping"),
    "options": ((Mapping,), "a mapping of names to values"),
    "eval_members": _FLAG,
    "torso": ((CustomTorso, NoneType), "a torso"),
    "swept": ((tuple,), "a tuple of names"),
    "study": _TEXT,
    "problems": ((tuple,), "a tuple of sentences"),
}


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a user asks for; `options` maps keywords (`learning_rate`) or paths (`agent.torso.dense`) to values.

    `swept` names the options that a sweep or study varies, `study` the study that asks.
    """

    preset: str | None = None
    env: str | None = None
    seed: int | None = None
    scale: Scale | None = None
    hyperparameters: Hyperparameters | None = None
    file: Path | Mapping[str, Any] | None = None
    """A configuration file or its content, laid over the preset."""
    options: Mapping[str, Any] = field(default_factory=dict)
    eval_members: bool = False
    torso: CustomTorso | None = None
    swept: tuple[str, ...] = ()
    study: str | None = None
    problems: tuple[str, ...] = ()
    """Sentences about input that could not be read; reported with everything else that is wrong."""

    @property
    def origin(self) -> str:
        """What sentences call the configuration that was given."""
        return str(self.file) if isinstance(self.file, Path) else "config"

    def __post_init__(self) -> None:
        wrong = [
            f"{name} is {value!r}; it must be {words}"
            for name, (kinds, words) in _TYPES.items()
            if not isinstance(value := getattr(self, name), kinds) or (name == "seed" and isinstance(value, bool))
        ]
        if not wrong:
            wrong = [f"the option {name!r} is no text; give its name" for name in self.options if type(name) is not str]
        if wrong:
            raise ChorusError("; ".join(wrong))
