"""Make the runs behind docs/results.md, stage by stage, and publish each in results/ as soon as it ends.

python examples/evidence.py                      # every stage, two runs at once
python examples/evidence.py asterix games        # these stages, in this order
python examples/evidence.py short --rounds 3     # the first three of its seeds
python examples/evidence.py --dry-run            # what is left, and its estimated cost

The same command resumes runs that were interrupted. A run that is in results/ is done, wherever it was trained.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from chorus.analysis.wording import plural
from chorus.cli.grid import add_dry_run, add_grid_options, cost_left, run_jobs
from chorus.cli.train_options import whole
from chorus.config.schema import RunConfig
from chorus.errors import ChorusError
from chorus.files import read_json
from chorus.runs.progress import duration
from chorus.runs.published import publish, published_runs
from chorus.scheduling.costs import cpu_source
from chorus.scheduling.jobs import Job, Known, jobs_for
from chorus.studies.evidence import EVIDENCE, Stage, find_stages
from chorus.wrapping import say

RESULTS = Path(__file__).parent.parent / "results"


def read_arguments(given: Sequence[str]) -> argparse.Namespace:
    description, *_ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(description=description)
    stages = "; ".join(f"{stage.name}: {stage.title}" for stage in EVIDENCE)
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=f"{stages} (default: all, in this order)")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="where they are published")
    parser.add_argument("--env", nargs="+", default=(), metavar="ID", help="instead of the environments of the stages")
    parser.add_argument("--rounds", type=whole, metavar="N", help="of every stage the first N seeds (default: all)")
    parser.add_argument("--scale", choices=["smoke", "laptop"], default="laptop", help="smoke is for a trial")
    add_dry_run(parser)
    add_grid_options(parser)
    parser.set_defaults(workers=2)
    args = parser.parse_args(given)
    if args.rounds is not None and args.rounds < 1:
        parser.error(f"--rounds is {args.rounds}; it must be 1 or more")
    return args


def left_to_do(stages: Sequence[Stage], args: argparse.Namespace) -> dict[str, tuple[Stage, list[Job]]]:
    """The jobs of each stage that are not published; a run that several stages want belongs to the first."""
    done, known, found = published_runs(args.results), Known(), {}
    seen: set[str] = set()
    for stage in stages:
        jobs = [job for job in jobs_for(stage.requests(args.scale), args.out, known) if job.name not in seen]
        seen |= {job.name for job in jobs}
        for job in jobs:
            if job.name in done:
                check_same(job, done[job.name])
        found[stage.name] = stage, [job for job in jobs if job.name not in done]
    return found


def check_same(job: Job, published: Path) -> None:
    """A published run with this name must have this configuration; settings that it does not name have defaults."""
    origin = published / "config.json"
    if RunConfig.from_json(read_json(origin), str(origin)) != job.config:
        raise ChorusError(f"{origin} is not the configuration of this run; move it away, and the run is made again")


def publisher(folder: Path) -> Callable[[Job], None]:
    def on_end(job: Job) -> None:
        publish(job.path, folder)

    return on_end


def print_plan(stages: Mapping[str, tuple[Stage, list[Job]]], workers: int) -> None:
    """What is left of each stage, with an estimate of its time."""
    left = {name: [job for job in jobs if not job.has_ended] for name, (_, jobs) in stages.items()}
    for name, (stage, _) in stages.items():
        print(f"{name}: {stage.title}\n  {left_in_words(left[name], workers)}")
    print(f"all: {left_in_words([job for jobs in left.values() for job in jobs], workers)}")
    say(f"with {workers} runs at once, {cpu_source()}; next: the same command without --dry-run")


def left_in_words(jobs: Sequence[Job], workers: int) -> str:
    if not jobs:
        return "nothing left"
    return f"{plural(len(jobs), 'run')} left, about {duration(cost_left(jobs, workers).seconds)}"


def main(given: Sequence[str]) -> int:
    args = read_arguments(given)
    try:
        stages = left_to_do(find_stages(args.stages, args.env, args.rounds), args)
        if args.dry_run:
            print_plan(stages, args.workers)
            return 0
        code = 0
        for name, (stage, jobs) in stages.items():
            on_end = publisher(args.results / stage.folder)
            for job in jobs:
                if job.has_ended:
                    # The command was stopped between the end of this run and its publication.
                    on_end(job)
            code = max(code, run_jobs(args, jobs, name, on_end).exit_code)
        return code
    except ChorusError as problem:
        print(f"evidence: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
