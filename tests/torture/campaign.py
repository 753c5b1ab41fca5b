"""Random attacks on runs, counted: `make torture`, or `TORTURE=1000 make torture` for a thousand kills.

Attacks take turns. Prints tries and failures per attack and ends with `N passed, N failed`, also after Ctrl-C or
SIGTERM. The seed it prints repeats the same attacks.
"""

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

# The tests' own settings of processes and their compilation cache.
sys.path.insert(0, str(Path(__file__).parent.parent))
from attacks import full_disks, killed_parents, kills, two_writers
from cases import Workshop, every_case
from configurations import trained_configurations, wrong_configurations
from damage import damaged_folders, damaged_runs
from trying import Try

import conftest  # noqa: F401
from chorus.runs.machine import processor
from chorus.runs.progress import duration
from chorus.runs.runtime import commit

_SECONDS_BETWEEN_LINES = 10.0
_BEGIN, _END = "<!-- campaign -->", "<!-- end of campaign -->"
Attack = Callable[[Workshop], Iterator[Try]]
# Tries of each attack, in parts of the number of kills; at least one.
ATTACKS: dict[Attack, float] = {
    kills: 1.0,
    damaged_runs: 2.0,
    damaged_folders: 0.5,
    wrong_configurations: 5.0,
    trained_configurations: 0.1,
    full_disks: 0.1,
    two_writers: 0.1,
    killed_parents: 0.03,
}


interrupted: list[int] = []
"""The signals that asked the campaign to stop."""


def _interrupt(number: int, frame: object) -> None:
    interrupted.append(number)
    raise KeyboardInterrupt


@dataclass
class Tally:
    """The tries of one attack."""

    attack: Attack
    wanted: int
    tries: int = 0
    seconds: float = 0.0
    failures: list[Try] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.attack.__name__.replace("_", " ")

    def record(self, one: Try, seconds: float, say: Callable[[str], None]) -> None:
        self.tries += 1
        self.seconds += seconds
        if one.problem:
            self.failures.append(one)
            say(f"  FAILED {self.name}: {one.what}: {one.problem}")


def run(shop: Workshop, tallies: list[Tally], say: Callable[[str], None], deadline: float = float("inf")) -> None:
    """Make the wanted tries, the attack that is furthest behind first; stops at the deadline or when interrupted."""
    try:
        _take_turns(shop, tallies, say, deadline)
    except KeyboardInterrupt:
        say("interrupted")


def _take_turns(shop: Workshop, tallies: list[Tally], say: Callable[[str], None], deadline: float) -> None:
    under_way = {tally.name: tally.attack(shop) for tally in tallies}
    said = time.monotonic()
    while left := [tally for tally in tallies if tally.tries < tally.wanted]:
        tally = min(left, key=lambda tally: tally.tries / tally.wanted)
        began = time.monotonic()
        if began > deadline:
            say("the time is over")
            return
        try:
            one = next(under_way[tally.name])
        except (Exception, pytest.fail.Exception) as problem:
            # What an attack did not foresee is a finding, too.
            one = Try("the attack itself", f"{type(problem).__name__}: {problem}"[:500])
            under_way[tally.name] = tally.attack(shop)
        if interrupted:
            # Perhaps a command took the signal for its own.
            raise KeyboardInterrupt
        tally.record(one, time.monotonic() - began, say)
        if time.monotonic() - said > _SECONDS_BETWEEN_LINES:
            said = time.monotonic()
            rest = sum(t.seconds / t.tries * (t.wanted - t.tries) for t in tallies if t.tries)
            say(f"  {', '.join(f'{t.name} {t.tries}' for t in tallies)}; about {duration(rest)} left")


def planned(count: int) -> list[Tally]:
    """Every attack, scaled by the number of kills."""
    return [Tally(attack, max(1, round(share * count))) for attack, share in ATTACKS.items()]


def campaign(count: int, seed: int, say: Callable[[str], None], minutes: float = float("inf")) -> list[Tally]:
    shop, tallies = Workshop(random.Random(seed), every_case(), most_drawn=max(3, count // 8)), planned(count)
    try:
        run(shop, tallies, say, time.monotonic() + 60 * minutes)
    finally:
        shop.close()
    return tallies


def outcome(tallies: list[Tally]) -> str:
    failed = sum(len(tally.failures) for tally in tallies)
    return f"{sum(tally.tries for tally in tallies) - failed:,} passed, {failed:,} failed"


def table(tallies: list[Tally]) -> str:
    rows = [f"{'attack':<23} {'tries':>7} {'failures':>9} {'minutes':>8} {'per minute':>11}"]
    for t in tallies:
        speed = 60 * t.tries / t.seconds if t.seconds else 0.0
        rows.append(f"{t.name:<23} {t.tries:>7,} {len(t.failures):>9,} {t.seconds / 60:>8.1f} {speed:>11,.1f}")
    return "\n".join([*rows, outcome(tallies)])


def markdown(tallies: list[Tally], seed: int) -> str:
    minutes, wanted = sum(tally.seconds for tally in tallies) / 60, sum(tally.wanted for tally in tallies)
    lines = [
        f"Seed {seed}, {minutes:.0f} minutes on {os.cpu_count()} cores of {processor()}, commit {commit()}: "
        f"{outcome(tallies)}, of {wanted:,} planned tries.",
        "",
        "| attack | tries | failures |",
        "|---|---|---|",
    ]
    lines += [f"| {t.name}: {_meaning(t.attack)} | {t.tries:,} | {len(t.failures):,} |" for t in tallies]
    return "\n".join(lines)


def _meaning(attack: Attack) -> str:
    return " ".join((attack.__doc__ or "").split()).rstrip(".")


def write_into(file: Path, text: str) -> None:
    """Replace what a file has between the two marks."""
    before, _, rest = file.read_text().partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not end:
        raise ValueError(f"{file} lacks the lines {_BEGIN} and {_END}")
    file.write_text(f"{before}{_BEGIN}\n{text}\n{_END}{after}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30, help="number of kills; other attacks follow (default: 30)")
    parser.add_argument("--seed", type=int, help="of the attacks (default: drawn anew)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time (default: never)")
    parser.add_argument("--into", type=Path, metavar="FILE", help="write the table into this Markdown file, too")
    args = parser.parse_args()
    seed = random.randrange(10**6) if args.seed is None else args.seed
    # Also where it was started in the background, with Ctrl-C ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    print(f"attacks with seed {seed} on {os.cpu_count()} cores of {processor()}", flush=True)
    tallies = campaign(args.kills, seed, lambda line: print(line, flush=True), args.minutes)
    if args.into:
        write_into(args.into, markdown(tallies, seed))
    print(table(tallies))
    return 1 if any(tally.failures for tally in tallies) else 0


if __name__ == "__main__":
    sys.exit(main())
