"""Returns of training episodes: per iteration for the metrics, and more often for the trackers."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from chorus.runs.trackers import Trackers
from chorus.training.episodes import Episode, EpisodeRecorder
from chorus.training.loop import Collected

# How many points a run's curve of training returns has at most, apart from those at the ends of iterations.
_POINTS = 1_000


class EpisodeLog:
    """Returns of the training episodes of one iteration; those that its end cut short are left out."""

    def __init__(self, slots: int) -> None:
        self._recorder = EpisodeRecorder(slots)
        self.returns: list[float] = []
        self.lengths: list[int] = []

    def record(self, event: Collected) -> list[Episode]:
        """The episodes that this step finished."""
        finished = self._recorder.record(event.owner[None], event.reward[None], event.ended[None])
        self.returns += [episode.episodic_return for episode in finished]
        self.lengths += [episode.length for episode in finished]
        return finished

    def metrics(self) -> dict[str, float]:
        metrics = {"charts/episodes": float(len(self.returns))}
        if self.returns:
            metrics["charts/episodic_return"] = float(np.mean(self.returns))
            metrics["charts/episodic_length"] = float(np.mean(self.lengths))
        return metrics


def episode_line(iteration: int, step: int, episode: Episode) -> dict[str, Any]:
    """A line of episodes.jsonl."""
    return {
        "iteration": iteration,
        "step": step,
        "slot": episode.slot,
        "member": episode.member,
        "return": episode.episodic_return,
        "length": episode.length,
    }


class Windows:
    """What trackers see of the training within an iteration: means over windows of steps, and the rate.

    Nothing of this is in metrics.jsonl, whose bytes do not depend on the clock. Windows start with the iteration, so
    that a resumed run has the same ones.
    """

    def __init__(self, trackers: Trackers, total_steps: int, first: int) -> None:
        self._trackers = trackers
        self._length = max(1, total_steps // _POINTS)
        self._began, self._first = time.monotonic(), first
        self._window = first
        self._finished: list[Episode] = []

    def record(self, step: int, finished: Sequence[Episode]) -> None:
        if self._trackers:
            self._finished += finished
            if self._finished and step - self._window >= self._length:
                self.end(step)

    def end(self, step: int) -> None:
        """Send the window under way, if an episode has ended in it."""
        if self._finished:
            metrics = {
                "training/episodic_return": float(np.mean([one.episodic_return for one in self._finished])),
                "training/episodic_length": float(np.mean([one.length for one in self._finished])),
                # Since the iteration's start: compiled steps arrive in blocks, and a window may be a part of one.
                "training/SPS": (step - self._first) / max(time.monotonic() - self._began, 1e-9),
            }
            self._trackers.log(step, {name: value for name, value in metrics.items() if np.isfinite(value)})
            self._window, self._finished = step, []
