"""Counts in words."""


def many(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count != 1 else ''}"
