"""`chorus demo`: the curse of diversity on MinAtar, ending in a report."""

import argparse
from collections.abc import Sequence

from chorus.cli.grid import add_dry_run, add_grid_options
from chorus.cli.train_options import add_seeds
from chorus.wrapping import say_next

# docs/demo.md says which of these were measured.
_DURATION = "four to nine minutes on two recent cores, up to 15 on older ones with AVX2 only"


def configure(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    parser.description = (
        f"Train Double DQN, Bootstrapped DQN and the tandem on MinAtar, several seeds each, {_DURATION}; then say "
        "what came out, with intervals, beside what the shipped runs say, CERL included, and write a report. Finished "
        "runs are skipped and interrupted runs are resumed."
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--long", action="store_true", help="the overnight version: more games and steps, and CERL")
    what.add_argument(
        "--scale",
        choices=["smoke", "laptop"],
        default="laptop",
        help="smoke: one or two minutes, to see that everything works; laptop: the demo itself (default: laptop)",
    )
    from chorus.studies.demo import FIRST_SEED

    add_seeds(
        parser,
        "algorithm",
        "18 for Double DQN, 8 for the tandem, 7 for Bootstrapped DQN; 10 with --long, 2 at smoke",
        first=FIRST_SEED,
    )
    add_dry_run(parser)
    add_grid_options(parser)


def run(args: argparse.Namespace) -> int:
    from chorus.analysis.shipped import DEMO_SETTING, shipped
    from chorus.cli.grid import device_for, print_plan, run_jobs, suggested, write_findings
    from chorus.scheduling.jobs import jobs_of
    from chorus.studies.demo import DEMO, FIRST_SEED, LONG
    from chorus.studies.evidence import FIRST_GAME
    from chorus.studies.seeds import seeds_in_words

    part = LONG if args.long else DEMO
    if args.seeds is not None:
        part = part.with_seeds(args.seeds)
    jobs = jobs_of(part, args.scale, args.out, device_for(args))
    if args.dry_run:
        print_plan(args, jobs)
        return 0
    result = run_jobs(args, jobs, part.name)
    small = args.scale == "smoke"
    tags = ["smoke"] * small + ([] if args.seeds is None else [f"{seeds_in_words(args.seeds, FIRST_SEED)}-seeds"])
    folder = args.out / "reports" / "-".join([part.name.replace(" ", "-"), *tags])
    title = "The curse of diversity on MinAtar" + (" (smoke scale)" if small else "")
    # Whole runs of CERL ship for another game.
    envs = sorted({job.config.env.id for job in jobs} | {FIRST_GAME})
    beside = shipped().beside(envs, setting="" if args.long or small else DEMO_SETTING)
    write_findings(jobs, folder, title, beside=beside)
    if small:
        say_next(suggested("demo", out=args.out), f"the demo itself, {_DURATION}")
    else:
        command = suggested("diagnose", "CartPole-v1", out=args.out)
        say_next(command, "the same questions about your environment")
    return result.exit_code
