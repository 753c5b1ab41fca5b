"""From a job to the flags of sbatch: what the user asked for, and what the run needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chorus.errors import ChorusError
from chorus.scheduling.costs import on_gpu
from chorus.scheduling.engines.slurm_options import DEFAULT_MINUTES
from chorus.scheduling.jobs import Job, memory_bytes

# The estimate is no limit, but a job that exceeds its memory is killed.
_MEMORY_MARGIN = 1.5
# Requests are rounded up to this, so that similar runs share an array.
_MEGABYTES = 256
_SIGNAL_SECONDS = 120
# Of the time between the signal and the end of the job, for stopping and requeueing.
_RESERVED_SECONDS = 20

Flags = tuple[tuple[str, str | int | bool], ...]


@dataclass(frozen=True, kw_only=True)
class SlurmRequest:
    """The options of the engine."""

    minutes: int = DEFAULT_MINUTES
    gpus: str | None = None
    megabytes: int | None = None
    cpus: int | None = None
    flags: Flags = ()
    """Flags of sbatch that hold for every job."""

    @staticmethod
    def of(options: Mapping[str, Any]) -> "SlurmRequest":
        named = [(name, options[name]) for name in ("partition", "account", "qos") if name in options]
        return SlurmRequest(
            minutes=options.get("time", DEFAULT_MINUTES),
            gpus=options.get("gpus"),
            megabytes=options.get("memory"),
            cpus=options.get("cpus_per_task"),
            flags=(*named, *options.get("sbatch", ())),
        )

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse requests that do not fit the runs."""
        threads = max(job.config.runtime.threads for job in jobs)
        if self.cpus is not None and self.cpus < threads:
            raise ChorusError(
                f"--cpus-per-task is {self.cpus}, and a run has {threads} threads; give at least {threads}"
            )
        if self.gpus is not None and not any(on_gpu(job.config) for job in jobs):
            raise ChorusError(f"--gpus is {self.gpus}, and no run computes on a GPU; add --device gpu, or leave it out")

    @property
    def signal_seconds(self) -> int:
        """How long before its time is over a job is asked to stop."""
        return min(_SIGNAL_SECONDS, self.minutes * 30)

    @property
    def grace_seconds(self) -> float:
        """How long an iteration may go on after a job was asked to stop."""
        return self.signal_seconds - min(_RESERVED_SECONDS, self.signal_seconds / 2)

    def cpus_of(self, job: Job) -> int:
        return self.cpus or job.config.runtime.threads

    def flags_of(self, job: Job) -> Flags:
        """The flags of sbatch for a run; runs with equal flags can share an array."""
        needed = int(memory_bytes(job) * _MEMORY_MARGIN) // 2**20
        megabytes = self.megabytes or -(-needed // _MEGABYTES) * _MEGABYTES
        flags: dict[str, str | int | bool] = {
            "requeue": True,
            "cpus-per-task": self.cpus_of(job),
            "mem": f"{megabytes}M",
        }
        if on_gpu(job.config):
            flags["gpus-per-node"] = self.gpus or "1"
        return tuple((flags | dict(self.flags)).items())
