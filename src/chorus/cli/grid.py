"""What every command that runs many jobs offers, says before it starts, and says at its end."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.cli.train_options import whole

if TYPE_CHECKING:
    from chorus.experiments.grid import GridResult
    from chorus.experiments.jobs import Job

_INTERRUPTED = 130


def add_grid_options(parser: argparse.ArgumentParser) -> None:
    """Where runs are executed and where they go."""
    where = parser.add_argument_group("where it runs")
    where.add_argument(
        "--engine",
        default="local",
        metavar="NAME",
        help="local: processes on this machine; ray: tasks on a Ray cluster (default: local)",
    )
    where.add_argument(
        "--workers",
        type=whole,
        metavar="W",
        help="runs at once (default: local, as many as cores and memory allow; ray, as many as the cluster takes)",
    )
    where.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="ray: the cluster to use, or auto for the one on this machine (default: start one here, for these runs)",
    )
    output = parser.add_argument_group("output")
    output.add_argument(
        "--out", type=Path, default=Path("runs"), metavar="DIR", help="folder that holds run folders (default: runs)"
    )
    output.add_argument("--quiet", action="store_true", help="no progress, only the result")


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="only say what would be run and what it would cost (default: run it)"
    )


def run_jobs(args: argparse.Namespace, jobs: "Sequence[Job]", title: str) -> "GridResult":
    """The grid to its end on the engine asked for; on Ctrl-C a sentence that says how to go on, and the exit."""
    from chorus.experiments.engines.choice import choose_engine
    from chorus.experiments.grid import run_grid

    try:
        todo = [job for job in jobs if not job.has_ended]
        engine = choose_engine(args.engine, todo, workers=args.workers, address=args.address)
        if not args.quiet:
            print(f"{plan(jobs, engine.workers)}; runs go to {args.out}", flush=True)
        result = run_grid(jobs, engine, quiet=args.quiet, title=title)
    except KeyboardInterrupt:
        ended = sum(job.has_ended for job in jobs)
        print(
            f"\nstopped; {ended} of {len(jobs)} runs have ended, and of the others nothing that was checkpointed is "
            f"lost. Go on with: {this_command()}"
        )
        raise SystemExit(_INTERRUPTED) from None
    _print_outcome(result)
    return result


def print_plan(args: argparse.Namespace, jobs: "Sequence[Job]") -> None:
    """What `--dry-run` says; nothing is touched."""
    from chorus.experiments.engines.local import workers_that_fit

    for job in jobs:
        print(f"{job.state:<9} {job.path}")
    print(plan(jobs, args.workers or workers_that_fit(jobs)))


def plan(jobs: "Sequence[Job]", workers: int) -> str:
    """How many runs there are, how many are left to do, and what those will cost."""
    from chorus.experiments.costs import CPU_SOURCE, GPU_SOURCE, on_gpu
    from chorus.experiments.forecast import Forecast
    from chorus.training.progress import duration

    todo = [job for job in jobs if not job.has_ended]
    said = f"{len(jobs)} runs, {len(jobs) - len(todo)} of them ended before"
    if not todo:
        return f"{said}: nothing is left to do"
    forecast = Forecast()
    days = sum(forecast.cost(job) * (1 - job.step() / job.total_steps) for job in todo if on_gpu(job.config)) / 86_400
    if days:
        return f"{said}: about {days:,.1f} GPU-days ({GPU_SOURCE})"
    left = forecast.left([(job, job.step() / job.total_steps) for job in todo], (), workers)
    return f"{said}: about {duration(left)} with {workers} at once ({CPU_SOURCE})"


def _print_outcome(result: "GridResult") -> None:
    """How many runs ended how, and the last words of those that failed."""
    ended = len(result.jobs) - len(result.failures)
    print(f"{ended} of {len(result.jobs)} runs have ended ({result.skipped} of them before this command)")
    for job in result.jobs:
        if job.state == "diverged":
            print(f"  {job.name} diverged: no member has a finite loss any more; its curve ends there")
    for failure in result.failures:
        print(f"  {failure.job.name} failed:")
        print("\n".join(f"    {line}" for line in failure.problem.splitlines()))
    if result.failures:
        print(f"what failed is tried again by the same command: {this_command()}")


def this_command() -> str:
    return shlex.join(["chorus", *sys.argv[1:]])
