"""The directory of one run (docs/run-directory.md): readable by people, owned by one process at a time."""

import fcntl
import os
import shutil
import time
from pathlib import Path
from typing import Any, TextIO

from chorus.errors import ChorusError
from chorus.files import JsonLines, read_json, whole_lines, write_json

# Timings are written after the checkpoint they time, so checkpoints do not record their length.
_CUT_BACK = ("metrics.jsonl", "episodes.jsonl")
_TIMINGS = "timings.jsonl"


class RunDirectory:
    """Paths and small files of a run. Take the `lock` before writing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: TextIO | None = None
        self._logs: dict[str, JsonLines] = {}

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def replay(self) -> Path:
        return self.path / "replay"

    def exists(self) -> bool:
        try:
            return (self.path / "config.json").is_file()
        except OSError as problem:
            raise ChorusError(
                f"{self.path} cannot be read ({problem.strerror}); choose another --out, or check its permissions"
            ) from problem

    def create(self, config: dict[str, Any], meta: dict[str, Any]) -> None:
        """Create the directory of a new run; it must not exist."""
        try:
            self.path.mkdir(parents=True)
        except FileExistsError as problem:
            if not self.exists():
                raise ChorusError(
                    f"{self.path} exists already and is no run (no config.json); remove it, or choose another --out"
                ) from problem
            raise ChorusError(
                f"{self.path} exists already; resume it with `chorus resume {self.path}`, or choose another --out"
            ) from problem
        except OSError as problem:
            raise ChorusError(
                f"the run directory {self.path} cannot be made ({problem.strerror}); choose another --out"
            ) from problem
        write_json(self.path / "config.json", config)
        write_json(self.path / "meta.json", meta)
        self.write_status("running")

    def read_config(self) -> dict[str, Any]:
        if not self.exists():
            raise ChorusError(
                f"{self.path} is not a run directory: it has no config.json; `chorus list runs` shows runs"
            )
        return self._read("config.json")

    def read_meta(self) -> dict[str, Any]:
        return self._read("meta.json") if (self.path / "meta.json").is_file() else {}

    def _read(self, name: str) -> dict[str, Any]:
        try:
            return read_json(self.path / name)
        except (OSError, ValueError) as problem:
            raise ChorusError(f"{self.path / name} cannot be read ({problem}); restore it") from problem

    def read_status(self) -> dict[str, Any]:
        path = self.path / "status.json"
        try:
            return read_json(path)
        except (OSError, ValueError):
            return {"state": "running", "reason": None}

    def has_ended(self) -> bool:
        """Whether nothing is left to do; a failed or interrupted run can be resumed."""
        return self.read_status()["state"] in ("finished", "diverged")

    def write_status(self, state: str, reason: str | None = None, **more: Any) -> None:
        write_json(self.path / "status.json", {"state": state, "reason": reason, **more})

    def lock(self, patience_seconds: float = 0.0) -> None:
        """Lock the run until this process ends; waits up to `patience_seconds` for another process to release it."""
        deadline = time.monotonic() + patience_seconds
        # NFS locks only files that are open for writing; nothing is written.
        self._lock = (self.path / "config.json").open("r+", encoding="utf-8")
        while not self._locked():
            if time.monotonic() >= deadline:
                raise ChorusError(f"{self.path} is in use by another process; wait for it or stop it before resuming")
            time.sleep(0.5)

    def _locked(self) -> bool:
        assert self._lock is not None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def open_logs(self, offsets: dict[str, int]) -> None:
        """Truncate the logs to the offsets of a checkpoint and open them for appending."""
        for name in (*_CUT_BACK, _TIMINGS):
            path = self.path / name
            path.touch()
            end = whole_lines(path) if name == _TIMINGS and offsets else offsets.get(name, 0)
            os.truncate(path, min(end, path.stat().st_size))
            self._logs[name] = JsonLines(path)

    def log(self, name: str, record: dict[str, Any]) -> None:
        self._logs[name].write(record)

    def flush_logs(self) -> None:
        for log in self._logs.values():
            log.flush()

    def sync_logs(self) -> dict[str, int]:
        return {name: self._logs[name].sync() for name in _CUT_BACK}

    def delete_replay(self) -> None:
        shutil.rmtree(self.replay, ignore_errors=True)

    def close(self) -> None:
        for log in self._logs.values():
            log.close()
        self._logs.clear()
        if self._lock is not None:
            self._lock.close()
            self._lock = None
