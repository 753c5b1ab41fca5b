"""Copies of the metrics for TensorBoard and W&B. Local files are the truth: a tracker never stops a run."""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from chorus.extras import require

# Switch of a run -> the package it writes with.
PACKAGES = {"tensorboard": "tensorboardX", "track": "wandb"}


def check_packages(switches: Mapping[str, Any]) -> None:
    """Refuse a new run whose trackers are not installed; a tracker that fails later never stops one."""
    for switch, module in PACKAGES.items():
        if switches.get(switch):
            require(module, f"--{switch}")


@runtime_checkable
class Tracker(Protocol):
    """Receives every metric of an iteration with its agent step."""

    def log(self, step: int, metrics: dict[str, float]) -> None: ...

    def close(self) -> None: ...


class TensorBoard:
    def __init__(self, directory: Path) -> None:
        self._writer = require("tensorboardX", "--tensorboard").SummaryWriter(str(directory))

    def log(self, step: int, metrics: dict[str, float]) -> None:
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


class WeightsAndBiases:
    """W&B decides by its own settings whether it is online (WANDB_MODE=offline keeps everything local)."""

    def __init__(self, directory: Path, config: dict[str, Any]) -> None:
        self._run = require("wandb", "--track").init(
            project="chorus",
            name=directory.name,
            id=directory.name.replace("/", "-")[-128:],
            dir=str(directory),
            config=config,
            resume="allow",
        )

    def log(self, step: int, metrics: dict[str, float]) -> None:
        self._run.log({**metrics, "global_step": step}, step=step)

    def close(self) -> None:
        self._run.finish()


class Shielded:
    """A tracker whose failures do not stop the run: after its first failure it is named once and not used again."""

    def __init__(self, name: str, make: Callable[[], Tracker]) -> None:
        self._name = name
        self._tracker: Tracker | None = None
        self._try(lambda: setattr(self, "_tracker", make()))

    def _try(self, action: Callable[[], Any]) -> None:
        try:
            action()
        except Exception as problem:
            self._tracker = None
            warnings.warn(
                f"{self._name} failed ({type(problem).__name__}: {problem}); the run goes on without it",
                stacklevel=3,
            )

    def log(self, step: int, metrics: dict[str, float]) -> None:
        tracker = self._tracker
        if tracker is not None:
            self._try(lambda: tracker.log(step, metrics))

    def close(self) -> None:
        tracker = self._tracker
        if tracker is not None:
            self._try(tracker.close)
