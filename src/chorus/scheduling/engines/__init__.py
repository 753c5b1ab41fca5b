"""Where runs are executed: one module per engine, behind one small interface.

An engine starts runs and reports which have ended. The grid decides what to run, in which order and how often to retry,
and shows progress, which it reads from the run directories.
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
    """A run has ended. `problem` is None on success; `hopeless` means that a retry cannot help."""

    job: "Job"
    problem: str | None = None
    hopeless: bool = False


def with_command(message: dict[str, Any]) -> dict[str, Any]:
    """A job's message with the command that asked for it, which its `meta.json` records."""
    return {**message, "about": {**message["about"], "command": sys.argv}}


class Engine(Protocol):
    """Starts runs; used by one thread."""

    @property
    def workers(self) -> int:
        """Maximum number of runs at once."""
        ...

    def start(self, job: "Job") -> None:
        """Start or resume a run; returns at once."""
        ...

    def wait(self, seconds: float) -> list[Ended]:
        """The runs that ended since the last call; waits up to `seconds` for one."""
        ...

    def stop(self) -> None:
        """Stop all runs now; checkpoints are kept."""
        ...


@dataclass(frozen=True)
class Kind:
    """An engine before its module is imported: `module` has a function `engine(jobs, workers, address)`.

    The texts say what it is, how many runs are at once by default, and what `--address` means, if anything. An engine
    `elsewhere` knows its capacity only once it is connected.
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
    """Refuse options that do not fit the engine."""
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
    """The engine for at least one job that has not ended. Only its own module is imported."""
    check_choice(name, workers, address)
    engine: Engine = importlib.import_module(ENGINES[name].module).engine(jobs, workers, address)
    return engine
