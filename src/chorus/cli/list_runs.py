"""`chorus list runs`: state, score, progress, scale and age of the runs of a folder."""

import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chorus.wrapping import wrap

SORTS = ("name", "score", "steps", "age", "state")
# The policy whose score is shown: the first of these that was evaluated, else any.
_USUAL = ("individual", "active")
_SPANS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (0.0, "s"))


@dataclass(frozen=True)
class Line:
    """One run, as far as its files can be read."""

    path: Path
    state: str
    score: float | None
    policy: str
    step: int
    total_steps: int | None
    scale: str
    settings: str
    age: float
    reason: str

    def text(self, width: int | None = None) -> str:
        """One line, or for a terminal of this width the folder and the rest below it."""
        score = "-" if self.score is None else f"{self.score:.2f}"
        share = "" if not self.total_steps else f" {min(1.0, self.step / self.total_steps):4.0%}"
        more = [f"[{self.settings}]"] if self.settings else []
        more += [f"({self.reason})"] if self.reason else []
        head = f"{self.state:<9} {score:>9} {self.policy:<11}{_short(self.step):>7}{share:<5} {self.scale:<7}"
        head = f"{head}{age_words(self.age):>7}"
        line = "  ".join([head, str(self.path), *more])
        if width is None:
            return line
        return wrap("\n".join([str(self.path), f"  {head}", *(f"  {one}" for one in more)]), width)


def print_runs(out: Path, sort: str) -> None:
    lines = sorted((_line(path.parent) for path in out.glob("[!.]*/config.json")), key=lambda line: line.path)
    keys: dict[str, Any] = {
        "score": lambda line: (line.score is None, -(line.score or 0.0)),
        "steps": lambda line: -line.step,
        "age": lambda line: line.age,
        "state": lambda line: line.state,
    }
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    # All in one form, so that columns are columns.
    if width is not None and all(len(line.text()) <= width for line in lines):
        width = None
    for line in sorted(lines, key=keys.get(sort, lambda line: 0)):
        print(line.text(width))
    if not lines:
        print(f"no runs in {out}; `chorus train PRESET --env ID` makes one")


def _line(path: Path) -> Line:
    from chorus.errors import ChorusError
    from chorus.runs.logs import final_returns, last_step, printable, read_object
    from chorus.runs.run_directory import RunDirectory

    directory, problems = RunDirectory(path), list[str]()
    config, meta = (read_object(path / name, problems) for name in ("config.json", "meta.json"))
    status = directory.read_status()
    try:
        scores = final_returns(path)[0]
    except ChorusError:
        scores = {}
    policy = next((name for name in (*_USUAL, *scores) if name in scores), "")
    schedule = config.get("schedule")
    total = schedule.get("total_steps") if isinstance(schedule, dict) else None
    newest = max(((path / name).stat().st_mtime for name in _written(path)), default=path.stat().st_mtime)
    return Line(
        path=path,
        state=directory.current_state(),
        score=scores.get(policy),
        policy=printable(policy),
        step=last_step(path / "metrics.jsonl"),
        total_steps=total if isinstance(total, int) and total > 0 else None,
        scale=printable(str(config.get("scale", ""))),
        settings=printable(_settings(meta)),
        age=max(0.0, time.time() - newest),
        reason=printable(status["reason"] or ""),
    )


def _written(path: Path) -> list[str]:
    names = ("config.json", "status.json", "metrics.jsonl", "episodes.jsonl")
    return [name for name in names if (path / name).is_file()]


def _settings(meta: dict[str, Any]) -> str:
    """The settings in which the run differs from its preset, as figures write them."""
    identity = meta.get("identity")
    settings = identity.get("settings") if isinstance(identity, dict) else None
    if not isinstance(settings, dict):
        return ""
    labels = (
        one.get("label") or f"{path.rpartition('.')[2]}={one.get('value')}"
        for path, one in settings.items()
        if isinstance(one, dict)
    )
    return ", ".join(map(str, labels))


def _short(number: int) -> str:
    from chorus.components import short_number

    return short_number(number)


def age_words(seconds: float) -> str:
    """How long ago, in the largest unit that is not zero: 3 min."""
    size, unit = next((size, unit) for size, unit in _SPANS if seconds >= size)
    return f"{int(seconds / (size or 1.0))} {unit}"
