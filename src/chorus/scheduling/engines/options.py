"""Options that belong to one engine, as data: the command line and Python read them from here."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class EngineOption:
    """An option that one engine has; `read` turns its text into a value or raises a ChorusError.

    An option that takes `several` texts has a list of values.
    """

    name: str
    metavar: str
    help: str
    read: Callable[[str], Any] = str
    several: bool = False

    @property
    def key(self) -> str:
        """Its name in Python."""
        return self.name.replace("-", "_")

    def value(self, given: Any) -> Any:
        return [self.read(text) for text in given] if self.several else self.read(given)
