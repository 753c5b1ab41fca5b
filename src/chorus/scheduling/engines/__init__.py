"""Where runs are executed: one module per engine, behind one small interface.

An engine starts runs and reports which have ended. The grid decides what to run, in which order and how often to retry,
and shows progress, which it reads from the run directories.
"""

import importlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from chorus.errors import ChorusError, did_you_mean
from chorus.scheduling.engines.options import EngineOption
from chorus.scheduling.engines.slurm_options import SLURM_OPTIONS

if TYPE_CHECKING:
    from chorus.scheduling.jobs import Job


@dataclass(frozen=True)
class Ended:
    """A run has ended. `problem` is None on success; `hopeless` means that a retry cannot help."""

    job: "Job"
    problem: str | None = None
    hopeless: bool = False


def with_command(message: dict[str, Any]) -> dict[str, Any]:
    """A job's message with the command that asked for it, which its `meta.json` records."""
    return {**message, "about": {**message["about"], "command": sys.argv}}


class Engine(Protocol):
    """Starts runs; used by one thread. The methods with a body are the defaults of engines without a queue."""

    @property
    def workers(self) -> int:
        """Estimated number of runs at once."""
        ...

    @property
    def capacity(self) -> int:
        """How many runs may be started before one has ended; an engine with a queue of its own takes more."""
        return self.workers

    def start(self, job: "Job") -> None:
        """Start or resume a run; returns at once."""
        ...

    def wait(self, seconds: float) -> list[Ended]:
        """The runs that ended since the last call; waits up to `seconds` for one."""
        ...

    def queued(self) -> Mapping[str, str]:
        """The started runs that do not run yet, or not at present: name and reason."""
        return {}

    def stop(self) -> None:
        """Stop all runs now; checkpoints are kept. An engine whose runs outlive the command leaves them alone."""
        ...

    @property
    def leaves_runs(self) -> bool:
        """Whether runs go on when the command ends."""
        return False

    def after_interrupt(self) -> str:
        """What became of the runs that had not ended, once it was stopped."""
        return "the checkpoints of the others are kept"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """An engine before its module is imported: `module` has a function `engine(jobs, workers, options)`.

    The texts say what it is and how many runs are at once by default. An engine `elsewhere` knows its capacity only
    once it is connected.
    """

    module: str
    help: str
    at_once: str
    options: tuple[EngineOption, ...] = ()
    elsewhere: bool = False


ENGINES = {
    "local": Kind(
        module="chorus.scheduling.engines.local",
        help="processes on this machine",
        at_once="as many as cores and memory allow",
    ),
    "ray": Kind(
        module="chorus.scheduling.engines.ray",
        help="tasks on a Ray cluster",
        at_once="as many as the cluster takes",
        options=(
            EngineOption(
                name="address",
                metavar="HOST:PORT",
                help="the cluster to use, or auto for the one on this machine (default: start one here, for these "
                "runs)",
            ),
        ),
        elsewhere=True,
    ),
    "slurm": Kind(
        module="chorus.scheduling.engines.slurm",
        help="array jobs on a Slurm cluster",
        at_once="as many as Slurm starts",
        options=SLURM_OPTIONS,
        elsewhere=True,
    ),
}


def engine_options() -> list[tuple[str, EngineOption]]:
    """Every engine's own options, each with the engine's name."""
    return [(name, option) for name, kind in ENGINES.items() for option in kind.options]


def read_options(name: str, workers: int | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the engine's own options; options that do not fit the engine are refused. None is not given."""
    if not isinstance(name, str) or name not in ENGINES:
        raise ChorusError(f"the engine '{name}' is not known{did_you_mean(str(name), ENGINES)}")
    if workers is not None and workers < 1:
        raise ChorusError(f"--workers is {workers}; it must be at least 1")
    known = {option.key: option for option in ENGINES[name].options}
    for key in (key for key, value in given.items() if value is not None and key not in known):
        others = " or ".join(f"--engine {other}" for other, option in engine_options() if option.key == key)
        if not others:
            raise ChorusError(f"'{key}' is no option of an engine{did_you_mean(key, known)}")
        text = given[key] if isinstance(given[key], str) else " ".join(given[key])
        raise ChorusError(
            f"--{key.replace('_', '-')} {text} means nothing to the engine {name}; add {others}, or leave it out"
        )
    return {key: option.value(given[key]) for key, option in known.items() if given.get(key) is not None}


def choose_engine(name: str, jobs: "Sequence[Job]", *, workers: int | None = None, **options: Any) -> "Engine":
    """The engine for at least one job that has not ended. Only its own module is imported.

    `options` are those of the command line, as texts: `choose_engine("ray", jobs, address="auto")`.
    """
    values = read_options(name, workers, options)
    engine: Engine = importlib.import_module(ENGINES[name].module).engine(jobs, workers, values)
    return engine
