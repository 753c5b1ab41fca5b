"""`chorus train`: one run from its first step to its last."""

import argparse
from collections.abc import Sequence

from chorus.cli.consent import add_yes, ask_first
from chorus.cli.tracking_options import tracking_from
from chorus.cli.train_options import add_output_options, add_run_options, request_from


def configure(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    parser.add_argument("preset", nargs="?", metavar="PRESET", help="the algorithm; `chorus list` shows them")
    add_run_options(parser, given)
    add_output_options(parser)
    add_yes(parser)


def run(args: argparse.Namespace) -> int:
    from chorus.cli.grid import cost_left
    from chorus.cli.outcome import announce, report, stoppable
    from chorus.config.resolution import resolve
    from chorus.runs.lifecycle import create_run, planned_path, train_run
    from chorus.runs.progress import for_terminal
    from chorus.scheduling.jobs import Job

    tracking = tracking_from(args)
    tracking.check_packages()
    resolved = resolve(request_from(args))
    planned = Job(resolved.config, planned_path(resolved, args.out))
    if planned.state == "missing":
        ask_first(*cost_left([planned], None), args.yes)
    assembly, path = create_run(resolved, args.out, keep_replay=args.keep_replay, tracking=tracking)
    progress = for_terminal(args.quiet)
    announce(resolved, path, progress)
    with stoppable(path):
        train_run(assembly, path, progress)
    return report(path)
