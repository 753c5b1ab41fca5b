"""An engine by its name. One more engine is one more file and one more row here."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chorus.errors import ChorusError
from chorus.suggest import did_you_mean

if TYPE_CHECKING:
    from chorus.experiments.engines import Engine
    from chorus.experiments.jobs import Job


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
        "chorus.experiments.engines.local",
        "processes on this machine",
        at_once="as many as cores and memory allow",
    ),
    "ray": Kind(
        "chorus.experiments.engines.ray",
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
