"""`chorus sweep`: every combination of presets, environments, seeds and settings, without writing Python."""

import argparse
from typing import Any

from chorus.cli.grid import add_dry_run, add_grid_options
from chorus.cli.train_options import add_run_options, whole

_OWN_OPTIONS = {
    "env": "--env",
    "preset": "--preset",
    "seed": "--seeds",
    "seeds": "--seeds",
    "scale": "--scale",
    "hyperparameters": "--hyperparameters",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Run every combination of presets, environments, seeds and settings; what is finished is skipped and what was "
        "cut is gone on with. The whole grid is checked before anything is run."
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
    what.add_argument("--seeds", type=whole, default=1, metavar="S", help="seeds 0 to S - 1 of each (default: 1)")
    what.add_argument(
        "--scale", choices=["smoke", "laptop", "paper"], help="budget and network together (default: laptop)"
    )
    what.add_argument(
        "--hyperparameters",
        choices=["code", "table"],
        help="where the paper's table differs from the code it was run with, which to follow (default: code)",
    )
    what.add_argument(
        "--set",
        dest="settings",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=V1,V2",
        help="an option of `chorus train` and the values to run it with, such as members=5,10 (default: the scale's)",
    )
    add_dry_run(parser)
    add_grid_options(parser)


def run(args: argparse.Namespace) -> int:
    import hashlib

    from chorus.cli.findings import write_findings
    from chorus.cli.grid import device_for, print_plan, run_jobs, suggested
    from chorus.errors import ChorusError
    from chorus.scheduling.jobs import jobs_for
    from chorus.studies.sweep import Sweep

    settings = parse_settings(args.settings)
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
        print("\n".join(left_out), end="\n" if left_out else "")
    if args.dry_run:
        print_plan(args, jobs)
        return 0
    result = run_jobs(args, jobs, "sweep")
    # Named by its runs: the same sweep again renews its report, another one does not touch it.
    name = hashlib.sha256("\n".join(sorted(job.name for job in jobs)).encode()).hexdigest()[:8]
    write_findings(jobs, args.out / "reports" / f"sweep-{name}", "Sweep: " + ", ".join(args.preset))
    command = suggested("report", str(args.out), export="data")
    print(f"next: {command}      every run there, with the data for other tools")
    return result.exit_code


def parse_settings(given: list[str]) -> dict[str, list[Any]]:
    """`members=5,10` as the option of `chorus train` would read each value."""
    from chorus.config.options import OPTIONS
    from chorus.errors import ChorusError, did_you_mean

    reader = argparse.ArgumentParser(add_help=False)
    add_run_options(reader)
    readers = {action.dest: action for action in reader._actions}
    settings: dict[str, list[Any]] = {}
    for text in given:
        written, equals, values = text.partition("=")
        name = written.removeprefix("--").replace("-", "_")
        if not equals or not values:
            raise ChorusError(f"--set {text} has no value; write it as {written or 'members'}=V1,V2")
        if own := _OWN_OPTIONS.get(name):
            raise ChorusError(f"--set {text}: `chorus sweep` has an option of its own for that; use {own}")
        if name not in OPTIONS:
            raise ChorusError(f"--set {text} names no option of `chorus train`{did_you_mean(name, OPTIONS)}")
        if name in settings:
            raise ChorusError(f"--set gives {written} twice; write all its values together, as {written}=V1,V2")
        settings[name] = [_read(readers[name], written, value) for value in values.split(",")]
    return settings


def _read(action: argparse.Action, name: str, text: str) -> Any:
    from chorus.errors import ChorusError

    if action.nargs == 0:
        if text not in ("true", "false"):
            raise ChorusError(f"--set {name}={text} is neither true nor false")
        return text == "true"
    if action.choices is not None and text not in action.choices:
        raise ChorusError(f"--set {name}={text} is none of {', '.join(map(str, action.choices))}")
    try:
        return action.type(text) if callable(action.type) else text
    except (argparse.ArgumentTypeError, ValueError) as problem:
        raise ChorusError(f"--set {name}={text} cannot be read: {problem}") from problem
