"""What Slurm says about jobs, from `squeue`: it needs no accounting database, which many clusters do not have."""

import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

from chorus.errors import ChorusError

_SECONDS_TO_ANSWER = 60
# Ended by the cluster, not by the run.
_TAKEN_DOWN = frozenset(("BOOT_FAIL", "NODE_FAIL", "PREEMPTED", "TIMEOUT"))
_ENDED = _TAKEN_DOWN | {"CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "OUT_OF_MEMORY", "REVOKED"}
_AT_WORK = frozenset(("RUNNING", "COMPLETING"))
# Slurm's default; an index is smaller.
_MAX_ARRAY_SIZE = 1_001


@dataclass(frozen=True)
class JobState:
    """The state of a job in Slurm's words; `name` is the job's name."""

    state: str
    reason: str = ""
    name: str = ""

    @property
    def has_ended(self) -> bool:
        return self.state in _ENDED

    @property
    def is_at_work(self) -> bool:
        return self.state in _AT_WORK

    @property
    def was_taken_down(self) -> bool:
        return self.state in _TAKEN_DOWN

    def __str__(self) -> str:
        return self.state + (f" ({self.reason})" if self.reason not in ("", "None") else "")


GONE = JobState("gone from the queue")
SUBMITTED = JobState("submitted")


def read_states(job_ids: Iterable[str]) -> dict[str, JobState]:
    """The jobs that Slurm still knows; it forgets a job some minutes after its end. OSError if Slurm does not answer.

    Asks for all jobs of the user: `squeue --jobs` is an error once Slurm has forgotten one of them.
    """
    who, what = f"--user={os.getuid()}", "--format=%i|%T|%r|%j"
    said = _ask("squeue", "--array", "--noheader", "--states=all", who, what)
    wanted = set(job_ids)
    found = {}
    for line in said.splitlines():
        job_id, _, rest = line.strip().partition("|")
        if job_id in wanted:
            state, reason, name = rest.split("|", 2)
            found[job_id] = JobState(state, reason, name)
    return found


def is_running(job_id: str) -> bool:
    """Whether Slurm takes the job for running: neither cancelled nor already requeued."""
    return _ask("squeue", "--noheader", f"--jobs={job_id}", "--format=%T").strip() == "RUNNING"


def longest_array() -> int:
    """How many jobs one array may have."""
    for line in _ask("scontrol", "show", "config").splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "MaxArraySize" and value.strip().isdigit():
            return max(1, int(value) - 1)
    return _MAX_ARRAY_SIZE - 1


def check_commands() -> None:
    if missing := [name for name in ("sbatch", "srun", "squeue", "scontrol") if shutil.which(name) is None]:
        raise ChorusError(
            f"--engine slurm needs Slurm's commands and {missing[0]} is not found here; run it on a login node of the "
            "cluster, or use --engine local"
        )


def _ask(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS_TO_ANSWER)
    except subprocess.TimeoutExpired as problem:
        raise OSError(f"{command[0]} did not answer within {_SECONDS_TO_ANSWER} seconds") from problem
    if done.returncode != 0:
        raise OSError(" ".join(done.stderr.split()) or f"{command[0]} ended with exit code {done.returncode}")
    return done.stdout
