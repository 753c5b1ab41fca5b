"""Where runs are executed: one file an engine, behind an interface small enough for one more.

An engine starts runs and says which have ended. What to run, in which order, how often to try again and what a person
sees is the grid's business; how far a run is stands in its own directory.
"""

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from chorus.errors import ChorusError, did_you_mean

if TYPE_CHECKING:
    from chorus.scheduling.jobs import Job


@dataclass(frozen=True)
class Ended:
    """A run is over, for better or, with a `problem`, for worse; `hopeless` says that trying again cannot help."""

    job: "Job"
    problem: str | None = None
    hopeless: bool = False


def with_command(message: dict[str, Any]) -> dict[str, Any]:
    """A job's message with the command that asked for it, which its `meta.json` records."""
    return {**message, "about": {**message["about"], "command": sys.argv}}


class Engine(Protocol):
    """Used by one thread, from `start` to `stop`."""

    @property
    def workers(self) -> int:
        """Runs that may be under way at once; the grid starts no more."""
        ...

    def start(self, job: "Job") -> None:
        """Begin a run, or go on with it from its last checkpoint; returns at once."""
        ...

    def wait(self, seconds: float) -> list[Ended]:
        """The runs that ended since the last call; waits for one at most so long."""
        ...

    def stop(self) -> None:
        """End what is under way, now; what was checkpointed is kept."""
        ...


@dataclass(frozen=True)
class Kind:
    """An engine before its module is imported: `module` has a function `engine(jobs, workers, address)`.

    In words: what it is, how many runs are at once by default, what `--address` means there if anything. What an
    engine elsewhere has room for is known when it is asked.
    """

    module: str
    help: str
    at_once: str
    address: str | None = None
    elsewhere: bool = False


ENGINES = {
    "local": Kind(
        "chorus.scheduling.engines.local",
        "processes on this machine",
        at_once="as many as cores and memory allow",
    ),
    "ray": Kind(
        "chorus.scheduling.engines.ray",
        "tasks on a Ray cluster",
        at_once="as many as the cluster takes",
        address="the cluster to use, or auto for the one on this machine (default: start one here, for these runs)",
        elsewhere=True,
    ),
}


def check_choice(name: str, workers: int | None, address: str | None) -> None:
    """A sentence for what cannot be, whatever there is to run."""
    if name not in ENGINES:
        raise ChorusError(f"the engine '{name}' is not known{did_you_mean(name, ENGINES)}")
    if workers is not None and workers < 1:
        raise ChorusError(f"--workers is {workers}; it must be at least 1")
    if address is not None and ENGINES[name].address is None:
        others = " or ".join(f"--engine {other}" for other, kind in ENGINES.items() if kind.address)
        raise ChorusError(f"--address {address} means nothing to the engine {name}; add {others}, or leave it out")


def choose_engine(
    name: str, jobs: "Sequence[Job]", *, workers: int | None = None, address: str | None = None
) -> "Engine":
    """For jobs that are still to do, at least one. Only what `name` needs is imported."""
    check_choice(name, workers, address)
    engine: Engine = importlib.import_module(ENGINES[name].module).engine(jobs, workers, address)
    return engine
