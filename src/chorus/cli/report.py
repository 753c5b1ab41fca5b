"""`chorus report`: statistics, figures and a page to read, from run directories."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.errors import ChorusError
from chorus.plugins import load_recorded
from chorus.wrapping import say

if TYPE_CHECKING:
    from chorus.analysis.loading import Dataset

SCALES = ("human", "single", "min-max")


def configure(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    """Declares the command's arguments; nothing heavy is imported before it runs."""
    parser.description = (
        "Write one self-contained HTML page about finished, running or failed runs: is there a curse of "
        "diversity, how large is it, and what helps; with figures, tables, configurations and the data "
        "behind each figure. If a folder contains several folders of published runs, as results in the source tree "
        "does, each of them gets its own page beside FILE, and FILE is an index of these pages with the paper's claims."
    )
    parser.add_argument(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUNS",
        help="run directories, or folders that hold run directories at any depth",
    )
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        default=Path("report.html"),
        metavar="FILE",
        help="the file to write (default: report.html)",
    )
    parser.add_argument("--title", metavar="TEXT", help="the page's heading (default: made from the environments)")
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="seed of the bootstrap; the same runs and seed give the same page (default: 0)",
    )
    parser.add_argument(
        "--scale-by",
        choices=SCALES,
        help="how environments are put on one scale: by human and random scores, the single agent, or the "
        "worst and best run (default: the first of these that is known for every environment)",
    )
    parser.add_argument(
        "--references",
        type=Path,
        metavar="CSV",
        help="reference scores with the columns env,random and optionally human (default: the measured ones)",
    )
    parser.add_argument(
        "--beside",
        type=Path,
        nargs="+",
        default=[],
        metavar="PATH",
        help="what to show beside the runs: a folder of other runs, such as results of the source tree, or published "
        "curves, as Dopamine's baseline JSON files or CSV with the columns env,algorithm,seed,step,return (default: "
        "none)",
    )
    parser.add_argument(
        "--export",
        type=Path,
        metavar="FOLDER",
        help="also write the data: long and final scores as CSV, rliable's matrices, Dopamine's "
        "formats (default: not written)",
    )


def run(args: argparse.Namespace) -> int:
    """Writes the report and says where it is."""
    if args.seed < 0:
        raise ChorusError(f"--seed is {args.seed}; it must not be negative")
    from chorus.analysis.beside import put_beside
    from chorus.analysis.exchange import export_all
    from chorus.analysis.loading import load_runs
    from chorus.analysis.normalisation import read_references
    from chorus.analysis.report import split_by_folder, write_dataset_report, write_folder_reports
    from chorus.cli.answers import print_path, print_summary

    references = read_references(args.references) if args.references else None
    dataset = load_runs(args.runs)
    for note in missing_plugins(dataset):
        say(f"Note: {note}; the report shows what the runs recorded")
    common = {"title": args.title, "seed": args.seed, "references": references, "normalisation": args.scale_by}
    folders = split_by_folder(dataset, args.runs)
    if folders and args.beside:
        names = ", ".join(map(str, args.runs))
        one = shlex.quote(str(args.runs[0] / next(iter(folders))))
        raise ChorusError(
            f"--beside goes with one page, and {names} has {len(folders)} folders of published runs with a page each; "
            f"give one of them, such as {one}"
        )
    if folders:
        summary = write_folder_reports(dataset, folders, args.out, **common, tell=lambda text: say(text, sys.stderr))
    else:
        dataset, beside, warnings = put_beside(dataset, args.beside)
        summary = write_dataset_report(dataset, args.out, **common, beside=beside, warnings=warnings)
    if args.export:
        for name, own in (folders or {"": dataset}).items():
            for path in export_all(own, args.export / name):
                print(f"data: {path}")
    # The answers of several pages are too many for a terminal; they are in the index.
    if folders:
        print_path(summary.kind, summary.out)
    else:
        print_summary(summary, most_warnings=5)
    print(f"next: open {shlex.quote(str(summary.out))} in a browser")
    return 0


def missing_plugins(dataset: "Dataset") -> list[str]:
    """Load the plugins that the runs were trained with; a sentence for each that is not there any more."""
    lists = [found for run in dataset.runs if isinstance(found := run.meta.get("plugins"), list)]
    return load_recorded(dict.fromkeys(name for names in lists for name in names if isinstance(name, str)))
