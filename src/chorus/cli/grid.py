"""Options, plan, summary and report of every command that runs many jobs."""

import argparse
import shlex
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from chorus.cli.consent import add_yes, ask_first
from chorus.cli.main import INTERRUPTED
from chorus.cli.tracking_options import add_tracking, tracking_from
from chorus.cli.train_options import add_out, whole
from chorus.errors import ChorusError
from chorus.scheduling.engines import ENGINES, engine_options, read_options
from chorus.wrapping import say, unbroken

if TYPE_CHECKING:
    from chorus.analysis.shipped import Beside
    from chorus.scheduling.grid import GridResult
    from chorus.scheduling.jobs import Job
    from chorus.studies.study import Study

# Of the figures of studies.
_FORMATS = ("svg", "png")


def add_grid_options(parser: argparse.ArgumentParser) -> None:
    """Options for where runs are executed and stored."""
    where = parser.add_argument_group("where it runs")
    where.add_argument(
        "--engine",
        default="local",
        metavar="NAME",
        help="; ".join(f"{name}: {kind.help}" for name, kind in ENGINES.items()) + " (default: local)",
    )
    where.add_argument(
        "--workers",
        type=whole,
        metavar="W",
        help=f"runs at once (default: {'; '.join(f'{name}, {kind.at_once}' for name, kind in ENGINES.items())})",
    )
    where.add_argument(
        "--device", choices=["cpu", "gpu"], help="what computes (default: gpu at the paper scale, else cpu)"
    )
    for name, kind in ENGINES.items():
        group = parser.add_argument_group(f"with --engine {name}") if kind.options else where
        for option in kind.options:
            several = "+" if option.several else None
            group.add_argument(f"--{option.name}", metavar=option.metavar, help=option.help, nargs=several)
    output = parser.add_argument_group("output")
    add_out(output)
    output.add_argument("--quiet", action="store_true", help="no progress, only the result")
    add_yes(output)
    add_tracking(parser)


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="only print the runs and their estimated cost (default: off)"
    )


def given_options(args: argparse.Namespace) -> dict[str, Any]:
    """The given options that belong to one engine, as they were typed."""
    typed = {option.key: getattr(args, option.key) for _, option in engine_options()}
    return {key: value for key, value in typed.items() if value is not None}


def device_for(args: argparse.Namespace) -> str | None:
    """The device from `--device`, or gpu at the paper scale; None leaves it to the preset."""
    return args.device or ("gpu" if args.scale == "paper" else None)


