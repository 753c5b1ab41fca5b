"""Which seeds to run: `5` are the first five, `0-9` ten, `3,5,8` these three.

The first seed is 0, unless `first` says otherwise.
"""

import argparse
import contextlib
import re
from collections.abc import Sequence
from typing import Any

from chorus.config.options import whole
from chorus.errors import ChorusError

# More of them are a slip of the finger.
_MOST = 100_000


def read_seeds(name: str, given: int | str | Sequence[int], first: int = 0) -> tuple[int, ...]:
    """The seeds in rising order, each once; `name` is the option that gives them."""
    if isinstance(given, bool) or not isinstance(given, int | str | Sequence):
        raise _wrong(name, given)
    if isinstance(given, int):
        return tuple(range(first, first + _counted(name, given)))
    if isinstance(given, str):
        found = _read(name, given, first)
    else:
        found = list(given)
        if not found or not all(isinstance(seed, int) and not isinstance(seed, bool) for seed in found):
            raise _wrong(name, given)
    if any(seed < 0 for seed in found):
        raise ChorusError(f"{name} has {min(found)}; seeds must not be negative")
    return tuple(sorted(set(found)))


def _read(name: str, text: str, start: int) -> list[int]:
    with contextlib.suppress(argparse.ArgumentTypeError):
        return list(range(start, start + _counted(name, whole(text))))
    found: list[int] = []
    for part in text.split(","):
        ends = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if ends is None:
            raise _wrong(name, text)
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if last < first or last - first >= _MOST:
            raise _wrong(name, text)
        found += range(first, last + 1)
    return found


def _counted(name: str, count: int) -> int:
    if not 1 <= count <= _MOST:
        raise ChorusError(
            f"{name} is {count}; it must be at least 1" + (f" and at most {_MOST:,}" if count > 1 else "")
        )
    return count


def _wrong(name: str, given: Any) -> ChorusError:
    return ChorusError(f"{name} is {given!r}; give a number of seeds (5), a range (0-9), or a list (3,5,8)")


def seeds_in_words(seeds: Sequence[int], first: int = 0) -> str:
    """As they would be given: 5 for the first five, 3-7 or 3,5,8."""
    if tuple(seeds) == tuple(range(first, first + len(seeds))):
        return str(len(seeds))
    if tuple(seeds) == tuple(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]}-{seeds[-1]}"
    return ",".join(map(str, seeds))
