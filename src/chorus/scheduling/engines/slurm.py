"""Runs as jobs of a Slurm cluster, submitted as arrays through submitit.

Jobs outlive the command: a command that is interrupted leaves them in the queue, and the same command finds them again
by the records in the folder `slurm` beside the runs. That folder and the runs must be on storage that all nodes share.
"""

import contextlib
import io
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chorus.errors import ChorusError
from chorus.extras import require
from chorus.files import write_json
from chorus.scheduling.engines import Ended, Engine, with_command
from chorus.scheduling.engines.local import thread_variables
from chorus.scheduling.engines.slurm_folder import (
    failure_file,
    last_lines,
    log_of,
    own_folder,
    read_record,
    record_file,
)
from chorus.scheduling.engines.slurm_queue import (
    GONE,
    SUBMITTED,
    JobState,
    check_commands,
    longest_array,
    read_states,
)
from chorus.scheduling.engines.slurm_request import Flags, SlurmRequest
from chorus.scheduling.engines.slurm_task import JobFailure, Order, Task
from chorus.scheduling.jobs import Job

submitit: Any = require("submitit", "--engine slurm")


_SECONDS_BETWEEN_LOOKS = (1.0, 15.0)
# How long a job that is over is given to appear on shared storage as finished or failed.
_SETTLE_SECONDS = 30.0
# How often a run is submitted again whose job the cluster took down without requeueing it.
_RETRIES_OF_SLURM = 5
# Time slices of one run; submitit gives up after so many.
_TIME_SLICES = 10_000
_ADVICE = {
    "CANCELLED": "somebody cancelled it",
    "OUT_OF_MEMORY": "give it more memory with --memory",
}


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Where jobs go, by submitit's name for it, and how to ask about them."""

    executor: str
    read_states: Callable[[Iterable[str]], Mapping[str, JobState]]
    longest_array: Callable[[], int]


SLURM = Cluster(executor="slurm", read_states=read_states, longest_array=longest_array)


@dataclass
class _Submitted:
    job: Job
    job_id: str
    name: str
    state: JobState = SUBMITTED
    over_since: float | None = None

    @property
    def is_over(self) -> bool:
        return self.state is GONE or self.state.has_ended

    def last_words(self) -> str:
        """The end of its log, and what Slurm says about its end."""
        log, advice = log_of(self.job, self.job_id), _ADVICE.get(self.state.state)
        said = f"Slurm job {self.job_id}: {self.state}" + (f"; {advice}" if advice else "")
        return "\n".join([*last_lines(log), f"{said}; its log is {log}"])