def run_jobs(
    args: argparse.Namespace, jobs: "Sequence[Job]", title: str, on_end: "Callable[[Job], None] | None" = None
) -> "GridResult":
    """Run the jobs on the chosen engine; Ctrl-C prints how to resume and exits."""
    from chorus.scheduling.engines import choose_engine
    from chorus.scheduling.grid import GridResult, run_grid

    options = given_options(args)
    read_options(args.engine, args.workers, options)
    tracking = tracking_from(args)
    tracking.check_packages()
    check_folder(args.out)
    jobs = [replace(job, tracking=tracking) for job in jobs]
    todo = [job for job in jobs if not job.has_ended]
    if not todo:
        if not args.quiet:
            say(plan(jobs, workers=1))
        result = GridResult(jobs, skipped=len(jobs))
        _print_outcome(result)
        return result
    engine = choose_engine(args.engine, todo, workers=args.workers, **options)
    ask_first(*cost_left(todo, engine.workers), args.yes)
    try:
        # After connecting: Ray installs its own signal handler.
        with _terminated_like_interrupted():
            if not args.quiet:
                say(f"{plan(jobs, engine.workers)}; runs go to {args.out}")
                if tracking and len(todo) < len(jobs):
                    say("runs that have already ended are not tracked after the fact")
            result = run_grid(jobs, engine, quiet=args.quiet, title=title, on_end=on_end)
    except KeyboardInterrupt:
        ended = sum(job.has_ended for job in jobs)
        say(
            f"\nstopped; {ended} of {len(jobs)} runs have ended, and {engine.after_interrupt()}. "
            f"Resume with: {unbroken(this_command())}"
        )
        raise SystemExit(INTERRUPTED) from None
    _print_outcome(result)
    return result


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Treat SIGTERM, as batch systems send it, like Ctrl-C: runs are stopped and checkpoints are kept."""

    def stop(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def check_folder(out: Path) -> None:
    """Refuse an output folder in which run folders cannot be created."""
    try:
        nearest = next(path for path in (out, *out.absolute().parents) if path.exists() or path.is_symlink())
    except OSError as problem:
        raise ChorusError(f"--out {out} cannot be a folder ({problem.strerror}); choose another") from problem
    if not nearest.is_dir():
        raise ChorusError(f"--out {out} cannot be a folder, because {nearest} is none; choose another")
    try:
        # Some folders look writable and are not, such as /proc.
        tempfile.TemporaryDirectory(dir=nearest, prefix=".chorus-").cleanup()
    except OSError as problem:
        raise ChorusError(
            f"--out {out} cannot be written to ({problem.strerror}); choose another folder, or check its permissions"
        ) from problem


def print_plan(args: argparse.Namespace, jobs: "Sequence[Job]") -> None:
    """Print the plan of `--dry-run`; nothing on disk is touched."""
    from chorus.scheduling.engines.local import workers_that_fit

    read_options(args.engine, args.workers, given_options(args))
    tracking_from(args).check_packages()
    check_folder(args.out)
    for line in plan_lines(jobs):
        print(line)
    todo = [job for job in jobs if not job.has_ended]
    fitting = None if ENGINES[args.engine].elsewhere else workers_that_fit(todo)
    say(plan(jobs, args.workers or fitting))


def plan_lines(jobs: "Sequence[Job]") -> Iterator[str]:
    """One line per configuration with the state of its seeds."""
    configurations: dict[str, list[Job]] = {}
    for job in jobs:
        configurations.setdefault(str(job.path).rpartition("__s")[0], []).append(job)
    for name, same in configurations.items():
        states = Counter(job.state for job in same)
        seeds = [job.config.seed for job in same]
        whole = seeds == list(range(seeds[0], seeds[-1] + 1))
        several = f"{seeds[0]}..{seeds[-1]}" if whole and len(seeds) > 1 else ",".join(map(str, seeds))
        which = f"{{{several}}}" if len(seeds) > 1 else several
        yield f"{', '.join(f'{count} {state}' for state, count in states.items()):<24} {name}__s{which}"


def plan(jobs: "Sequence[Job]", workers: int | None) -> str:
    """The number of runs, how many have ended, and the estimated cost of the rest."""
    todo = [job for job in jobs if not job.has_ended]
    said = f"{len(jobs)} runs, {len(jobs) - len(todo)} already ended"
    return f"{said}: {cost_left(todo, workers).words if todo else 'nothing is left to do'}"


class Cost(NamedTuple):
    """What is left to pay, in words that say where the numbers come from."""

    words: str
    seconds: float
    gpu_days: float


def cost_left(todo: "Sequence[Job]", workers: int | None) -> Cost:
    """The estimated cost of runs that have not ended, with this many at once; None is one core."""
    from chorus.runs.progress import duration
    from chorus.scheduling.costs import GPU_SOURCE, Forecast, cpu_source, gpu_words, on_gpu, work_left

    shares = [(job, job.saved_step() / job.total_steps) for job in todo]
    costs, seconds = [], 0.0
    if gpu_days := work_left((job.config, share) for job, share in shares).gpu_days:
        costs.append(f"about {gpu_words(gpu_days)} ({GPU_SOURCE})")
    if on_cpu := [(job, share) for job, share in shares if not on_gpu(job.config)]:
        seconds = Forecast().left(on_cpu, (), workers or 1)
        at_once = f"with {workers} at once" if workers else "of one core"
        costs.append(f"about {duration(seconds)} {at_once} ({cpu_source()})")
    return Cost(", and ".join(costs), seconds, gpu_days)


def _print_outcome(result: "GridResult") -> None:
    """How many runs have ended, and the error output of those that failed."""
    ended = len(result.jobs) - len(result.failures)
    print(f"{ended} of {len(result.jobs)} runs have ended ({result.skipped} of them before this command)")
    for job in result.jobs:
        if job.state == "diverged":
            say(f"  {job.name} diverged: no member has finite values any more; its curve ends there")
    for failure in result.failures:
        print(f"  {failure.job.name} failed:")
        print("\n".join(f"    {line}" for line in failure.problem.splitlines()))
    if result.failures:
        say(f"retry the failed runs with the same command: {unbroken(this_command())}")


def suggested(*words: str, **given: object) -> str:
    """A `chorus` command with the given options, without those that have their default."""
    usual = {"scale": "laptop", "out": Path("runs"), "engine": "local"}
    options = {name: value for name, value in given.items() if value is not None and value != usual.get(name)}
    parts: list[str] = []
    for name, value in options.items():
        parts += [f"--{name.replace('_', '-')}", *(value if isinstance(value, list) else [str(value)])]
    return shlex.join(["chorus", *words, *parts])


def this_command() -> str:
    """This command as it can be typed again, with its path if the shell would not find it."""
    program = Path(sys.argv[0])
    if program.suffix == ".py" and program.name != "__main__.py":
        return shlex.join(["python", *sys.argv])
    by_path = ["python", "-m", "chorus"] if program.name == "__main__.py" else [sys.argv[0]]
    return shlex.join([*(["chorus"] if shutil.which("chorus") else by_path), *sys.argv[1:]])


def write_findings(
    jobs: "Sequence[Job]",
    folder: Path,
    title: str,
    study: "Study | None" = None,
    tag: str = "",
    beside: "Beside | None" = None,
) -> None:
    """Answers in the terminal, the report and perhaps the panels of a study in `folder`."""
    from chorus.analysis.context import make_context
    from chorus.analysis.loading import load_runs
    from chorus.analysis.paper import draw_panels
    from chorus.analysis.report import write_dataset_report
    from chorus.cli.answers import print_summary
    from chorus.errors import ChorusError
    from chorus.scheduling.jobs import evaluated

    found = evaluated(jobs)
    if not found:
        print("no run has been evaluated yet, so there is nothing to draw")
        return
    dataset = load_runs(found)
    report = folder / f"report{tag}.html"
    summary = write_dataset_report(dataset, report, title=title, beside=beside)
    if study is not None:
        try:
            panels = draw_panels(make_context(dataset), study.panels)
        except ChorusError as problem:
            say(f"no figure: {problem}")
            panels = {}
        for name, drawing in panels.items():
            for ending in _FORMATS:
                drawing.save(folder / f"{study.name}{tag}-{name}.{ending}", captioned=True)
            print(f"figure: {folder / f'{study.name}{tag}-{name}.svg'} (and .png)")
    print_summary(summary)
