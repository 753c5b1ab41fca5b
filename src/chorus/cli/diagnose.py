"""`chorus diagnose`: does an environment suffer from the curse, from what, and what to use there?"""

import argparse
from collections.abc import Sequence

from chorus.cli.grid import add_dry_run, add_grid_options, given_options, suggested
from chorus.cli.train_options import Defaults, add_seeds, whole
from chorus.wrapping import say_next


def configure(parser: argparse.ArgumentParser, given: Sequence[str]) -> None:
    parser.description = (
        "Train a single agent, an ensemble, the same ensemble with a larger buffer, a tandem and CERL on one "
        "environment, and answer in the terminal and on a page: is there a curse of diversity, how large is it, where "
        "does it come from, what pays, and what to use. Every answer has its number and interval; too few seeds to "
        "tell is an answer, too. Finished runs are skipped and interrupted runs are resumed."
    )
    parser.add_argument(
        "env", metavar="ENV", help="a Gymnasium id, ALE/Breakout-v5, MinAtar/Breakout-v1, or my_package:MyEnv-v0"
    )
    defaults = Defaults(given)
    what = parser.add_argument_group("what to run")
    what.add_argument(
        "--scale",
        choices=["smoke", "laptop", "paper"],
        default="laptop",
        help="budget and network together: smoke shows that everything works, in minutes; laptop takes hours on a CPU; "
        "paper what the paper used (default: laptop)",
    )
    add_seeds(what, "algorithm", "3 for smoke, else 5")
    what.add_argument(
        "--members",
        type=whole,
        metavar="N",
        help=f"ensemble size, at least 2 (default: {defaults.number('agent.members')})",
    )
    what.add_argument(
        "--total-steps",
        type=whole,
        metavar="STEPS",
        help=f"agent steps of each run (default: {defaults.number('schedule.total_steps')})",
    )
    what.add_argument(
        "--max-episode-steps",
        type=whole,
        metavar="STEPS",
        help=f"agent steps after which an episode is truncated (default: {defaults.number('env.max_episode_steps')})",
    )
    add_dry_run(parser)
    add_grid_options(parser)


def run(args: argparse.Namespace) -> int:
    from chorus.analysis.diagnosis import write_diagnosis
    from chorus.cli.answers import print_summary
    from chorus.cli.grid import device_for, print_plan, run_jobs
    from chorus.envs.registry import describe, full_id
    from chorus.errors import ChorusError
    from chorus.scheduling.jobs import evaluated, jobs_of
    from chorus.spaces import Discrete
    from chorus.studies.diagnosis import SEEDS, Overrides, diagnosis

    spec = describe(full_id(args.env))
    seeds = tuple(range(SEEDS.at(args.scale))) if args.seeds is None else args.seeds
    if args.members is not None and args.members < 2:
        raise ChorusError(f"--members is {args.members}; an ensemble to diagnose has at least 2")
    overrides = Overrides(members=args.members, total_steps=args.total_steps, max_episode_steps=args.max_episode_steps)
    jobs = jobs_of(diagnosis(spec, args.scale, seeds, overrides), args.scale, args.out, device_for(args))
    if args.dry_run:
        print_plan(args, jobs)
        return 0
    result = run_jobs(args, jobs, f"diagnosis of {spec.id}")
    found = evaluated(jobs)
    if not found:
        print("no run has been evaluated yet, so there is nothing to say")
        return result.exit_code
    page = args.out / "reports" / f"{page_name(args, spec.id)}.html"
    count = spec.actions.count if isinstance(spec.actions, Discrete) else None
    summary = write_diagnosis(found, spec.id, page, actions=count)
    print_summary(summary)
    open_questions = any(finding.verdict == "unsettled" for finding in summary.findings)
    say_next(*next_command(args, seeds, open_questions))
    return result.exit_code


def page_name(args: argparse.Namespace, env_id: str) -> str:
    """The page's name, with every option that changes the runs, so that pages do not overwrite each other."""
    from chorus.config.identity import env_in_names
    from chorus.studies.seeds import seeds_in_words

    wished = {
        "members": args.members,
        "steps": args.total_steps,
        "episode-steps": args.max_episode_steps,
        "seeds": args.seeds and seeds_in_words(args.seeds),
    }
    told = [f"{value}-{name}" for name, value in wished.items() if value is not None]
    return "-".join(["diagnosis", env_in_names(env_id), args.scale, *told])


def next_command(args: argparse.Namespace, seeds: Sequence[int], open_questions: bool) -> tuple[str, str]:
    """What to do next, and why: a larger scale after smoke, twice the seeds if a question is open, else the report."""
    where = {name: getattr(args, name) for name in ("engine", "workers", "device", "out")}
    where |= given_options(args)
    if args.scale == "smoke":
        return suggested("diagnose", args.env, **where), "where something is learnt"
    if not open_questions:
        return suggested("report", str(args.out)), "every figure and table of the runs there"
    wished = {name: getattr(args, name) for name in ("scale", "members", "total_steps", "max_episode_steps")}
    # The same seeds and as many after them.
    from chorus.studies.seeds import seeds_in_words

    more = seeds_in_words((*seeds, *range(seeds[-1] + 1, seeds[-1] + 1 + len(seeds))))
    command = suggested("diagnose", args.env, **wished, **where, seeds=more)
    return command, "twice the seeds; finished runs are kept"
