"""What a training command prints before it starts and after it ends."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from chorus.cli.grid import suggested
from chorus.cli.main import INTERRUPTED
from chorus.config.resolution import Resolved
from chorus.runs.logs import final_returns
from chorus.runs.progress import ProgressView
from chorus.runs.run_directory import RunDirectory
from chorus.runs.timings import disk_use
from chorus.wrapping import say, unbroken


def announce(resolved: Resolved, path: Path, progress: ProgressView) -> None:
    """Print what is about to run and the limits that a scale changed."""
    config = resolved.config
    tell, members = progress.say, config.agent.members
    tell(
        f"{config.preset} on {config.env.id}, seed {config.seed}, {config.scale} scale: {members} "
        f"member{'s' if members > 1 else ''}, {config.schedule.total_steps:,} agent steps in "
        f"{config.schedule.iterations} iterations"
    )
    if config.env.max_episode_steps is not None:
        tell(f"episodes are cut after {config.env.max_episode_steps:,} agent steps (a truncation: values bootstrap)")
    if resolved.spec.max_episode_steps is None:
        cap = config.evaluation.max_episode_steps
        tell(
            f"this environment has no time limit: evaluation cuts episodes after {cap:,} agent steps; "
            "--max-episode-steps gives training and evaluation another limit"
        )
    tell(f"writing to {path}")


@contextlib.contextmanager
def stoppable(path: Path) -> Iterator[None]:
    """Ends the command if the run was stopped, with what is lost and how to resume."""
    try:
        yield
    except KeyboardInterrupt:
        _end_stopped(path, "what was done since then is lost and will be repeated")
    if RunDirectory(path).read_status()["state"] == "stopped":
        _end_stopped(path, "nothing is lost")


def _end_stopped(path: Path, lost: str) -> NoReturn:
    saved = RunDirectory(path).read_status().get("iteration", 0)
    command = unbroken(suggested("resume", str(path)))
    say(f"\nstopped; saved up to iteration {saved}, {lost}. Resume with: {command}")
    raise SystemExit(INTERRUPTED)


def report(path: Path) -> int:
    """Print final scores, the run folder and the next command; returns the exit code, 1 for a diverged run."""
    directory = RunDirectory(path)
    status = directory.read_status()
    scores, window = final_returns(path)
    for name, value in scores.items():
        print(f"  {name:<16} {value:10.2f}   final score: {window.words}")
    for member in status.get("diverged_members", []):
        print(f"  member {member} diverged")
    if sizes := disk_use(path):
        print(f"  on disk          {sizes[0]:10,.1f} MB at most; each checkpoint wrote {sizes[1]:,.1f} MB")
    print(f"run: {path} ({status['state']}{': ' + status['reason'] if status['reason'] else ''})")
    if status["state"] == "diverged":
        return 1
    further = (
        suggested("report", str(path)) if directory.is_published else suggested("evaluate", str(path), episodes=100)
    )
    print(f"next: {further}")
    return 0
