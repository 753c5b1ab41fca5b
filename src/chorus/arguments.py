"""Arguments of the Python interface, read as the command line reads its options: wrong ones become sentences."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import flax.linen as nn
import numpy as np

from chorus.config.options import find_setting, whole
from chorus.errors import ChorusError

# In bytes; the limit of Linux and macOS for one part of a path.
_LONGEST_NAME = 255


def plain(value: Any) -> Any:
    """As JSON would have it: NumPy's numbers, arrays and tuples become numbers and lists."""
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def whole_number(name: str, value: Any, least: int | None = None) -> int:
    """A whole number: 100, 1e2 and "1e2" are the same."""
    given = plain(value)
    try:
        if not isinstance(given, int | float | str) or isinstance(given, bool):
            raise ValueError
        number = whole(str(given))
    except Exception as problem:
        raise ChorusError(f"{name} is {value!r}; it must be a whole number") from problem
    if least is not None and number < least:
        raise ChorusError(f"{name} is {number}; it must {'not be negative' if least == 0 else f'be at least {least}'}")
    return number


def read_options(options: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    """Options of a run by name: texts are read. What cannot be read is added to `problems`."""
    found: dict[str, Any] = {}
    for name, given in options.items():
        value = plain(given)
        try:
            setting = find_setting(name)
            if setting.key in found:
                raise ChorusError(f"{setting.key} is given twice; leave one out")
            found[setting.key] = read_value(name, value)
        except ChorusError as problem:
            problems.append(str(problem))
    return found


def read_value(name: str, value: Any) -> Any:
    """The value of one option."""
    if not isinstance(value, str):
        return value
    try:
        return find_setting(name).read(value)
    except ChorusError:
        raise
    except Exception as problem:
        raise ChorusError(f"{name} is {value!r}, which cannot be read: {problem}") from problem


def as_path(name: str, value: Any) -> Path:
    if not isinstance(value, str | Path) or not str(value) or "\0" in str(value):
        raise ChorusError(f"{name} is {value!r}; it must be a path")
    longest = max((len(os.fsencode(part)) for part in Path(value).parts), default=0)
    if longest > _LONGEST_NAME:
        raise ChorusError(f"{name} has a name of {longest} bytes; file systems allow {_LONGEST_NAME}")
    return Path(value)


def check_flags(**flags: Any) -> None:
    wrong = [
        f"{name} is {value!r}; it must be True or False" for name, value in flags.items() if type(value) is not bool
    ]
    if wrong:
        raise ChorusError("; ".join(wrong))


def check_functions(**functions: Any) -> None:
    for name, function in functions.items():
        if function is not None and not callable(function):
            raise ChorusError(f"{name} is {function!r}; it must be a function of one record")


def check_torso(torso: Any) -> None:
    modules = torso if isinstance(torso, tuple) else (torso,)
    if torso is not None and (not modules or not all(isinstance(one, nn.Module) for one in modules)):
        raise ChorusError(f"torso is {torso!r}; it must be a flax module, or a tuple of modules, one per layer")
