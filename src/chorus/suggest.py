"""The end of a sentence about an unknown name."""

import difflib
from collections.abc import Iterable


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like this one, if one is like it at all."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1)), None)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    known = sorted(known)
    hint = closest(name, known)
    return f"; did you mean '{hint}'?" if hint else f"; there are {', '.join(known)}"
