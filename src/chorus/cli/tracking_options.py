"""Options for copies of the numbers on TensorBoard and W&B, of every command that trains."""

import argparse
from typing import TYPE_CHECKING

from chorus.errors import ChorusError

if TYPE_CHECKING:
    from chorus.runs.tracking import Tracking


def add_tracking(parser: argparse.ArgumentParser) -> None:
    """Where a run's numbers are copied to, for every command that trains."""
    group = parser.add_argument_group("tracking")
    group.add_argument(
        "--tensorboard",
        action="store_true",
        help="also write files for TensorBoard into each run's folder; `tensorboard --logdir runs` shows them "
        "(default: off)",
    )
    group.add_argument(
        "--track",
        action="store_true",
        help="also send the numbers to Weights & Biases; WANDB_MODE=offline keeps them local (default: off)",
    )
    group.add_argument(
        "--wandb-project", metavar="NAME", help="with --track, the project (default: WANDB_PROJECT, or else chorus)"
    )
    group.add_argument(
        "--wandb-entity", metavar="NAME", help="with --track, the user or team (default: WANDB_ENTITY, or else yours)"
    )
    group.add_argument(
        "--wandb-group",
        metavar="NAME",
        help="with --track, the group (default: WANDB_RUN_GROUP, or else the run's name without its seed)",
    )
    group.add_argument("--wandb-tags", metavar="TAG", nargs="+", help="with --track, tags (default: WANDB_TAGS)")


def tracking_from(args: argparse.Namespace) -> "Tracking":
    from chorus.runs.tracking import PLACES, Tracking

    said = {name: getattr(args, f"wandb_{name}") for name in PLACES}
    given = {name: value for name, value in said.items() if value is not None}
    for name, value in given.items():
        if any(not text.strip() for text in ([value] if isinstance(value, str) else value)):
            raise ChorusError(f"--wandb-{name} is empty; give it a text, or leave it out")
    return Tracking(tensorboard=args.tensorboard, track=args.track, wandb=given)
