"""Random attacks on runs, counted: `make torture`, or `TORTURE=1000 make torture` for a thousand kills.

Prints tries and failures per attack and ends with `N passed, N failed`. The seed it prints repeats the same attacks.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

# The tests' own settings of processes and their compilation cache.
sys.path.insert(0, str(Path(__file__).parent.parent))
from attacks import Try, configurations, damage, full_disks, killed_parents, kills, two_writers
from cases import Workshop

import conftest  # noqa: F401
from chorus.runs.progress import duration

_SECONDS_BETWEEN_LINES = 10.0
# Tries of each attack, in parts of the number of kills; at least one.
ATTACKS: dict[Callable[[Workshop], Iterator[Try]], float] = {
    kills: 1.0,
    damage: 0.5,
    configurations: 5.0,
    full_disks: 0.05,
    two_writers: 0.05,
    killed_parents: 0.05,
}


@dataclass
class Tally:
    """The tries of one attack."""

    name: str
    tries: int = 0
    seconds: float = 0.0
    failures: list[Try] = field(default_factory=list)


def attack(shop: Workshop, how: Callable[[Workshop], Iterator[Try]], tries: int, say: Callable[[str], None]) -> Tally:
    tally, began = Tally(how.__name__.replace("_", " ")), time.monotonic()
    said = began
    for one in how(shop):
        tally.tries += 1
        tally.seconds = time.monotonic() - began
        if one.problem:
            tally.failures.append(one)
            say(f"  FAILED {tally.name}: {one.what}: {one.problem}")
        if time.monotonic() - said > _SECONDS_BETWEEN_LINES:
            said = time.monotonic()
            left = tally.seconds / tally.tries * max(0, tries - tally.tries)
            say(f"  {tally.name}: {tally.tries} of {tries}, about {duration(left)} left")
        if tally.tries >= tries:
            break
    return tally


def campaign(count: int, seed: int, say: Callable[[str], None]) -> list[Tally]:
    """Every attack, scaled by the number of kills."""
    shop = Workshop(random.Random(seed), most_cases=max(2, count // 10))
    try:
        return [attack(shop, how, max(1, round(share * count)), say) for how, share in ATTACKS.items()]
    finally:
        shop.close()


def table(tallies: list[Tally]) -> str:
    rows = [f"{'attack':<16} {'tries':>7} {'failures':>9} {'minutes':>8}"]
    rows += [f"{t.name:<16} {t.tries:>7,} {len(t.failures):>9,} {t.seconds / 60:>8.1f}" for t in tallies]
    failed = sum(len(t.failures) for t in tallies)
    return "\n".join([*rows, f"{sum(t.tries for t in tallies) - failed} passed, {failed} failed"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30, help="number of kills; other attacks follow (default: 30)")
    parser.add_argument("--seed", type=int, help="of the attacks (default: drawn anew)")
    args = parser.parse_args()
    seed = random.randrange(10**6) if args.seed is None else args.seed
    print(f"attacks with seed {seed}", flush=True)
    tallies = campaign(args.kills, seed, lambda line: print(line, flush=True))
    print(table(tallies))
    return 1 if any(tally.failures for tally in tallies) else 0


if __name__ == "__main__":
    sys.exit(main())
