"""`chorus reproduce`: a study, from the runs it needs to its figure and a report."""

import argparse
from collections.abc import Sequence

from chorus.cli.grid import add_dry_run, add_grid_options
from chorus.cli.train_options import add_hyperparameters, add_seeds
from chorus.wrapping import say, say_next


def configure(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    parser.description = (
        "Run what a study (a data figure of the paper, or one beside them) still needs, then draw its figure and write "
        "a report. Finished runs are skipped (studies share runs) and interrupted runs are resumed."
    )
    parser.add_argument(
        "study", metavar="STUDY", help="figure2, hyperparameters, ...; `chorus list studies` shows them"
    )
    parser.add_argument(
        "--scale",
        choices=["smoke", "laptop", "paper"],
        default="laptop",
        help="smoke: a minute or two; laptop: hours on a CPU, MinAtar for Atari and fewer values and seeds; "
        "paper: the paper's numbers, on GPUs (default: laptop)",
    )
    parser.add_argument(
        "--part",
        metavar="NAME",
        help="only the discrete or only the continuous half of a figure that has both (default: all of it)",
    )
    add_seeds(parser, "configuration", "the study's")
    add_hyperparameters(parser)
    add_dry_run(parser)
    add_grid_options(parser)


def run(args: argparse.Namespace) -> int:
    from chorus.cli.grid import device_for, print_plan, run_jobs, suggested, write_findings
    from chorus.scheduling.jobs import jobs_of
    from chorus.studies.seeds import seeds_in_words
    from chorus.studies.table import find_study

    study = find_study(args.study)
    chosen = study.choose(args.part)
    if args.seeds is not None:
        chosen = tuple(part.with_seeds(args.seeds) for part in chosen)
    parts = {
        part.name: jobs_of(
            part, args.scale, args.out, device_for(args), study=study.name, hyperparameters=args.hyperparameters
        )
        for part in chosen
    }
    jobs = [job for part in parts.values() for job in part]
    if not args.quiet:
        where = "" if study.figure is None else f"figure {study.figure} of the paper: "
        say(f"{where}{study.title}, {args.scale} scale")
        if args.scale == "laptop" and study.laptop:
            say(f"smaller than the paper: {study.laptop}")
        if args.seeds is not None:
            say(f"seeds from --seeds, not the study's: {seeds_in_words(args.seeds)} of each configuration")
    if args.dry_run:
        print_plan(args, jobs)
        return 0
    result = run_jobs(args, jobs, study.name)
    tag, said = _distinguish(args)
    folder = args.out / "reports" / f"{study.name}-{args.scale}{tag}"
    for name, part in parts.items():
        title = f"{study.heading} ({args.scale} scale{said})"
        write_findings(part, folder, title, study, tag=f"-{name}" if len(study.parts) > 1 else "")
    if args.scale == "smoke":
        command = suggested("reproduce", study.name, part=args.part, out=args.out)
        say_next(command, "the laptop scale, where something is learnt")
    else:
        print(f"next: {suggested('list', 'studies', scale=args.scale, device=args.device, out=args.out)}")
    return result.exit_code


def _distinguish(args: argparse.Namespace) -> tuple[str, str]:
    """The end of the folder's name and of the title: another report must not replace the study's own."""
    tag, said = "", ""
    if args.hyperparameters == "table":
        tag, said = f"{tag}-table", f"{said}, --hyperparameters table"
    if args.seeds is not None:
        from chorus.studies.seeds import seeds_in_words

        words = seeds_in_words(args.seeds)
        tag, said = f"{tag}-{words}-seeds", f"{said}, --seeds {words}"
    return tag, said
