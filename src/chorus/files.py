"""Files that are never seen half written, and JSON trees as dotted names. Free of JAX."""

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

_ASIDE = ".writing"


def discard_unfinished(directory: Path) -> None:
    """Remove what killed processes left of files that they were writing."""
    for path in filter(is_unfinished, directory.iterdir()):
        path.unlink(missing_ok=True)


def is_unfinished(path: Path) -> bool:
    """Whether this is the temporary name of a file that is being written."""
    return path.name.startswith(".") and path.name.endswith(_ASIDE) and not path.is_dir()


def write_json(path: Path, value: Any) -> None:
    """Written like `write_text`. NaN is refused."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write atomically: to a temporary file, synced and renamed. The folder must exist."""
    with replacing(path) as file:
        file.write(text.encode())


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` once it is written; after an error the old one is still there.

    A link stays a link to the new file, and what is no file (/dev/null, a pipe) is written to as it is.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    aside = path.with_name(f".{path.name}.{os.getpid()}{_ASIDE}")
    try:
        # Never written through, should it be a link.
        aside.unlink(missing_ok=True)
        with aside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_disk_full(problem: BaseException) -> bool:
    """Whether an error says that no space, no file or no quota is left, or that a limit of file sizes was reached;
    safetensors says so in words only."""
    full = isinstance(problem, OSError) and problem.errno in _FULL
    return full or any(f"(os error {number})" in str(problem) for number in _FULL)


def parse_json(text: str | bytes, **options: Any) -> Any:
    """Like `json.loads`; nesting deeper than Python's stack is a ValueError, too."""
    try:
        return json.loads(text, **options)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_json(path: Path) -> Any:
    return parse_json(path.read_text(encoding="utf-8"))


def check_regular(path: Path) -> None:
    """Raise a ValueError for a pipe or a device, which may never end. What is missing or a folder fails when read."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError(f"{path.name} is a pipe or a device, not a file")


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
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


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


def is_alive(process: int) -> bool:
    """Whether a process of this machine still runs."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def whole_lines(path: Path) -> int:
    """Number of bytes up to the last complete line; a killed process may have left half a line."""
    return path.read_bytes().rfind(b"\n") + 1


def file_digest(path: Path, length: int | None = None) -> str:
    """SHA-256 of a file, or of its first `length` bytes."""
    check_regular(path)
    with path.open("rb") as file:
        if length is None:
            return hashlib.file_digest(file, "sha256").hexdigest()
        total = hashlib.sha256()
        while length and (part := file.read(min(length, 2**20))):
            total.update(part)
            length -= len(part)
        return total.hexdigest()


def json_digest(value: Any) -> str:
    """SHA-256 of a JSON value, however it is formatted."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


class LogMark(NamedTuple):
    """The length of a log at a checkpoint, and a hash of everything before it."""

    bytes: int
    sha256: str


class JsonLines:
    """An append-only file with one strict JSON record per line."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a+b")
        self._file.seek(0)
        self._digest = hashlib.file_digest(self._file, "sha256")

    def write(self, record: dict[str, Any]) -> None:
        line = (json.dumps(record, allow_nan=False) + "\n").encode()
        self._file.write(line)
        self._digest.update(line)

    def flush(self) -> None:
        self._file.flush()

    def sync(self) -> LogMark:
        """Bring everything written to disk; returns the file's length and hash."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return LogMark(self._file.tell(), self._digest.hexdigest())

    def close(self) -> None:
        """Close the file. What was not flushed may be lost if the disk is full."""
        with suppress(OSError):
            self._file.close()
