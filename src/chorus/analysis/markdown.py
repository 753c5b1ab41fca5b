"""Tables of Markdown pages, and the marked places of a page that scripts fill."""

import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A vertical bar would end a cell, so cells have slashes instead."""
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in (head, _rule(head), *rows))


def _rule(head: Sequence[str]) -> list[str]:
    return ["---"] * len(head)


def fill(text: str, mark: str, content: str) -> str:
    """The text with new content between `<!-- MARK:begin -->` and `<!-- MARK:end -->`."""
    begin, end = f"<!-- {mark}:begin -->\n", f"<!-- {mark}:end -->"
    new, count = re.subn(f"{begin}.*?{end}", lambda _: f"{begin}{content}{end}", text, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"the page has {count} places marked {mark}; it must have one")
    return new
