"""Sentences on a terminal, broken between words. Elsewhere, and in what people copy, lines stay as they are."""

import re
import shutil
import sys
import textwrap
from typing import TextIO

_QUOTED = re.compile(r"`[^`]*`")
# No place for a break, unlike a space.
_GLUE = "\N{NO-BREAK SPACE}"


def wrap(text: str, width: int) -> str:
    """Lines of at most this width; what is in backquotes and words that are longer, such as paths, stay whole."""
    glued = _QUOTED.sub(lambda found: found[0].replace(" ", _GLUE), text)
    lines = (
        textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False, subsequent_indent=_indent(line))
        for line in glued.split("\n")
    )
    return "\n".join(lines).replace(_GLUE, " ")


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def say(text: str, stream: TextIO | None = None) -> None:
    """Print sentences, at once; standard output unless another stream is given."""
    stream = stream or sys.stdout
    lines = wrap(text, shutil.get_terminal_size().columns) if stream.isatty() else text.replace(_GLUE, " ")
    print(lines, file=stream, flush=True)


def unbroken(command: str) -> str:
    """A command for a sentence of `say`, without a line break in it, so that it can be copied."""
    return command.replace(" ", _GLUE)


def say_next(command: str, meaning: str = "") -> None:
    """What to type next, whole so that it can be copied, and what it does: behind it, or below if that does not fit."""
    line = f"next: {command}" + (f"      {meaning}" if meaning else "")
    width = shutil.get_terminal_size().columns
    if sys.stdout.isatty() and len(line) > width and meaning:
        line = f"next: {command}\n{wrap('      ' + meaning, width)}"
    print(line)
