"""Runs a list of jobs: finished runs are skipped, interrupted runs resumed, missing runs started.

A run that fails is tried once more and then reported; the other runs continue.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from chorus.errors import warn
from chorus.runs.curves import learning_curves
from chorus.runs.run_directory import RunDirectory
from chorus.scheduling.costs import Attempt, Forecast
from chorus.scheduling.engines import Ended, Engine
from chorus.scheduling.jobs import Job
from chorus.scheduling.view import GridView, RunLine, Snapshot, grid_view

_ATTEMPTS = 2
_SECONDS_BETWEEN_LOOKS = 0.5


@dataclass(frozen=True)
class Failure:
    """A failed run and the tail of its stderr."""

    job: Job
    problem: str


@dataclass(frozen=True)
class GridResult:
    """The outcome of every job."""

    jobs: Sequence[Job]
    skipped: int
    """Number of runs that had ended before the grid started."""
    failures: Sequence[Failure] = ()

    @property
    def exit_code(self) -> int:
        return 1 if self.failures else 0


def run_grid(
    jobs: Sequence[Job],
    engine: Engine,
    *,
    quiet: bool = False,
    title: str = "runs",
    view: GridView | None = None,
    on_end: Callable[[Job], None] | None = None,
) -> GridResult:
    """Run the jobs that have not ended, with live progress unless quiet; `on_end` is called with each that ends well.

    After the first Ctrl-C the runs finish their iterations, and after the second they are stopped at once; then it is
    raised again. The same call resumes the runs.
    """
    unique = list({job.path: job for job in jobs}.values())
    todo = [job for job in unique if not job.has_ended]
    skipped = len(unique) - len(todo)
    grid = _Grid(
        deque(map(_Waiting, todo)), engine, view or grid_view(quiet), total=len(unique), done=skipped, on_end=on_end
    )
    try:
        try:
            grid.run(title)
        except KeyboardInterrupt:
            grid.finish_iterations()
            raise
    finally:
        grid.view.close()
        engine.stop()
    return GridResult(unique, skipped, grid.failures)


@dataclass
class _Waiting:
    """A waiting job; its progress is read from storage once."""

    job: Job

    def __post_init__(self) -> None:
        self.share = self.job.saved_step() / self.job.total_steps


@dataclass
class _UnderWay:
    job: Job
    first_step: int
    """Step of the checkpoint it resumes from."""
    seen_step: int
    """Step of the newest line in its logs, which the run truncates to its checkpoint when it resumes."""
    queued: str | None = None
    """Why it waits in the engine's own queue; None while it runs."""
    began: float = field(default_factory=time.monotonic)
    first_progress: tuple[float, int] | None = None
    """Time and step of its first progress: the time before is compilation and does not count for its rate."""

    def attempt(self) -> Attempt:
        total = self.job.total_steps
        return Attempt(self.job, self.first_step / total, self._reached() / total, time.monotonic() - self.began)

    @staticmethod
    def of(job: Job, queued: str | None = None) -> "_UnderWay":
        return _UnderWay(job, job.saved_step(), job.step(), queued)

    def share(self) -> float:
        return self.first_step / self.job.total_steps

    def line(self) -> RunLine:
        step, now = self._reached(), time.monotonic()
        if self.first_progress is None and step > self.first_step:
            self.first_progress = now, step
        since, start = self.first_progress or (now, step)
        rate = (step - start) / (now - since) if now > since else 0.0
        return RunLine(self.job.name, step, self.job.total_steps, rate)

    def _reached(self) -> int:
        step = self.job.step()
        return self.first_step if step == self.seen_step and not self.job.has_ended else step


