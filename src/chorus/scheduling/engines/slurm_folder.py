"""The folder `slurm` beside the runs: submissions, logs, records of jobs in the queue, and failures of jobs."""

import contextlib
import os
import stat
from pathlib import Path

from chorus.errors import ChorusError
from chorus.files import read_json
from chorus.scheduling.jobs import Job

_LAST_LINES = 12


def folder_of(out: Path) -> Path:
    return out / "slurm"


def record_file(job: Job) -> Path:
    return folder_of(job.path.parent) / f"{job.name}.job.json"


def failure_file(job: Job) -> Path:
    return folder_of(job.path.parent) / f"{job.name}.failure.json"


def read_record(job: Job) -> dict[str, str] | None:
    """The job that an earlier command submitted for this run; None if there is no whole record."""
    try:
        record = read_json(record_file(job))
        return {name: str(record[name]) for name in ("job", "name")}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def own_folder(out: Path) -> Path:
    """The folder of submissions and logs. Jobs run what they find there, so nobody else may write to it."""
    folder = folder_of(out).absolute()
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700, parents=True)
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o022:
        raise ChorusError(
            f"{folder} must be a folder that only you can write to, because Slurm jobs run what is in it; "
            f"run `chmod 700 {folder}`, or choose another --out"
        )
    return folder


def log_of(job: Job, job_id: str) -> Path:
    """Where the job's errors are written; submitit gives the name."""
    return folder_of(job.path.parent) / f"{job_id}_0_log.err"


def last_lines(log: Path) -> list[str]:
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LAST_LINES:]
    except OSError:
        return []
