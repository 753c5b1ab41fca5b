"""The exception and the warning a user is meant to read: a sentence with the offending value and the remedy."""

import difflib
import warnings
from collections.abc import Iterable


class ChorusError(Exception):
    """Wrong input or an unusable run; the command line prints it and exits with code 2."""


class ChorusWarning(UserWarning):
    """Something is wrong and the work goes on; the command line prints it as a note, also with --quiet."""


# By default Python shows a warning once per line of code. Every run with damage shall be named, at every attempt; a
# filter of the user's own comes first.
warnings.simplefilter("always", ChorusWarning, append=True)


def warn(sentence: str) -> None:
    warnings.warn(sentence, ChorusWarning, stacklevel=3)


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like this one, if one is like it at all."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1)), None)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    known = sorted(known)
    hint = closest(name, known)
    return f"; did you mean '{hint}'?" if hint else f"; there are {', '.join(known) or 'none'}"
