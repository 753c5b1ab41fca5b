"""What a page is composed of: sections of panels, each with a figure."""

from collections.abc import Iterable
from dataclasses import dataclass

from chorus.analysis.figures import Drawing


@dataclass(frozen=True)
class Panel:
    """A figure on a page; the panel of a single environment is hidden with that environment."""

    name: str
    title: str
    drawing: Drawing
    env: str | None = None
    narrow: Drawing | None = None
    """The same data for the width of a phone, where the drawing has several panels side by side."""
    full: bool = False
    """Whether the panel takes the full width of the page."""


@dataclass(frozen=True)
class Section:
    """A heading, an introduction and panels."""

    name: str
    title: str
    intro: str
    panels: list[Panel]
    small: bool = False  # many small panels side by side


# Name, title and drawing; None if the runs do not allow it.
Drawn = tuple[str, str, Drawing | None]


def make_panels(drawn: Iterable[Drawn]) -> list[Panel]:
    return [Panel(name, title, drawing) for name, title, drawing in drawn if drawing is not None]
