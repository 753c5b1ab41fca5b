"""An engine by its name."""

from collections.abc import Sequence

from chorus.errors import ChorusError
from chorus.experiments.engines import Engine
from chorus.experiments.engines.local import local_engine
from chorus.experiments.jobs import Job
from chorus.suggest import did_you_mean

ENGINES = ("local", "ray")


def choose_engine(name: str, jobs: Sequence[Job], *, workers: int | None = None, address: str | None = None) -> Engine:
    """For jobs that are still to do; raises a sentence for what cannot be. Only what `name` needs is imported."""
    if name not in ENGINES:
        raise ChorusError(f"the engine '{name}' is not known{did_you_mean(name, ENGINES)}")
    if workers is not None and workers < 1:
        raise ChorusError(f"--workers is {workers}; it must be at least 1")
    if name == "ray" and jobs:
        from chorus.experiments.engines.ray import ray_engine

        return ray_engine(jobs, workers, address)
    if name == "local" and address is not None:
        raise ChorusError(f"--address {address} is that of a Ray cluster; add --engine ray, or leave it out")
    return local_engine(jobs, workers)
