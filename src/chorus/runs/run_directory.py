"""The directory of one run (docs/run-directory.md): readable by people, owned by one process at a time."""

import fcntl
import json
import os
import platform
import shlex
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from chorus.errors import ChorusError
from chorus.files import (
    check_regular,
    is_alive,
    is_disk_full,
    is_unfinished,
    json_digest,
    read_json,
    sync_directory,
    write_json,
    write_text,
)
from chorus.runs.log_files import LOG_NAMES, LogFiles
from chorus.runs.published import is_published

_FILES = ("meta.json", "status.json", "visits.json")
_NEW = ".new"
# A command that lists runs holds their locks for an instant.
_LOOK_SECONDS = 1.0
_STOP = ".stop"
# A hash in meta.json: until there is a checkpoint, nothing else says what config.json was.
_CREATED_WITH = "config_sha256"
_RESTORE = {"config.json": "restore it (the manifest of a checkpoint has the configuration under 'config')"}


class RunDirectory:
    """Paths and small files of a run. Take the `lock` before writing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: TextIO | None = None
        self.logs = LogFiles(path)

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

    def check_same(self, config: dict[str, Any]) -> None:
        """Refuse a directory whose run has another configuration."""
        if self.read_config() != config:
            raise ChorusError(f"{self.path} is another run's directory: its config.json differs; choose another --out")

    def check_new(self) -> None:
        """Refuse a directory that exists."""
        if os.path.lexists(self.path) and not self._is_abandoned():
            raise self._not_created(FileExistsError())

    def create(self, config: dict[str, Any], meta: dict[str, Any]) -> None:
        """Create the directory of a new run, which must not exist.

        It is written aside and renamed: nobody sees it without its files, and of two processes one comes first.
        """
        aside = self.path.with_name(f".{self.path.name}.{platform.node()}.{os.getpid()}{_NEW}")
        try:
            self._remove_abandoned()
            if os.path.lexists(self.path):
                raise FileExistsError
            aside.mkdir(parents=True)
            write_json(aside / "config.json", config)
            write_json(aside / "meta.json", {**meta, _CREATED_WITH: json_digest(config)})
            RunDirectory(aside).write_status("running")
            aside.rename(self.path)
            sync_directory(self.path.parent)
        except OSError as problem:
            shutil.rmtree(aside, ignore_errors=True)
            raise self._not_created(problem) from problem

    def _remove_abandoned(self) -> None:
        """Remove what processes left that were killed while they created this directory."""
        if self._is_abandoned():
            shutil.rmtree(self.path, ignore_errors=True)
        start = f".{self.path.name}.{platform.node()}."
        for folder in self.path.parent.glob(f".*{_NEW}"):
            owner = folder.name.removeprefix(start).removesuffix(_NEW)
            if folder.name.startswith(start) and owner.isdecimal() and not is_alive(int(owner)):
                shutil.rmtree(folder, ignore_errors=True)

    def _is_abandoned(self) -> bool:
        return self.path.is_dir() and all(is_unfinished(file) for file in self.path.iterdir())

    def _not_created(self, problem: OSError) -> ChorusError:
        if self.exists():
            state, quoted = self.read_status()["state"], shlex.quote(str(self.path))
            if self.has_ended():
                return ChorusError(
                    f"{self.path} exists already and is {state}: play it with `chorus evaluate {quoted}`, or choose "
                    "another --seed or --out for another run"
                )
            return ChorusError(
                f"{self.path} exists already and has not ended; resume it with `chorus resume {quoted}`, or choose "
                "another --out"
            )
        if os.path.lexists(self.path):
            return ChorusError(
                f"{self.path} exists already and is no run (no config.json); remove it, or choose another --out"
            )
        if is_disk_full(problem):
            return ChorusError(
                f"the run directory {self.path} cannot be written ({problem.strerror}); make room, or choose another "
                "--out"
            )
        return ChorusError(f"the run directory {self.path} cannot be made ({problem.strerror}); choose another --out")

    def read_config(self) -> dict[str, Any]:
        if not self.exists():
            raise ChorusError(
                f"{self.path} is not a run directory: it has no config.json; `chorus list runs` shows runs"
            )
        return self._read("config.json")

    def check_created_with(self, config: dict[str, Any]) -> None:
        """Refuse a configuration other than the one the run was created with; for runs without a checkpoint."""
        recorded = self.read_meta().get(_CREATED_WITH)
        if recorded is not None and recorded != json_digest(config):
            raise ChorusError(
                f"{self.path / 'config.json'} has changed since the run was created, or {self.path / 'meta.json'}, "
                "which has its hash; set it back, or remove the folder and train again"
            )

    def read_meta(self) -> dict[str, Any]:
        return self._read("meta.json") if (self.path / "meta.json").is_file() else {}

    def add_to_meta(self, more: dict[str, Any]) -> dict[str, Any]:
        """Add to `meta.json`; one that is lost stays lost, because it would not say what it said before."""
        meta = self.read_meta()
        if more and meta:
            write_json(self.path / "meta.json", {**meta, **more})
        return more

    def _read(self, name: str) -> dict[str, Any]:
        remedy = _RESTORE.get(name, "restore it")
        try:
            check_regular(self.path / name)
            content = read_json(self.path / name)
        except (OSError, ValueError) as problem:
            raise ChorusError(f"{self.path / name} cannot be read ({problem}); {remedy}") from problem
        if not isinstance(content, dict):
            raise ChorusError(f"{self.path / name} holds no object; {remedy}")
        return content

    def read_status(self) -> dict[str, Any]:
        """The status, without what cannot be one; a run whose status cannot be read counts as running."""
        try:
            content = self._read("status.json")
        except ChorusError:
            content = {}
        wanted = {"iteration": int, "diverged_members": list, "notes": list}
        sound = {name: content[name] for name, kind in wanted.items() if isinstance(content.get(name), kind)}
        reason = content.get("reason")
        state = content.get("state")
        return {
            "state": state if state in ("finished", "diverged", "failed", "stopped") else "running",
            "reason": reason if isinstance(reason, str) else None,
            **sound,
        }

    def has_ended(self) -> bool:
        """Whether nothing is left to do; a failed or interrupted run can be resumed."""
        return self.read_status()["state"] in ("finished", "diverged")

    @property
    def is_published(self) -> bool:
        """Whether this is the copy of a run that has compressed logs and no checkpoints."""
        return is_published(self.path)

    def has_been_saved(self) -> bool:
        """Whether there was a checkpoint, according to the status or, should that be lost, the logs."""
        if self.read_status().get("iteration") or self.is_published:
            return True
        return self.logs.imply_a_checkpoint()

    def write_status(self, state: str, reason: str | None = None, **more: Any) -> None:
        write_json(self.path / "status.json", {"state": state, "reason": reason, **more})

    def write_failure(self, reason: str) -> None:
        """The status of a run that failed, keeping the iteration that it had reached; a full disk is no obstacle."""
        status = {"state": "failed", "reason": reason, "iteration": self.read_status().get("iteration", 0)}
        try:
            self.write_status(**status)
        except OSError:
            # Overwritten where it is, the file needs no space and no other file.
            with suppress(OSError):
                (self.path / "status.json").write_text(json.dumps(status), encoding="utf-8")

    def write_visits(self, iteration: int, step: int, visits: list[list[int]]) -> None:
        """A map of how often each state was visited, up to the end of an iteration."""
        record = {"iteration": iteration, "step": step, "visits": visits}
        write_text(self.path / "visits.json", json.dumps(record, separators=(",", ":")) + "\n")

    def write_stop(self) -> None:
        """The status of a run that was stopped within an iteration."""
        with suppress(OSError):
            self.write_status("stopped", iteration=self.read_status().get("iteration", 0))

    def current_state(self) -> str:
        """The state; a run that says it is running and that no process holds has been stopped."""
        state: str = self.read_status()["state"]
        return "stopped" if state == "running" and not self._is_held() else state

    def _is_held(self) -> bool:
        """Whether a process trains it."""
        with suppress(OSError), (self.path / "config.json").open("r", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def ask_to_stop(self) -> None:
        """Ask the process that trains this run, on whichever machine, to stop after its iteration."""
        (self.path / _STOP).touch()

    def is_asked_to_stop(self) -> bool:
        return (self.path / _STOP).exists()

    def forget_stop(self) -> None:
        (self.path / _STOP).unlink(missing_ok=True)

    def lock(self, patience_seconds: float = 0.0) -> None:
        """Lock the run until this process ends; waits up to `patience_seconds` for another process to release it."""
        deadline = time.monotonic() + max(patience_seconds, _LOOK_SECONDS)
        try:
            # NFS locks only files that are open for writing; nothing is written.
            self._lock = (self.path / "config.json").open("r+", encoding="utf-8")
        except OSError as problem:
            raise ChorusError(
                f"{self.path} cannot be written ({problem.strerror}); copy the run to a folder that can be written, or "
                "check its permissions"
            ) from problem
        while not self._locked():
            if time.monotonic() >= deadline:
                raise ChorusError(f"{self.path} is in use by another process; wait for it or stop it before resuming")
            time.sleep(0.1)

    def _locked(self) -> bool:
        assert self._lock is not None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def check_places(self) -> None:
        """Refuse what is no file where resuming would write one, and no folder where it would make one."""
        for name in (*_FILES, *LOG_NAMES, _STOP):
            path = self.path / name
            if path.exists() and not path.is_file():
                kind = "folder" if path.is_dir() else "pipe or a device"
                raise ChorusError(f"{path} is a {kind}, and a run has a file there; remove it, or restore the file")
        for path in (self.checkpoints, self.replay):
            if path.exists() and not path.is_dir():
                raise ChorusError(f"{path} is a file, and a run has a folder there; remove it, or restore the folder")

    def check_links(self) -> None:
        """Refuse links where resuming would write: it would change files outside of the run."""
        logs = [self.path / name for name in LOG_NAMES]
        rows = list(self.replay.glob("*"))
        for path in (*self.path.iterdir(), *rows):
            if path.is_symlink():
                raise ChorusError(f"{path} is a link to {path.readlink()}; put a copy of the original in its place")
        for path in (*logs, *rows):
            if path.is_file() and path.stat().st_nlink > 1:
                raise ChorusError(
                    f"{path} has {path.stat().st_nlink} names (hard links), and resuming would change the file under "
                    "all of them; put a copy in its place"
                )

    def delete_replay(self) -> None:
        shutil.rmtree(self.replay, ignore_errors=True)

    def close(self) -> None:
        self.logs.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None
