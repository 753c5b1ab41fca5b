"""Where runs are executed: one file an engine, behind an interface small enough for one more.

An engine starts runs and says which have ended. What to run, in which order, how often to try again and what a person
sees is the grid's business; how far a run is stands in its own directory.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from chorus.experiments.jobs import Job


@dataclass(frozen=True)
class Ended:
    """A run is over, for better or, with a `problem`, for worse; `hopeless` says that trying again cannot help."""

    job: "Job"
    problem: str | None = None
    hopeless: bool = False


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
