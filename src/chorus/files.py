"""JSON on disk: files that are never seen half written, and trees as dotted names. Free of JAX."""

import json
import os
from pathlib import Path
from typing import Any


def write_json(path: Path, value: Any) -> None:
    """Atomically: written aside, brought to disk, renamed. NaN is refused, not written."""
    text = json.dumps(value, indent=2, allow_nan=False) + "\n"
    aside = path.with_name(f".{path.name}.writing")
    with aside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    sync_directory(path.parent)


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def flatten(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """`{"agent": {"members": 3}}` becomes `{"agent.members": 3}`; lists and empty objects are leaves."""
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def sync_directory(path: Path) -> None:
    """Renames reach the disk only with their directory."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def whole_lines(path: Path) -> int:
    """How many bytes of a file are whole lines; a process that was killed may have left half of one."""
    return path.read_bytes().rfind(b"\n") + 1


class JsonLines:
    """An append-only file, one strict JSON record a line."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")

    def write(self, record: dict[str, Any]) -> None:
        self._file.write(json.dumps(record, allow_nan=False) + "\n")

    def flush(self) -> None:
        self._file.flush()

    def sync(self) -> int:
        """Bring what was written to disk and say how long the file is."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
