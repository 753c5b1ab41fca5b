"""`chorus resume`: resume a run from its last checkpoint."""

import argparse
from collections.abc import Sequence
from pathlib import Path


def configure(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder")
    parser.add_argument("--quiet", action="store_true", help="no progress, only the result")
    parser.epilog = "A resumed run writes the same metrics, byte for byte, as one that was never stopped."


def run(args: argparse.Namespace) -> int:
    from chorus.cli.outcome import report, stoppable
    from chorus.runs.lifecycle import resume_run
    from chorus.runs.progress import for_terminal
    from chorus.runs.run_directory import RunDirectory

    before = RunDirectory(args.run)
    before.read_config()
    if before.has_ended():
        print(f"{args.run} has ended already: there is nothing to resume.")
    with stoppable(args.run):
        resume_run(args.run, for_terminal(args.quiet))
    return report(args.run)
