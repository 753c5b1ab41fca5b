"""Files that are never seen half written, and JSON trees as dotted names. Free of JAX."""

import json
import os
import re
from pathlib import Path
from typing import Any


def write_json(path: Path, value: Any) -> None:
    """Written like `write_text`. NaN is refused."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write atomically: to a temporary file, synced and renamed. The folder must exist."""
    aside = path.with_name(f".{path.name}.writing")
    with aside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    sync_directory(path.parent)


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def read_json_or_yaml(path: Path) -> Any:
    """A JSON file, or a YAML file if its name ends in .yaml or .yml; a ValueError if it is neither."""
    if path.suffix not in (".yaml", ".yml"):
        return read_json(path)
    import yaml

    class Loader(yaml.SafeLoader):
        """Reads 1e-4 as a number; YAML 1.1 would ask for 1.0e-4."""

    exponent = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$")
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", exponent, list("-+0123456789"))
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader)
    except yaml.YAMLError as problem:
        raise ValueError(" ".join(str(problem).split())) from problem


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
    """Bring renames in a directory to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def whole_lines(path: Path) -> int:
    """Number of bytes up to the last complete line; a killed process may have left half a line."""
    return path.read_bytes().rfind(b"\n") + 1


class JsonLines:
    """An append-only file with one strict JSON record per line."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")

    def write(self, record: dict[str, Any]) -> None:
        self._file.write(json.dumps(record, allow_nan=False) + "\n")

    def flush(self) -> None:
        self._file.flush()

    def sync(self) -> int:
        """Bring everything written to disk; returns the length of the file."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        self._file.close()
