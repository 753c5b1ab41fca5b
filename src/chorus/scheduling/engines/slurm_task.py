"""The process of one run inside a Slurm job: stops when Slurm asks for it, requeues its job, and resumes.

Submitit stores what it calls as a pickle. That is only a reference to `Task` and a text of JSON, and the engine never
loads what a job has pickled: a job reports in `status.json` of its run, and failures in a JSON file.
"""

import contextlib
import json
import signal
import sys
import traceback
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from chorus.errors import ChorusError
from chorus.extras import require
from chorus.files import read_json, write_json
from chorus.runs.logs import last_step
from chorus.runs.run_directory import RunDirectory
from chorus.runs.stopping import StopRequest
from chorus.scheduling.engines.slurm_queue import is_running
from chorus.scheduling.engines.worker import HOPELESS, run_job

submitit: Any = require("submitit", "--engine slurm")

# Slurm pre-empts by SIGTERM, announces the end of the time by SIGUSR2 (submitit's choice), and people use SIGUSR1. The
# alarm ends the grace period.
_FROM_SLURM = (signal.SIGUSR2, signal.SIGUSR1, signal.SIGTERM)
SIGNALS = (*_FROM_SLURM, signal.SIGALRM)
# As for a Ray task: the locks of a node that died are released late.
_PATIENCE_SECONDS = 180.0
_LAST_LINES = 15
# How often in a row a run may be stopped without having finished an iteration.
_STALLS = 3


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a job has to do; `stalls` counts the stops since the run's last progress."""

    message: dict[str, Any]
    failure: str
    """Where to report a failure."""
    grace_seconds: float
    """How long an iteration may go on after the job was asked to stop."""
    stalls: int = 0

    def to_text(self) -> str:
        return json.dumps(asdict(self))

    def after_stop(self, progressed: bool) -> "Order":
        """The order of the requeued job; a run that is stopped again and again without progress is given up."""
        stalls = 0 if progressed else self.stalls + 1
        if stalls >= _STALLS:
            raise ChorusError(
                f"stopped {stalls} times in a row without having finished an iteration; ask for more time (--time), or "
                "use shorter iterations"
            )
        return replace(self, stalls=stalls)


@dataclass(frozen=True, kw_only=True)
class JobFailure:
    """The end of a job as it reports it; `hopeless` means that a retry cannot help."""

    job_id: str
    problem: str
    hopeless: bool

    def write(self, path: Path) -> None:
        write_json(path, asdict(self))

    @staticmethod
    def read(path: Path) -> "JobFailure | None":
        """None if there is no whole report."""
        try:
            return JobFailure(**read_json(path))
        except (OSError, ValueError, TypeError):
            return None


class StopOrRequeue(StopRequest):
    """Lets the iteration under way finish and be saved, for as long as the grace period lasts.

    A run that stops elsewhere than after a checkpoint repeats its iteration, with the same bytes.
    """

    def __init__(self, grace_seconds: float) -> None:
        super().__init__()
        self._grace_seconds = grace_seconds
        self._before: dict[int, Any] = {}

    def receive(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGALRM:
            say(f"the iteration is not over after {self._grace_seconds:g} s; it will be repeated")
            raise KeyboardInterrupt
        # Slurm repeats its signals: only the first one counts.
        if not self.asked:
            self.ask()
            say(f"received {signal.Signals(number).name}; stopping after this iteration")
            signal.setitimer(signal.ITIMER_REAL, self._grace_seconds)

    def release(self, before: dict[int, Any]) -> None:
        """Submitit does not get its signals back: Slurm repeats them, and what a run that has ended or stopped still
        does must not be interrupted."""
        self._before = before
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number in before:
            signal.signal(number, signal.SIG_IGN)

    def requeue(self) -> None:
        """Submitit stores the task of `Task.checkpoint`, requeues the job and exits."""
        handle = next(self._before[number] for number in _FROM_SLURM if callable(self._before[number]))
        handle(signal.SIGTERM, None)


class Task:
    """What submitit calls in a job, and calls again after the job was requeued."""

    _next: Order | None = None
    """The order of the requeued job; None until the run has stopped."""

    def __call__(self, text: str) -> None:
        self._order = Order(**json.loads(text))
        path = Path(self._order.message["path"])
        self._first_step = _saved_step(path)
        stop = StopOrRequeue(self._order.grace_seconds)
        try:
            with stop.listening(SIGNALS), contextlib.suppress(KeyboardInterrupt):
                run_job(self._order.message, _PATIENCE_SECONDS, stop)
            if stop.asked and not RunDirectory(path).has_ended():
                self._end_job(stop, _saved_step(path))
        except ChorusError as problem:
            self._fail(str(problem), hopeless=True)
        except Exception:
            # Record any failure where the waiting command can read it.
            self._fail("\n".join(traceback.format_exc().splitlines()[-_LAST_LINES:]), hopeless=False)

    def checkpoint(self, text: str) -> submitit.helpers.DelayedSubmission:
        """The task of the requeued job; submitit calls this when it requeues, perhaps before the run has begun."""
        return submitit.helpers.DelayedSubmission(Task(), self._next.to_text() if self._next else text)

    def _end_job(self, stop: StopOrRequeue, step: int) -> None:
        """Requeue, unless Slurm is ending this job itself: cancelled jobs must not come back."""
        if not self._is_wanted():
            say(f"stopped at step {step:,}; Slurm ends this job")
            sys.exit(1)
        try:
            self._next = self._order.after_stop(progressed=step > self._first_step)
        except ChorusError as problem:
            self._fail(str(problem), hopeless=True)
        say(f"stopped at step {step:,}; requeueing")
        stop.requeue()

    def _is_wanted(self) -> bool:
        """Whether the job is still to go on; it is, as far as is known, if Slurm does not answer."""
        environment = submitit.JobEnvironment()
        try:
            return environment.cluster != "slurm" or is_running(environment.raw_job_id)
        except OSError:
            return True

    def _fail(self, problem: str, hopeless: bool) -> NoReturn:
        say(problem)
        failure = JobFailure(job_id=submitit.JobEnvironment().job_id, problem=problem, hopeless=hopeless)
        failure.write(Path(self._order.failure))
        sys.exit(HOPELESS if hopeless else 1)


def _saved_step(path: Path) -> int:
    return last_step(path / "metrics.jsonl")


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
