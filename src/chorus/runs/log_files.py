"""The logs that a run writes, truncated to their length at a checkpoint before the run resumes from it.

`chorus.runs.logs` reads them.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from chorus.files import JsonLines, LogMark, discard_unfinished, file_digest, parse_json, whole_lines

# Timings are written after the checkpoint they time, so checkpoints do not record their length.
_RECORDED = ("metrics.jsonl", "episodes.jsonl")
_TIMINGS = "timings.jsonl"
LOG_NAMES = (*_RECORDED, _TIMINGS)


class LogFiles:
    """The log files in a run's folder; `open` them before writing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, JsonLines] = {}

    def has_content(self) -> bool:
        """Whether anything was logged; timings alone do not count."""
        paths = [self._folder / name for name in _RECORDED]
        return any(path.is_file() and path.stat().st_size for path in paths)

    def imply_a_checkpoint(self) -> bool:
        """Whether the readable part of the logs implies a saved checkpoint."""
        # Timings are those of saved iterations; episodes of the second iteration follow the first checkpoint.
        return any(
            iteration >= (1 if name == _TIMINGS else 2)
            for name in LOG_NAMES
            for iteration in _iterations_in(self._folder / name)
        )

    def check(self, marks: Mapping[str, LogMark]) -> None:
        """Raise if the logs do not begin with what they held at a checkpoint."""
        for name in _RECORDED:
            path, (length, digest) = self._folder / name, marks[name]
            found = path.stat().st_size if path.exists() else 0
            if found < length:
                raise ValueError(f"{name} has {found:,} bytes, and {length:,} when the checkpoint was written")
            if length and file_digest(path, length) != digest:
                raise ValueError(f"the first {length:,} bytes of {name} have changed since the checkpoint was written")

    def open(self, marks: Mapping[str, LogMark]) -> None:
        """Truncate the logs to their length at a checkpoint and open them for appending; `check` comes first."""
        discard_unfinished(self._folder)
        for name in LOG_NAMES:
            path = self._folder / name
            path.touch()
            length = whole_lines(path) if name == _TIMINGS else marks[name].bytes if marks else 0
            os.truncate(path, length if marks else 0)
            self._open[name] = JsonLines(path)

    def write(self, name: str, record: dict[str, Any]) -> None:
        self._open[name].write(record)

    def flush(self) -> None:
        for log in self._open.values():
            log.flush()

    def sync(self) -> dict[str, LogMark]:
        """What the logs hold now, safely on disk."""
        return {name: self._open[name].sync() for name in _RECORDED}

    def close(self) -> None:
        for log in self._open.values():
            log.close()
        self._open.clear()


def _iterations_in(log: Path) -> Iterator[int]:
    """The iterations of a log's lines, as far as they can be read."""
    if not log.is_file():
        return
    with log.open("rb") as lines:
        for line in lines:
            with suppress(ValueError):
                record = parse_json(line)
                if isinstance(record, dict) and isinstance(record.get("iteration"), int):
                    yield record["iteration"]
