"""Runs of one configuration in one process of the tests share their traced programs (`chorus.runs.programs`).

Processes that tests start make their own, and so do tests that replace parts of the library.
"""

import sys
from functools import cache


class Sharing:
    """Whether the test under way takes programs of others and leaves its own to them."""

    allowed = True


def share(allowed: bool) -> None:
    """To be called before each test; has an effect once runs can be made in this process."""
    Sharing.allowed = allowed
    if "chorus.runs.assembly" in sys.modules:
        _share()


@cache
def _share() -> None:
    from chorus.runs.assembly import Assembly
    from chorus.runs.programs import ProgramCache

    make, programs = Assembly.of, ProgramCache()
    Assembly.of = staticmethod(
        lambda config, given=None: make(config, given or (programs if Sharing.allowed else None))
    )
