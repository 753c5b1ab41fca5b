"""A job: a resolved configuration and the directory its run lives in.

The directory is named by the configuration, so whoever asks for the same run finds it: studies share runs.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from chorus.config.resolution import Request, Resolved, configuration_name, name_of_seed, resolve
from chorus.config.schema import RunConfig, Scale
from chorus.config.validation import validate
from chorus.errors import ChorusError
from chorus.runs.assembly import Assembly
from chorus.runs.logs import last_step
from chorus.runs.resources import resident_bytes
from chorus.runs.run_directory import RunDirectory
from chorus.studies.study import Part

State = Literal["missing", "cut", "failed", "finished", "diverged"]
# What was resolved, by the request without its seed: with the name that its seeds share.
Known = dict[str, tuple[Resolved, str]]


@dataclass(frozen=True)
class Job:
    """One run that somebody wants."""

    config: RunConfig
    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def total_steps(self) -> int:
        return self.config.schedule.total_steps

    def message(self) -> dict[str, Any]:
        """What another process, perhaps on another machine, must be told."""
        return {"path": str(self.path.absolute()), "config": self.config.to_json()}

    @property
    def state(self) -> State:
        directory = RunDirectory(self.path)
        if not directory.exists():
            return "missing"
        state: str = directory.read_status()["state"]
        # "running" is what a run that was cut has left behind; whether a process is at it only its lock can tell.
        return "cut" if state == "running" else state  # type: ignore[return-value]

    @property
    def has_ended(self) -> bool:
        """Nothing is left to do: finished, or diverged, which is a result too."""
        return self.state in ("finished", "diverged")

    def step(self) -> int:
        """Agent steps so far, as the newest line of a log says; no lock is needed to read it."""
        if self.has_ended:
            return self.total_steps
        return min(self.total_steps, max(last_step(self.path / log) for log in ("episodes.jsonl", "metrics.jsonl")))

    def saved_step(self) -> int:
        """Where the run would go on from: metrics are written at the end of an iteration, as its checkpoint is."""
        return self.total_steps if self.has_ended else min(self.total_steps, last_step(self.path / "metrics.jsonl"))


def evaluated(jobs: Iterable[Job]) -> list[Path]:
    """The directories of runs that have something to show."""
    return [job.path for job in jobs if last_step(job.path / "metrics.jsonl")]


def jobs_for(requests: Iterable[Request], out: Path, known: Known | None = None) -> list[Job]:
    """Each run once, in the order asked for; one error lists everything that cannot be, and nothing is touched.

    Who asks for several lists gives all of them one dictionary to remember in what was resolved.
    """
    jobs: dict[Path, Job] = {}
    problems: dict[str, None] = {}
    known = {} if known is None else known
    for request in requests:
        try:
            job = _job(request, out, known)
            check_directory(job)
        except ChorusError as problem:
            problems[str(problem)] = None
            continue
        jobs.setdefault(job.path, job)
    if problems:
        raise ChorusError("; ".join(problems))
    return list(jobs.values())


def _job(request: Request, out: Path, known: Known) -> Job:
    """Seeds of one configuration are resolved once: describing an environment may mean constructing it."""
    but_for_the_seed = repr(replace(request, seed=None))
    if but_for_the_seed not in known:
        found = resolve(request)
        known[but_for_the_seed] = found, configuration_name(found)
    found, name = known[but_for_the_seed]
    config = found.config if request.seed is None else replace(found.config, seed=request.seed)
    validate(config, found.spec)
    return Job(config, out / name_of_seed(name, config.seed))


def check_directory(job: Job) -> None:
    """A directory with this run's name must hold this run."""
    directory = RunDirectory(job.path)
    if directory.exists() and directory.read_config() != job.config.to_json():
        raise ChorusError(
            f"{job.path} holds another run: its config.json differs, perhaps because it was written by another "
            "version; choose another --out"
        )


def jobs_of(part: Part, scale: Scale, out: Path, device: str | None = None, known: Known | None = None) -> list[Job]:
    """The runs of a part at a scale, in the order they are started; nothing is touched."""
    return jobs_for(part.requests(scale, device), out, known)


# Of a process that has imported JAX and compiled a run (docs/engines.md).
_PROCESS_BYTES = 600_000_000


def memory_bytes(job: Job) -> int:
    """About what a run takes: the process, and of its replay what must stay in memory."""
    return _PROCESS_BYTES + resident_bytes(Assembly.of(job.config).ring_layout())