@dataclass
class _Grid:
    waiting: deque[_Waiting]
    engine: Engine
    view: GridView
    total: int
    done: int
    on_end: Callable[[Job], None] | None = None
    running: dict[str, _UnderWay] = field(default_factory=dict)
    tried: dict[str, int] = field(default_factory=dict)
    put_off: set[str] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)
    forecast: Forecast = field(default_factory=Forecast)

    def run(self, title: str) -> None:
        self.view.start(title, self._snapshot())
        while self.waiting or self.running:
            while self.waiting and len(self.running) < self.engine.capacity:
                if not self._start(self.waiting.popleft().job):
                    break
            for ended in self.engine.wait(_SECONDS_BETWEEN_LOOKS):
                self._end(ended)
            self._follow_queue()
            self.view.update(self._snapshot())

    def finish_iterations(self) -> None:
        """Let the runs under way finish and save their iterations, if the engine would stop them otherwise."""
        if self.engine.leaves_runs or not self.running:
            return
        self.view.say(
            "stopping; the runs under way first finish their iterations and save them. Ctrl-C again stops them at "
            "once, and that work is lost"
        )
        while self.running:
            for one in self.running.values():
                # Again and again, because a run that is just starting forgets earlier requests.
                one.job.ask_to_stop()
            for ended in self.engine.wait(_SECONDS_BETWEEN_LOOKS):
                self.running.pop(ended.job.name)
                self.view.say(f"{ended.job.name}: {last_line(ended.problem) if ended.problem else ended.job.state}")
            self.view.update(self._snapshot())

    def _start(self, job: Job) -> bool:
        """Whether the job was started; if the machine refuses, waiting until another run has ended."""
        under_way = _UnderWay.of(job)
        refused = None
        try:
            self.engine.start(job)
        except OSError as problem:
            if self.running:
                if job.name not in self.put_off:
                    self.view.say(f"{job.name}: cannot be started now ({problem}); waiting until another run has ended")
                self.put_off.add(job.name)
                self.waiting.appendleft(_Waiting(job))
                return False
            refused = problem
        self.running[job.name] = under_way
        self.tried[job.name] = self.tried.get(job.name, 0) + 1
        if refused is not None:
            self._end(Ended(job, problem=str(refused)))
            return False
        under_way.queued = self.engine.queued().get(job.name)
        if under_way.queued is None:
            self._say_started(under_way)
        return True

    def _say_started(self, one: _UnderWay) -> None:
        step = one.first_step
        self.view.say(f"{one.job.name}: " + (f"resumed near step {step:,}" if step else "started"))

    def _follow_queue(self) -> None:
        """Runs enter and leave the engine's queue; the time there is no part of an attempt."""
        queued = self.engine.queued()
        for name, before in self.running.items():
            reason = queued.get(name)
            if reason == before.queued:
                continue
            if reason is not None and before.queued is not None:
                before.queued = reason
                continue
            if reason is not None:
                self.forecast.note(before.attempt())
                self.view.say(f"{name}: back in the queue, {reason}")
            self.running[name] = _UnderWay.of(before.job, reason)
            if reason is None:
                self._say_started(self.running[name])

    def _end(self, ended: Ended) -> None:
        job, problem = ended.job, ended.problem
        under_way = self.running.pop(job.name)
        if under_way.queued is None:
            self.forecast.note(under_way.attempt())
        if problem is None and not job.has_ended:
            problem = _why_unfinished(job)
        for note in job.notes():
            warn(f"{job.name}: {note}")
        if problem is None:
            self.done += 1
            self.view.say(f"{job.name}: {', '.join(filter(None, (job.state, learning_curves(job.path))))}")
            if self.on_end is not None:
                self.on_end(job)
        elif self.tried[job.name] < _ATTEMPTS and not ended.hopeless:
            self.view.say(f"{job.name}: failed ({last_line(problem)}); trying once more")
            self.waiting.append(_Waiting(job))
        else:
            self.failures.append(Failure(job, problem))
            self.view.say(f"{job.name}: failed ({last_line(problem)})")

    def _snapshot(self) -> Snapshot:
        under_way = [one for one in self.running.values() if one.queued is None]
        queued = [one for one in self.running.values() if one.queued is not None]
        return Snapshot(
            total=self.total,
            done=self.done,
            failed=len(self.failures),
            running=tuple(one.line() for one in under_way),
            queued=tuple(one.queued or "" for one in queued),
            left=self.forecast.left(
                [*((one.job, one.share) for one in self.waiting), *((one.job, one.share()) for one in queued)],
                [one.attempt() for one in under_way],
                self.engine.workers,
            ),
        )


def _why_unfinished(job: Job) -> str:
    """Why the process of a run ended well and the run did not."""
    if RunDirectory(job.path).read_status()["state"] == "stopped":
        return "its process was asked to stop, by a signal that this command did not send"
    return f"it ended, but {job.path} does not say so; is that folder on storage shared by every node?"


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no reason given"
