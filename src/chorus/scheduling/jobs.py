"""A job: a resolved configuration and the directory its run lives in.

The directory is named by the configuration, so the same request finds the same run, and studies share runs.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from chorus.config.identity import configuration_name, digest_name
from chorus.config.resolution import Request, Resolved, resolve
from chorus.config.schema import Hyperparameters, RunConfig, Scale
from chorus.config.validation import validate
from chorus.envs.registry import describe, is_jax
from chorus.errors import ChorusError
from chorus.runs import resources
from chorus.runs.assembly import Assembly
from chorus.runs.lifecycle import describe_run, find_run
from chorus.runs.logs import last_step
from chorus.runs.resources import ring_layout
from chorus.runs.run_directory import RunDirectory
from chorus.runs.runtime import stay_on_cpu
from chorus.runs.tracking import Tracking
from chorus.studies.study import Part

State = Literal["missing", "stopped", "failed", "finished", "diverged"]
# Resolved configurations and the names their seeds share, now and formerly, by the request without its seed.
Known = dict[str, tuple[Resolved, tuple[str, str]]]


@dataclass(frozen=True)
class Job:
    """One requested run."""

    config: RunConfig
    path: Path
    resolved: Resolved | None = field(default=None, compare=False, repr=False)
    """Where the configuration came from; a run that exists already does without."""
    tracking: Tracking = field(default_factory=Tracking, compare=False, repr=False)

    @property
    def name(self) -> str:
        return self.path.name

    @cached_property
    def about(self) -> dict[str, Any]:
        """What its `meta.json` will say: its identity, its plugins and its trackers."""
        about = describe_run(self.resolved) if self.resolved else {}
        return {**about, **self.tracking.about()} if self.tracking else about

    @property
    def total_steps(self) -> int:
        return self.config.schedule.total_steps

    def message(self) -> dict[str, Any]:
        """What a worker process, possibly on another machine, needs to know."""
        return {"path": str(self.path.absolute()), "config": self.config.to_json(), "about": self.about}

    @property
    def state(self) -> State:
        directory = RunDirectory(self.path)
        if not directory.exists():
            return "missing"
        state: str = directory.read_status()["state"]
        # A killed run still says "running"; a run that another process holds is waited for.
        return "stopped" if state == "running" else state  # type: ignore[return-value]

    @property
    def has_ended(self) -> bool:
        """Whether nothing is left to do: the run finished or diverged."""
        return self.state in ("finished", "diverged")

    def notes(self) -> list[str]:
        """What a user must know of how the run was last resumed."""
        return [str(note) for note in RunDirectory(self.path).read_status().get("notes", [])]

    def ask_to_stop(self) -> None:
        """Ask the process that trains it to stop after its iteration."""
        if self.path.is_dir():
            RunDirectory(self.path).ask_to_stop()

    def step(self) -> int:
        """Agent steps so far, according to the newest line of its logs; needs no lock."""
        if self.has_ended:
            return self.total_steps
        return min(self.total_steps, max(last_step(self.path / log) for log in ("episodes.jsonl", "metrics.jsonl")))

    def saved_step(self) -> int:
        """The step it would resume from: metrics are written at the end of an iteration, like its checkpoint."""
        return self.total_steps if self.has_ended else min(self.total_steps, last_step(self.path / "metrics.jsonl"))


def evaluated(jobs: Iterable[Job]) -> list[Path]:
    """The directories of runs with at least one evaluation."""
    return [job.path for job in jobs if job.has_ended or last_step(job.path / "metrics.jsonl")]


def jobs_for(requests: Iterable[Request], out: Path, known: Known | None = None) -> list[Job]:
    """One job per run, in the order of the requests; one error lists every problem, and nothing on disk is touched.

    `known` is a cache of resolved configurations; several calls may share it.
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
    """Resolves a configuration once for all its seeds: describing an environment may mean constructing it."""
    same = repr(replace(request, seed=None, swept=(), study=None))
    if same not in known:
        found = resolve(request)
        known[same] = found, (configuration_name(found), digest_name(found))
    found, names = known[same]
    config = found.config if request.seed is None else replace(found.config, seed=request.seed)
    # `resolve` has checked the rest, which is the same for all seeds.
    if config.seed < 0:
        validate(config, found.spec)
    return Job(config, find_run(out, names, config.seed), replace(found, request=request, config=config))


def check_directory(job: Job) -> None:
    """A directory with this run's name must hold this run."""
    directory = RunDirectory(job.path)
    if directory.exists() and directory.read_config() != job.config.to_json():
        raise ChorusError(
            f"{job.path} holds another run: its config.json differs, perhaps because it was written by another "
            "version; choose another --out"
        )


def jobs_of(
    part: Part,
    scale: Scale,
    out: Path,
    device: str | None = None,
    known: Known | None = None,
    study: str | None = None,
    hyperparameters: Hyperparameters | None = None,
) -> list[Job]:
    """The jobs of a part at a scale, in the order they are started; nothing on disk is touched."""
    return jobs_for(part.requests(scale, device, study, hyperparameters), out, known)


# Memory of a process that has imported JAX and compiled a run (docs/engines.md).
_PROCESS_BYTES = 600_000_000


# By the configuration without its seed, and the environment without its name: Atari's games share their sizes.
_known_bytes: dict[str, int] = {}


def memory_bytes(job: Job) -> int:
    """Estimated memory of a run: the process, and what the run itself checks when it starts (replay, learner, batches,
    environments, evaluation)."""
    config = job.config
    spec = describe(config.env.id, config.env.max_episode_steps)
    same = repr((replace(config, seed=0, env=replace(config.env, id="")), replace(spec, id=""), is_jax(config.env.id)))
    if same not in _known_bytes:
        stay_on_cpu(config.runtime.threads)
        demand, layout = Assembly.of(config).demand(), ring_layout(config, spec)
        run = resources.memory_bytes(layout, demand, has_device=config.runtime.device != "cpu")
        _known_bytes[same] = _PROCESS_BYTES + run
    return _known_bytes[same]
