"""The question before anything that is estimated to take more than an hour."""

import sys
from typing import Any

_SECONDS_UNASKED = 3_600.0
_DAY = 86_400.0


def add_yes(group: Any) -> None:
    group.add_argument(
        "--yes",
        "-y",
        action="store_true",
        help="do not ask before runs that are estimated to take more than an hour; without a terminal nothing is asked "
        "(default: off)",
    )


def ask_first(cost: str, seconds: float, gpu_days: float, yes: bool) -> None:
    """Ask whether to start; end the command if the answer is no."""
    if yes or max(seconds, gpu_days * _DAY) <= _SECONDS_UNASKED or sys.stdin is None or not sys.stdin.isatty():
        return
    try:
        answer = input(f"This takes {cost}. Start? [y/N] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() not in ("y", "yes"):
        print("nothing was started")
        raise SystemExit(1)
