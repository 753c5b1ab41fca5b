"""Copies of a run's numbers for TensorBoard and W&B. Local files are the truth: a tracker never stops a run."""

import contextlib
import os
import platform
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

from chorus.errors import warn
from chorus.extras import require

# What a service that does not answer may cost a run; what it did not take by the end stays in the run's folder.
_SECONDS_TO_BEGIN, _SECONDS_TO_FINISH = 30.0, 60.0


@runtime_checkable
class Tracker(Protocol):
    """Receives numbers with their agent step."""

    def start(self, step: int) -> None:
        """Numbers of later steps follow; those that an earlier process sent of later steps are sent again."""
        ...

    def log(self, step: int, metrics: dict[str, float]) -> None: ...

    def close(self, failed: bool) -> None: ...


class TensorBoard:
    """One file of events per process, written where it is called: a thread that writes might die unnoticed."""

    def __init__(self, directory: Path) -> None:
        self._records = require("tensorboard.summary.writer.record_writer", "--tensorboard")
        self._events = require("tensorboard.compat.proto.event_pb2", "--tensorboard")
        self._summaries = require("tensorboard.compat.proto.summary_pb2", "--tensorboard")
        directory.mkdir(parents=True, exist_ok=True)
        # TensorBoard reads the files of a folder in the order of their names.
        name = f"events.out.tfevents.{time.time_ns()}.{platform.node()}.{os.getpid()}"
        self._file: BinaryIO = (directory / name).open("xb")
        self._writer = self._records.RecordWriter(self._file)
        self._write(file_version="brain.Event:2")

    def start(self, step: int) -> None:
        # TensorBoard then forgets what earlier files say from this step on.
        begins = self._events.SessionLog(status=self._events.SessionLog.START)
        self._write(step=step + 1, session_log=begins)

    def log(self, step: int, metrics: dict[str, float]) -> None:
        values = [self._summaries.Summary.Value(tag=name, simple_value=value) for name, value in metrics.items()]
        self._write(step=step, summary=self._summaries.Summary(value=values))

    def _write(self, **content: Any) -> None:
        try:
            self._writer.write(self._events.Event(wall_time=time.time(), **content).SerializeToString())
            self._writer.flush()
        except OSError:
            with contextlib.suppress(OSError):
                self._file.close()
            raise

    def close(self, failed: bool) -> None:
        self._writer.close()


class WeightsAndBiases:
    """W&B decides by its own settings whether it is online (WANDB_MODE=offline keeps everything local)."""

    def __init__(self, directory: Path, config: dict[str, Any], about: dict[str, Any]) -> None:
        wandb = require("wandb", "--track")
        self._run = wandb.init(
            **{name: about.get(name) for name in ("project", "entity", "group", "tags", "id")},
            name=directory.name,
            dir=str(directory),
            config=config,
            resume="allow",
            # Said where the run was asked for; variables of the machine that trains it come first.
            mode=os.environ.get("WANDB_MODE") or about.get("mode"),
            settings=wandb.Settings(
                # A bar that is redrawn is no log.
                console="off",
                init_timeout=_SECONDS_TO_BEGIN,
                finish_timeout=_SECONDS_TO_FINISH,
                finish_timeout_raises=True,
            ),
        )
        self._run.define_metric("*", step_metric="global_step")

    def start(self, step: int) -> None:
        """W&B ignores steps that it has already; a resumed run repeats them with the same numbers."""

    def log(self, step: int, metrics: dict[str, float]) -> None:
        self._run.log({**metrics, "global_step": step}, step=step)

    def close(self, failed: bool) -> None:
        self._run.finish(exit_code=int(failed))


class Shielded:
    """A tracker whose failures do not stop the run: after its first failure it is named once and not used again."""

    def __init__(self, name: str, make: Callable[[], Tracker]) -> None:
        self._name = name
        self._tracker: Tracker | None = None
        self.problem: str | None = None
        """The sentence about its failure."""
        self._try(lambda: setattr(self, "_tracker", make()))

    def _try(self, action: Callable[[], Any]) -> None:
        try:
            action()
        except Exception as problem:
            self._tracker = None
            said = " ".join(str(problem).split())
            self.problem = (
                f"{self._name} failed ({type(problem).__name__}: {said}); the run goes on without it, and its own "
                "files are complete"
            )
            warn(self.problem)

    def start(self, step: int) -> None:
        if (tracker := self._tracker) is not None:
            self._try(lambda: tracker.start(step))

    def log(self, step: int, metrics: dict[str, float]) -> None:
        if (tracker := self._tracker) is not None:
            self._try(lambda: tracker.log(step, metrics))

    def close(self, failed: bool) -> None:
        if (tracker := self._tracker) is not None:
            self._try(lambda: tracker.close(failed))


class Trackers:
    """All trackers of a run; none is usual."""

    def __init__(self, trackers: Sequence[Shielded] = ()) -> None:
        self._trackers = tuple(trackers)

    def __bool__(self) -> bool:
        return bool(self._trackers)

    @property
    def problems(self) -> list[str]:
        return [one.problem for one in self._trackers if one.problem is not None]

    def start(self, step: int) -> None:
        for one in self._trackers:
            one.start(step)

    def log(self, step: int, metrics: dict[str, float]) -> None:
        if metrics:
            for one in self._trackers:
                one.log(step, metrics)

    def close(self, failed: bool) -> None:
        for one in self._trackers:
            one.close(failed)
