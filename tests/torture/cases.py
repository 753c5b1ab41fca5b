"""What is attacked: every preset on environments of every kind, small enough to be killed a thousand times."""

import contextlib
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from chorus.config.presets import PRESETS
from chorus.config.resolution import Request, resolve
from chorus.errors import ChorusError
from killing import Instant, before_the_first_checkpoint, in_the_middle_of_an_iteration, kill_at
from running import ATARI, LOGS, SHORT_EPISODES, TINY, background, chorus
from warm import WarmProcess

ENVS = (
    *("Probe/Discount-v0", "MinAtar/Asterix-v1", "CartPole-v1", "Pendulum-v1"),
    *("ALE/Breakout-v5", "Hopper-v4", "DeepSea-5-v0"),
)
PROBE = ENVS[0]
QUICK = ENVS[:4]


@dataclass(frozen=True)
class Case:
    """A preset on an environment. Its seed is the first of a sweep, so that a sweep finds the same run."""

    preset: str
    env: str
    ensemble: bool
    seed: int = 0

    @cached_property
    def options(self) -> dict[str, Any]:
        """As keywords of Python."""
        # The probe is the one of other tests, whose programs are compiled already.
        limits = () if self.env == PROBE else ATARI if self.env.startswith("ALE/") else SHORT_EPISODES
        words = [*TINY, *limits]
        found: dict[str, Any] = {}
        for word, after in zip(words, [*words[1:], "--"], strict=True):
            if word.startswith("--"):
                found[word[2:].replace("-", "_")] = True if after.startswith("--") else after
        del found["scale"]
        if not self.ensemble:
            del found["members"]
        return {
            name: value if value is True else float(value) if "." in value else int(value)
            for name, value in found.items()
        }

    @property
    def request(self) -> Request:
        return Request(preset=self.preset, env=self.env, seed=self.seed, scale="smoke", options=self.options)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Of `chorus train`."""
        return self.arguments_with(self.options)

    def arguments_with(self, options: dict[str, Any]) -> tuple[str, ...]:
        flags = {f"--{name.replace('_', '-')}": value for name, value in options.items()}
        given = [flag if value is True else f"{flag}={value}" for flag, value in flags.items()]
        return (self.preset, "--env", self.env, "--scale", "smoke", *given, "--seed", str(self.seed))

    def sweep(self, out: Path, seeds: int = 1) -> tuple[str, ...]:
        """A sweep of which this run is the first."""
        given = [f"{name}={'true' if value is True else value}" for name, value in self.options.items()]
        what = ("--preset", self.preset, "--env", self.env, "--scale", "smoke", "--seeds", str(seeds), "--set", *given)
        return ("sweep", *what, "--out", str(out), "--quiet")

    @property
    def name(self) -> str:
        return f"{self.preset} on {self.env}"


# An ensemble on an environment that compiles fast.
PLAIN = Case("bootstrapped-dqn", PROBE, ensemble=True)


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
    """A run that nobody touched: its folder, its bytes, and how long it took."""

    path: Path
    logs: dict[str, bytes]
    seconds: float

    @property
    def name(self) -> str:
        return self.path.name


class Workshop:
    """A folder to attack runs in, undisturbed runs to compare with, and victims; each is trained when it is first
    asked for."""

    def __init__(
        self, chance: random.Random, cases: Sequence[Case], most_drawn: int = 1_000, *, brief: bool = False
    ) -> None:
        """A `brief` one trains as little as an attack can do with."""
        self.brief = brief
        self.chance = chance
        self.cases = list(cases)
        self._most_drawn = most_drawn
        self.folder = Path(tempfile.mkdtemp(prefix="chorus-torture-"))
        self._known: dict[Case, Undisturbed] = {}
        self._spans: dict[Case, float] = {}
        self._killed: dict[tuple[Case, Instant], Path] = {}

    @cached_property
    def drawn(self) -> list[Case]:
        """Environments and presets in turn: a few cases have as many different ones of both as there can be."""
        left = self.chance.sample(self.cases, len(self.cases))
        drawn: list[Case] = []
        while left and len(drawn) < self._most_drawn:
            envs, presets = [case.env for case in drawn], [case.preset for case in drawn]
            drawn.append(min(left, key=lambda case: (envs.count(case.env), presets.count(case.preset))))
            left.remove(drawn[-1])
        return drawn

    def any_case(self) -> Case:
        """One of a few, because each needs an undisturbed run first."""
        return self.chance.choice(self.drawn)

    @cached_property
    def quick_cases(self) -> list[Case]:
        """Of those that were drawn, the ones that compile fast and take little space."""
        return [case for case in self.drawn if case.env in QUICK] or [PLAIN]

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
            self._known[case] = Undisturbed(run, read_logs(run), time.monotonic() - began)
        return self._known[case]

    def wait_within(self, process: WarmProcess, case: Case) -> None:
        """Wait for a random time of a run's duration, or for its end."""
        began = time.monotonic()
        longest = self._spans.get(case, self.undisturbed(case).seconds)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(self.chance.uniform(0.0, longest))
            # The undisturbed run compiled its programs; others find them in the cache, and are shorter.
            self._spans[case] = min(longest, time.monotonic() - began)

    def finished(self, case: Case) -> Path:
        """A copy of the undisturbed run in a folder of its own."""
        return self._copy(self.undisturbed(case).path)

    def killed(self, case: Case, out: Path | None = None) -> Path:
        """A copy of a run that was killed in the middle of its training, in a folder of its own or in `out`."""
        return self._copy(self._killed_at(case, in_the_middle_of_an_iteration), out)

    def killed_early(self, case: Case) -> Path:
        """A copy of a run that was killed before its first checkpoint; Atari's first iterations are too short."""
        instant = in_the_middle_of_an_iteration if case.env.startswith("ALE/") else before_the_first_checkpoint
        return self._copy(self._killed_at(case, instant))

    def _killed_at(self, case: Case, instant: Instant) -> Path:
        if (case, instant) not in self._killed:
            run = self.place() / self.undisturbed(case).name
            process = background("train", *case.arguments, "--out", run.parent, "--quiet")
            kill_at(process, run, instant)
            self._killed[case, instant] = run
        return self._killed[case, instant]

    def _copy(self, run: Path, out: Path | None = None) -> Path:
        return Path(shutil.copytree(run, (out or self.place()) / run.name))

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def read_logs(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() if (run / name).is_file() else b"" for name in LOGS}
