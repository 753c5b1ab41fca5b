"""The options of a run, with unit and default, as every command that trains offers them."""

import argparse
import math
from pathlib import Path

from chorus.config.options import OPTIONS
from chorus.config.resolution import Request

_FROM_SCALE = "default: the scale's"


def whole(text: str) -> int:
    """A count; 500_000 and 5e5 are accepted for 500000, and all digits of a long seed count."""
    for convert in (int, _whole_float):
        try:
            return convert(text)
        except (ValueError, OverflowError):
            continue
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")


def _whole_float(text: str) -> int:
    value = float(text)
    if value != int(value):
        raise ValueError(text)
    return int(value)


def number(text: str) -> float:
    try:
        value = float(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from problem
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def folder(text: str) -> Path:
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty name is no folder")
    return Path(text)


def add_out(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--out", type=folder, default=Path("runs"), metavar="DIR", help="folder that holds run folders (default: runs)"
    )


def add_run_options(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what to run")
    what.add_argument(
        "--env",
        metavar="ID",
        help="environment: a Gymnasium id, ALE/Breakout-v5, MinAtar/Breakout-v1, or my_package:MyEnv-v0 (default: "
        "that of --config)",
    )
    what.add_argument("--seed", type=whole, metavar="S", help="root of every random stream (default: 0)")
    what.add_argument(
        "--scale",
        choices=["smoke", "laptop", "paper"],
        help="budget and network together: smoke takes about 20 seconds, laptop minutes to hours on a CPU, paper what "
        "the paper used (default: laptop)",
    )
    what.add_argument(
        "--hyperparameters",
        choices=["code", "table"],
        help="where the paper's table differs from the code it was run with, which to follow (default: code)",
    )
    what.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="a run's config.json, or a part of one, laid over the preset (default: none)",
    )

    ensemble = parser.add_argument_group("the ensemble")
    ensemble.add_argument("--members", type=whole, metavar="N", help=f"ensemble size ({_FROM_SCALE})")
    ensemble.add_argument(
        "--shared-layers",
        type=whole,
        metavar="L",
        help="bottom layers that all members share, 0 to depth - 1 (default: 0)",
    )
    ensemble.add_argument(
        "--passive-share",
        type=number,
        metavar="P",
        help="tandem: share of the episodes that the passive member plays, 0 to 1 (default: 0.1, the paper's "
        "10 %%-tandem)",
    )

    ensemble.add_argument(
        "--prior-scale",
        type=number,
        metavar="BETA",
        help="weight of each member's fixed random network (default: 0, none)",
    )
    ensemble.add_argument(
        "--huber-threshold",
        type=number,
        metavar="D",
        help="SAC + CERL: beyond this the auxiliary loss is linear in the error (default: 10, the paper's)",
    )
    ensemble.add_argument(
        "--mico-weight", type=number, metavar="W", help="MICo: its share of the loss, 0 to 1 (default: 0.01)"
    )

    ensemble.add_argument(
        "--own-probability",
        type=number,
        metavar="P",
        help="self-oversampled: chance that a member's batch holds its own transitions only, 0 to 1 (default: 0.5)",
    )
    ensemble.add_argument(
        "--joint-coin",
        action="store_true",
        default=None,
        help="self-oversampled: one coin for all members in each update, as in the authors' code (default: off)",
    )
    ensemble.add_argument(
        "--keep-probability",
        type=number,
        metavar="P",
        help="data-bootstrapped: chance that a member learns from a transition, above 0 to 1 (default: 0.75)",
    )

    learning = parser.add_argument_group("learning")
    for name, kind, metavar, text in (
        ("--learning-rate", number, "RATE", "step size of the optimiser"),
        ("--optimizer-epsilon", number, "EPS", "what the optimiser adds to a gradient's size before it divides by it"),
        ("--batch-size", whole, "B", "transitions in a batch"),
        ("--buffer-size", whole, "TRANSITIONS", "transitions in the replay"),
        ("--discount", number, "GAMMA", "discount of the main heads, 0 to 1"),
        ("--n-step", whole, "n", "rewards in a return before it bootstraps"),
        ("--target-period", whole, "UPDATES", "gradient steps between copies to the target network"),
        ("--target-rate", number, "TAU", "share of the online network that each copy takes over, above 0 to 1"),
        ("--update-period", whole, "STEPS", "agent steps for each gradient step"),
        ("--learning-starts", whole, "STEPS", "agent steps of random actions before the first gradient step"),
        ("--epsilon", number, "EPS", "chance of a random action at the end of its decay, 0 to 1"),
        ("--epsilon-decay", whole, "STEPS", "agent steps over which that chance falls from 1"),
    ):  # fmt: skip
        learning.add_argument(name, type=kind, metavar=metavar, help=f"{text} ({_FROM_SCALE})")

    budget = parser.add_argument_group("budget and evaluation")
    for name, kind, metavar, text in (
        ("--total-steps", whole, "STEPS", "agent steps of training, over all environments"),
        ("--iteration-steps", whole, "STEPS", "agent steps between evaluations and checkpoints"),
        ("--num-envs", whole, "E", "environments stepped side by side"),
        ("--max-episode-steps", whole, "STEPS", "agent steps after which an episode is truncated"),
        ("--eval-episodes", whole, "K", "at least this many episodes for each evaluated policy"),
        ("--eval-steps", whole, "STEPS", "and whole episodes until at least this many agent steps, 0 for no floor"),
        ("--eval-envs", whole, "E", "environments played at once in evaluation"),
        ("--eval-epsilon", number, "EPS", "chance of a random action in evaluation, 0 to 1"),
    ):  # fmt: skip
        budget.add_argument(name, type=kind, metavar=metavar, help=f"{text} ({_FROM_SCALE})")
    budget.add_argument("--eval-members", action="store_true", help="evaluate each member by itself, too")

    _add_atari_options(parser)

    machine = parser.add_argument_group("machine")
    machine.add_argument("--device", choices=["cpu", "gpu"], help="what computes (default: cpu)")
    machine.add_argument(
        "--threads",
        type=whole,
        metavar="T",
        help=f"CPU threads; another number gives other low-order bits ({_FROM_SCALE})",
    )


def _add_atari_options(parser: argparse.ArgumentParser) -> None:
    atari = parser.add_argument_group("Atari games only")
    atari.add_argument(
        "--sticky-actions",
        type=number,
        metavar="P",
        help="chance that the emulator repeats the action before, from 0 to below 1; Gymnasium's v5 is 0.25 "
        "(default: 0, the paper's)",
    )
    atari.add_argument(
        "--noop-max",
        type=whole,
        metavar="K",
        help="up to this many actions that do nothing before each game, their number drawn at random (default: 0)",
    )
    for name, text in (
        ("--terminal-on-life-loss", "the learner sees a terminal at each lost life; game and scores go on"),
        ("--redraw-on-life-loss", "draw the acting member anew at each lost life, not only where a game starts"),
    ):
        atari.add_argument(name, action="store_true", default=None, help=f"{text} (default: off)")


def add_output_options(parser: argparse.ArgumentParser) -> None:
    output = parser.add_argument_group("output")
    add_out(output)
    output.add_argument("--quiet", action="store_true", help="no progress, only the result")
    output.add_argument("--tensorboard", action="store_true", help="also write the numbers for TensorBoard")
    output.add_argument(
        "--track",
        action="store_true",
        help="also send the numbers to Weights & Biases (WANDB_MODE=offline keeps them local)",
    )
    output.add_argument("--keep-replay", action="store_true", help="keep the replay's files when the run is finished")


def request_from(args: argparse.Namespace) -> Request:
    given = vars(args)
    return Request(
        preset=args.preset,
        env=args.env,
        seed=args.seed,
        scale=args.scale,
        hyperparameters=args.hyperparameters,
        file=args.config,
        options={name: given[name] for name in OPTIONS if given.get(name) is not None},
        eval_members=args.eval_members,
    )
