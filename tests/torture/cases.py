"""What is attacked: every preset on environments of every kind, small enough to be killed a thousand times."""

import random
import shutil
import tempfile
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from chorus.config.presets import PRESETS
from chorus.config.resolution import Request, resolve
from chorus.errors import ChorusError
from running import ATARI, LOGS, SHORT_EPISODES, TINY, chorus

ENVS = ("Probe/Discount-v0", "MinAtar/Asterix-v1", "CartPole-v1", "ALE/Breakout-v5", "Hopper-v4", "Pendulum-v1")
SEED = "3"


@dataclass(frozen=True)
class Case:
    """A preset on an environment."""

    preset: str
    env: str
    ensemble: bool

    @property
    def arguments(self) -> tuple[str, ...]:
        members = TINY.index("--members")
        sizes = TINY if self.ensemble else (*TINY[:members], *TINY[members + 2 :])
        limits = ATARI if self.env.startswith("ALE/") else SHORT_EPISODES
        return (self.preset, "--env", self.env, *sizes, *limits, "--seed", SEED)

    @property
    def name(self) -> str:
        return f"{self.preset} on {self.env}"


def every_case() -> list[Case]:
    """Presets with environments whose actions suit them."""
    found = []
    # Other tests may have loaded plugins with presets of their own.
    own = [name for name, one in PRESETS.items() if one.change.__module__.startswith("chorus.")]
    for preset in own:
        for env in ENVS:
            try:
                agent = resolve(Request(preset=preset, env=env, scale="smoke")).config.agent
            except ChorusError:
                continue
            found.append(Case(preset, env, ensemble=agent.members > 1 and not _is_fixed(preset)))
    return found


def _is_fixed(preset: str) -> bool:
    """Tandems have two members, whatever is asked for."""
    return preset.endswith("tandem")


@dataclass(frozen=True)
class Undisturbed:
    """A run that nobody touched: its bytes, and how long it took."""

    name: str
    logs: dict[str, bytes]
    seconds: float


class Workshop:
    """A folder to attack runs in, and undisturbed runs to compare with, trained when they are first asked for."""

    def __init__(self, chance: random.Random, most_cases: int = 1_000) -> None:
        self.chance = chance
        self._most_cases = most_cases
        self.folder = Path(tempfile.mkdtemp(prefix="chorus-torture-"))
        self._known: dict[Case, Undisturbed] = {}

    @cached_property
    def cases(self) -> list[Case]:
        return every_case()

    @cached_property
    def _drawn(self) -> list[Case]:
        return self.chance.sample(self.cases, min(self._most_cases, len(self.cases)))

    def any_case(self) -> Case:
        """One of a few, because each needs an undisturbed run first."""
        return self.chance.choice(self._drawn)

    def place(self) -> Path:
        """A new folder."""
        return Path(tempfile.mkdtemp(dir=self.folder))

    def undisturbed(self, case: Case) -> Undisturbed:
        if case not in self._known:
            out, began = self.place(), time.monotonic()
            done = chorus("train", *case.arguments, "--out", out, "--quiet")
            if done.returncode:
                raise AssertionError(f"{case.name} cannot be trained at all: {done.stderr}")
            (run,) = out.iterdir()
            self._known[case] = Undisturbed(run.name, read_logs(run), time.monotonic() - began)
        return self._known[case]

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def read_logs(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() if (run / name).is_file() else b"" for name in LOGS}