class SlurmEngine(Engine):
    """Submits at once what it is given; `most` limits the jobs that Slurm runs at once."""

    def __init__(
        self,
        jobs: Sequence[Job],
        request: SlurmRequest,
        most: int | None = None,
        cluster: Cluster = SLURM,
        settle_seconds: float = _SETTLE_SECONDS,
    ) -> None:
        self._request, self._most, self._total = request, most, len(jobs)
        self._cluster, self._settle_seconds = cluster, settle_seconds
        self._flags: dict[str, Flags] = {}
        self._waiting: list[Job] = []
        self._submitted: list[_Submitted] = []
        self._taken_down: dict[str, int] = {}
        self._next_look, self._pause = 0.0, _SECONDS_BETWEEN_LOOKS[0]
        # The limit of an array holds for its own jobs only.
        kinds = len({self._flags_of(job) for job in jobs})
        self._capacity = most if most is not None and kinds > 1 else self._total

    @property
    def workers(self) -> int:
        """The jobs at work while others wait for the cluster, else as many as there can be."""
        at_work = sum(one.state.is_at_work for one in self._submitted)
        return at_work if 0 < at_work < len(self._submitted) else min(self._most or self._total, self._total)

    @property
    def capacity(self) -> int:
        return self._capacity

    def start(self, job: Job) -> None:
        """Jobs that are started before the next `wait` are submitted together."""
        self._waiting.append(job)

    def wait(self, seconds: float) -> list[Ended]:
        self._submit()
        self._look()
        over = self._find_ended()
        if not over:
            time.sleep(seconds)
            over = self._find_ended()
        return over

    def queued(self) -> Mapping[str, str]:
        there = {one.job.name: str(one.state) for one in self._submitted if not (one.state.is_at_work or one.is_over)}
        return {job.name: "not submitted" for job in self._waiting} | there

    def stop(self) -> None:
        """Leaves the jobs alone: they belong to the cluster."""
        self._waiting.clear()

    @property
    def leaves_runs(self) -> bool:
        return True

    def after_interrupt(self) -> str:
        if not self._submitted:
            return super().after_interrupt()
        jobs = " ".join(sorted({one.job_id.partition("_")[0] for one in self._submitted}))
        return (
            f"{len(self._submitted)} stay with Slurm, queued or running; the same command watches them again, and "
            f"`scancel {jobs}` cancels them"
        )

    def _submit(self) -> None:
        """Submit what waits, except for runs whose jobs an earlier command left in the queue."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        try:
            left = self._adopt(waiting)
            size = self._cluster.longest_array()
        except OSError as problem:
            raise ChorusError(f"Slurm does not answer ({problem}); try again later, or use --engine local") from problem
        groups: dict[tuple[Path, int, Flags], list[Job]] = {}
        for job in left:
            key = own_folder(job.path.parent), job.config.runtime.threads, self._flags_of(job)
            groups.setdefault(key, []).append(job)
        for (folder, threads, flags), jobs in groups.items():
            for first in range(0, len(jobs), size):
                self._submit_array(folder, threads, flags, jobs[first : first + size])
        self._next_look, self._pause = 0.0, _SECONDS_BETWEEN_LOOKS[0]

    def _adopt(self, jobs: Sequence[Job]) -> list[Job]:
        """Follow the jobs that are in the queue already; returns the runs that have none."""
        records = {job.name: read_record(job) for job in jobs}
        known = [record["job"] for record in records.values() if record]
        states = self._cluster.read_states(known) if known else {}
        left = []
        for job in jobs:
            record = records[job.name]
            state = states.get(record["job"]) if record else None
            if record and state and state.name == record["name"] and not state.has_ended:
                self._submitted.append(_Submitted(job, record["job"], record["name"], state))
            else:
                left.append(job)
        return left

    def _submit_array(self, folder: Path, threads: int, flags: Flags, jobs: Sequence[Job]) -> None:
        name = f"chorus-{secrets.token_hex(4)}"
        executor = submitit.AutoExecutor(
            folder, self._cluster.executor, slurm_max_num_timeout=_TIME_SLICES, local_max_num_timeout=_TIME_SLICES
        )
        setup = [f"export {variable}={value}" for variable, value in thread_variables(threads).items()]
        executor.update_parameters(
            name=name,
            timeout_min=self._request.minutes,
            local_setup=setup,
            slurm_setup=setup,
            slurm_signal_delay_s=self._request.signal_seconds,
            slurm_array_parallelism=self._most or len(jobs),
            # Since version 22.05 a step does not inherit the CPUs of its job.
            slurm_srun_args=[f"--cpus-per-task={self._request.cpus_of(jobs[0])}"],
            slurm_additional_parameters=dict(flags),
        )
        orders = [self._order(job) for job in jobs]
        for job in jobs:
            failure_file(job).unlink(missing_ok=True)
        try:
            # Submitit prints what sbatch says, which is part of the error.
            with _outside_jobs(), contextlib.redirect_stderr(io.StringIO()), executor.batch():
                submitted = [executor.submit(Task(), order.to_text()) for order in orders]
        except (RuntimeError, OSError) as problem:
            said = " ".join(str(problem).split()) or type(problem).__name__
            before = f"; of the runs before, {self.after_interrupt()}" if self._submitted else ""
            raise ChorusError(
                f"Slurm refused the jobs ({said}); check the options for Slurm (docs/engines.md){before}"
            ) from problem
        for job, one in zip(jobs, submitted, strict=True):
            write_json(record_file(job), {"job": one.job_id, "name": name})
            self._submitted.append(_Submitted(job, one.job_id, name))

    def _order(self, job: Job) -> Order:
        return Order(
            message=with_command(job.message()),
            failure=str(failure_file(job).absolute()),
            grace_seconds=self._request.grace_seconds,
        )

    def _flags_of(self, job: Job) -> Flags:
        key = job.config.digest()
        if key not in self._flags:
            self._flags[key] = self._request.flags_of(job)
        return self._flags[key]

    def _look(self) -> None:
        """Ask Slurm for the states, less often while nothing changes. No answer leaves the states as they are."""
        now = time.monotonic()
        if now < self._next_look or not self._submitted:
            return
        shortest, longest = _SECONDS_BETWEEN_LOOKS
        try:
            found = self._cluster.read_states(one.job_id for one in self._submitted)
        except OSError:
            self._next_look = now + longest
            return
        changed = False
        for one in self._submitted:
            state = found.get(one.job_id, GONE)
            changed |= state != one.state
            one.state = state
            one.over_since = (one.over_since or now) if one.is_over else None
        self._pause = shortest if changed else min(longest, 2 * self._pause)
        self._next_look = now + self._pause

    def _find_ended(self) -> list[Ended]:
        over: list[Ended] = []
        for one in list(self._submitted):
            if not (one.state.is_at_work or one.is_over):
                continue
            failure = JobFailure.read(failure_file(one.job))
            if one.job.has_ended:
                over.append(self._forget(one, Ended(one.job)))
            elif failure is not None and failure.job_id == one.job_id:
                over.append(self._forget(one, Ended(one.job, failure.problem, failure.hopeless)))
            elif one.over_since is not None and time.monotonic() - one.over_since >= self._settle_seconds:
                over += self._taken(one)
        return over

    def _taken(self, one: _Submitted) -> list[Ended]:
        """A job ended without a word: it is submitted again if the cluster took it down, else it is a failure."""
        times = self._taken_down.get(one.job.name, 0)
        ended = self._forget(one, Ended(one.job, one.last_words(), hopeless=one.state.state in _ADVICE))
        if one.state.was_taken_down and times < _RETRIES_OF_SLURM:
            self._taken_down[one.job.name] = times + 1
            self._waiting.append(one.job)
            return []
        return [ended]

    def _forget(self, one: _Submitted, ended: Ended) -> Ended:
        self._submitted.remove(one)
        # Slurm may start another job now.
        self._next_look = 0.0
        for file in (record_file(one.job), failure_file(one.job)):
            file.unlink(missing_ok=True)
        return ended


@contextlib.contextmanager
def _outside_jobs() -> Iterator[None]:
    """Hide the job that this command runs in, if any: sbatch would take over its resources."""
    inside = "SLURM_JOB_ID" in os.environ
    names = [name for name in os.environ if inside and name.startswith("SLURM_") and name != "SLURM_CONF"]
    hidden = {name: os.environ.pop(name) for name in names}
    try:
        yield
    finally:
        os.environ.update(hidden)


def engine(jobs: Sequence[Job], workers: int | None, options: Mapping[str, Any]) -> SlurmEngine:
    """An engine for the cluster of this login node."""
    check_commands()
    request = SlurmRequest.of(options)
    request.check(jobs)
    return SlurmEngine(jobs, request, workers)
