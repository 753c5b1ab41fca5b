"""`chorus sweep`: every combination of presets, environments, seeds and settings, without writing Python."""

import argparse
from collections.abc import Sequence

from chorus.cli.grid import add_dry_run, add_grid_options
from chorus.cli.train_options import add_hyperparameters, add_scale, add_seeds, add_set, swept_settings
from chorus.wrapping import say, say_next


def configure(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    parser.description = (
        "Run every combination of presets, environments, seeds and settings; finished runs are skipped and "
        "interrupted runs are resumed. The whole grid is checked before anything is run."
    )
    what = parser.add_argument_group("what to run")
    what.add_argument(
        "--preset",
        nargs="+",
        required=True,
        metavar="NAME",
        help="the algorithms; `chorus list` shows them (default: none, give one or more)",
    )
    what.add_argument(
        "--env",
        nargs="+",
        required=True,
        metavar="ID",
        help="environments, or sets of them by name: minatar5, atari4, atari55, mujoco4 (default: none, give one or "
        "more)",
    )
    add_seeds(what, "configuration", "1", default=(0,))
    add_scale(what, "smoke takes about 20 seconds per run, laptop minutes to hours on a CPU, paper what the paper used")
    add_hyperparameters(what)
    add_set(what, "and the values to run it with: members=5,10, or for lists agent.torso.dense=[128,64],[64,64]")
    add_dry_run(parser)
    add_grid_options(parser)


def run(args: argparse.Namespace) -> int:
    import hashlib

    from chorus.cli.grid import device_for, print_plan, run_jobs, suggested, write_findings
    from chorus.errors import ChorusError
    from chorus.scheduling.jobs import jobs_for
    from chorus.studies.sweep import Sweep

    settings = swept_settings(args.settings)
    if args.device and "device" in settings:
        raise ChorusError(f"--device {args.device} and --set device are both given; leave one out")
    if device := device_for(args):
        settings.setdefault("device", [device])
    sweep = Sweep(
        presets=args.preset,
        envs=args.env,
        seeds=args.seeds,
        scale=args.scale,
        hyperparameters=args.hyperparameters,
        settings=settings,
    )
    left_out = sweep.left_out()
    jobs = jobs_for(sweep.requests(), args.out)
    if not args.quiet:
        for sentence in left_out:
            say(sentence)
    if args.dry_run:
        print_plan(args, jobs)
        return 0
    result = run_jobs(args, jobs, "sweep")
    # Named by its runs: the same sweep replaces its report, and no other one does.
    name = hashlib.sha256("\n".join(sorted(job.name for job in jobs)).encode()).hexdigest()[:8]
    write_findings(jobs, args.out / "reports" / f"sweep-{name}", "Sweep: " + ", ".join(args.preset))
    command = suggested("report", str(args.out), export="data")
    say_next(command, "a report of every run there, with data for other tools")
    return result.exit_code
