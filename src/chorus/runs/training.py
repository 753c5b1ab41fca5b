"""A run from its first iteration to its last: train, freeze, evaluate, log, checkpoint, and again.

Only the learner, the replay and the logs outlive an iteration, and a checkpoint holds the state of each. A run that
is killed at any instant and resumed writes the same bytes as one that was never stopped.
"""

import os
import resource
import shlex
import time
import zlib
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from chorus.agents.agent import AgentState
from chorus.errors import ChorusError
from chorus.files import is_disk_full
from chorus.randomness import entropy, generator, init_key, stream_key
from chorus.replay.layout import RingLayout
from chorus.replay.ring import Ring
from chorus.runs.episode_log import EpisodeLog, Windows, episode_line
from chorus.runs.progress import COMPILING, ProgressView, duration
from chorus.runs.resources import allocated_bytes
from chorus.runs.resuming import Complete, Resumed, find_resumable
from chorus.runs.run_directory import RunDirectory
from chorus.runs.stopping import StopRequest
from chorus.runs.timings import CPU_SECONDS
from chorus.runs.trackers import Trackers
from chorus.training import checkpoint
from chorus.training.diagnostics import BatchLog, Diagnostics
from chorus.training.evaluate import Evaluator, summarise
from chorus.training.exploration import ExplorationLog
from chorus.training.loop import Learned, Loop
from chorus.training.settings import EvaluationSettings
from chorus.training.stepper import Keys

# Initialisation runs once: optimising it further would take XLA longer than it saves. A level that was set for all
# programs holds for this one, too.
_LEVEL = "xla_backend_optimization_level"
_RUNS_ONCE = {} if _LEVEL in os.environ.get("XLA_FLAGS", "") else {_LEVEL: 1}


def training_keys(seed: int, iteration: int) -> Keys:
    """One key per stream, for one iteration of training."""
    return Keys(
        act=stream_key(seed, "act", iteration),
        member=stream_key(seed, "member", iteration),
        env=stream_key(seed, "env", iteration),
        env_seed=entropy(seed, "env", iteration),
    )


def evaluation_keys(seed: int, iteration: int, policy_name: str) -> Keys:
    """Keys from the stream of evaluation; the policy and the purpose are the path within it."""
    policy = zlib.crc32(policy_name.encode())
    act, member, env = (stream_key(seed, "eval", iteration, policy, purpose) for purpose in range(3))
    return Keys(act=act, member=member, env=env, env_seed=entropy(seed, "eval", iteration, policy, 3))


@dataclass
class Training:
    """One run; `run` starts it, or resumes it from its newest checkpoint."""

    loop: Loop
    evaluator: Evaluator
    evaluation: EvaluationSettings
    diagnostics: Diagnostics
    exploration: ExplorationLog
    layout: RingLayout
    config: dict[str, Any]
    seed: int
    action_repeat: int
    directory: RunDirectory
    progress: ProgressView
    trackers: Trackers
    stop: StopRequest
    keep_replay: bool = False
    seconds_per_step: float | None = None
    """Of the iteration before, without evaluation; None in the first one of a process."""
    has_learnt: bool = False
    """Whether this process has taken a gradient step; the first one is compiled."""

    def run(self) -> dict[str, Any]:
        """Train to the end and return the run's last status; the directory must be locked."""
        failed = False
        try:
            # What is refused here has not failed: the run is left as it was found.
            like = jax.eval_shape(self.loop.agent.init, init_key(self.seed))
            iterations = self.loop.schedule.iterations
            resumed = find_resumable(self.directory, self.layout, self.config, like, iterations)
            try:
                return self._end_again(resumed) if isinstance(resumed, Complete) else self._run(resumed)
            except KeyboardInterrupt:
                self.directory.write_stop()
                raise
            except Exception as problem:
                failed = True
                checkpoint.discard_unfinished(self.directory.checkpoints)
                if not is_disk_full(problem):
                    self.directory.write_failure(f"{type(problem).__name__}: {problem}")
                    raise
                self.directory.write_failure("disk full")
                path = self.directory.path
                raise ChorusError(
                    f"the disk of {path} is full ({problem}); its checkpoints are kept: make room, and resume it with "
                    f"`chorus resume {shlex.quote(str(path))}`"
                ) from problem
        finally:
            self.progress.close()
            self.trackers.close(failed)
            self.directory.close()

    def _end_again(self, complete: Complete) -> dict[str, Any]:
        """The end of a run that was killed before its last status was written, or lost it."""
        self.diverged, self.notes = complete.last.diverged_members, complete.notes
        self.directory.logs.open(complete.last.logs)
        self.exploration.restore(complete.last.load_counts())
        self._write_visits(complete.last.iteration, complete.last.step)
        return self._end("finished", complete.last.iteration, None)

    def _run(self, resumed: Resumed | None) -> dict[str, Any]:
        ring, kept, state, self.notes = resumed or self._begin()
        ring.columns.reserve()
        newest = kept[-1] if kept else None
        if newest:
            # A kill may have left a third one, whose rows are not protected any more.
            checkpoint.prune(self.directory.checkpoints, newest.iteration)
            self.exploration.restore(newest.load_counts())
        self.directory.logs.open(newest.logs if newest else {})
        self.diverged = newest.diverged_members if newest else ()
        schedule = self.loop.schedule
        self.progress.start(self.directory.path.name, newest.step if newest else 0, schedule.total_steps)
        self.directory.write_status("running", iteration=newest.iteration if newest else 0, **self._marked())

        step = newest.step if newest else 0
        self.trackers.start(step)
        for iteration in range(newest.iteration + 1 if newest else 1, schedule.iterations + 1):
            if self._asked_to_stop():
                self.directory.write_status("stopped", iteration=iteration - 1, **self._marked())
                self.directory.forget_stop()
                return self.directory.read_status()
            if kept:
                ring.protect(kept[0].cursor)
            state, step, metrics, timings = self._iterate(state, ring, iteration, step)
            done = self._log(iteration, step, metrics)
            if len(self.diverged) == self.loop.members:
                self.progress.iteration(done)
                return self._end("diverged", iteration, "no member has finite values any more")
            saved, costs = self._save(state, ring, iteration, step, kept[-1] if kept else None)
            kept = [*kept, saved][-checkpoint.KEPT :]
            self._log_timings(iteration, step, timings | costs)
            self.directory.write_status("running", iteration=iteration, **self._marked())
            self.progress.iteration(done)
        return self._end("finished", schedule.iterations, None)

    def _asked_to_stop(self) -> bool:
        return self.stop.asked or self.directory.is_asked_to_stop()

    def _save(
        self, state: AgentState, ring: Ring, iteration: int, step: int, previous: checkpoint.Checkpoint | None
    ) -> tuple[checkpoint.Checkpoint, dict[str, float]]:
        """A checkpoint, and what it cost."""
        began = time.monotonic()
        self.progress.phase("saving")
        saved = checkpoint.save(
            self.directory.checkpoints,
            iteration=iteration,
            step=step,
            state=state,
            ring=ring,
            previous=previous,
            logs=self.directory.logs.sync(),
            config=self.config,
            diverged_members=self.diverged,
            counts=self.exploration.arrays(),
        )
        return saved, {
            "time/checkpoint_seconds": time.monotonic() - began,
            "system/checkpoint_megabytes": saved.new_bytes(self.layout, previous.cursor if previous else None) / 1e6,
            "system/disk_megabytes": allocated_bytes(self.directory.path) / 1e6,
        }

    def _begin(self) -> Resumed:
        """An empty replay and a new learner."""
        if self.directory.logs.has_content():
            self.progress.say("the run was stopped before its first checkpoint: it starts again")
        state = jax.jit(self.loop.agent.init, compiler_options=_RUNS_ONCE)(init_key(self.seed))
        return Resumed(ring=Ring(self.layout, self.directory.replay), kept=[], state=state, notes=[])

    def _iterate(
        self, state: AgentState, ring: Ring, iteration: int, first: int
    ) -> tuple[AgentState, int, dict[str, float], dict[str, float]]:
        """Train from step `first` and evaluate. Returns the state, the step that was reached, the metrics, and the
        timings, which depend on the clock."""
        began, began_cpu = time.monotonic(), time.process_time()
        self.progress.phase("training")
        episodes, batches = EpisodeLog(self.loop.stepper.slots), BatchLog(self.loop.members)
        updates = first_updates = self.loop.updates_due(first)
        keys, rng, last = training_keys(self.seed, iteration), generator(self.seed, "replay", iteration), first
        learned: Learned | None = None
        windows = Windows(self.trackers, self.loop.schedule.total_steps, first)
        for event in self.loop.run(state, ring, iteration, keys, rng, first):
            if isinstance(event, Learned):
                learned, updates, self.has_learnt = event, event.updates, True
                batches.record(event.origins)
                continue
            last = event.step
            finished = episodes.record(event)
            self.exploration.record(event, finished)
            for episode in finished:
                line = episode_line(iteration, event.step, episode)
                self.directory.logs.write("episodes.jsonl", line)
                self.directory.logs.flush()
                self.progress.episode(line)
            windows.record(event.step, finished)
            self.progress.advance(event.step)
            if not self.has_learnt and self.loop.updates_due(event.step) > updates:
                self.progress.phase(COMPILING)
            if self.stop.asked and not self.stop.announced:
                self._announce_stop(iteration, last)
        windows.end(last)
        metrics, state = self._learning_metrics(learned.state if learned else state)
        trained, cpu_seconds = time.monotonic(), time.process_time() - began_cpu
        self.seconds_per_step = (trained - began) / max(1, last - first)

        metrics |= episodes.metrics() | self.exploration.metrics()
        metrics["charts/epsilon"] = float(self.loop.epsilon(last))
        metrics["replay/transitions"] = float(len(ring))
        metrics |= self._evaluate(state, iteration)
        evaluated = time.monotonic()
        rng = generator(self.seed, "eval", iteration)
        metrics |= batches.metrics() | self.diagnostics.measure(state.params, ring, rng, metrics["charts/epsilon"])
        timings = {
            "charts/SPS": (last - first) / (trained - began),
            "charts/updates_per_second": (updates - first_updates) / (trained - began),
            "time/train_seconds": trained - began,
            "time/evaluate_seconds": evaluated - trained,
            "time/diagnose_seconds": time.monotonic() - evaluated,
            "system/peak_resident_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
        if jax.default_backend() == "cpu":
            timings[CPU_SECONDS] = cpu_seconds
        return state, last, metrics, timings

    def _announce_stop(self, iteration: int, step: int) -> None:
        self.stop.announced = True
        _, end = self.loop.schedule.span(iteration)
        # A process's first iteration compiles, and its first steps say little about the others.
        seconds = None if self.seconds_per_step is None else max(0, end - step) * self.seconds_per_step
        how_long = "" if seconds is None else f"takes about {duration(seconds)} more and "
        self.progress.say(
            f"stopping after iteration {iteration}, which {how_long}is then saved; Ctrl-C again stops at once, and "
            f"what was done since iteration {iteration - 1} is lost"
        )

    def _learning_metrics(self, state: AgentState) -> tuple[dict[str, float], AgentState]:
        """Means over the iteration and the members that still learn; the totals are set back to zero."""
        totals = {name: np.asarray(value) for name, value in state.totals.items()}
        state = state._replace(totals=jax.tree.map(jax.numpy.zeros_like, state.totals))
        count = totals.pop("count")
        # Judged by a member's own values, because under CERL its loss contains those of others.
        finite = np.isfinite(totals["q_values"])
        diverged = tuple(int(member) for member in np.flatnonzero(~finite))
        for member in sorted(set(diverged) - set(self.diverged)):
            self.progress.say(f"member {member} diverged: its values are no longer finite; the others go on")
        self.diverged = diverged
        metrics = {"members/diverged": float(len(diverged))}
        learning = finite & (count > 0)
        if learning.any():
            for name, total in totals.items():
                metrics[f"losses/{name}"] = float(np.mean(total[learning] / count[learning]))
        return metrics, state

    def _evaluate(self, state: AgentState, iteration: int) -> dict[str, float]:
        metrics: dict[str, float] = {}
        for name in self.evaluator.policies:
            self.progress.phase(f"evaluating {name}")
            keys = evaluation_keys(self.seed, iteration, name)
            results = self.evaluator.evaluate(state.params, name, keys, self.evaluation.amount)
            metrics |= summarise(results, name, self.evaluator.actions)
        return metrics

    def _log(self, iteration: int, step: int, metrics: dict[str, float]) -> dict[str, Any]:
        """What was logged. Strict JSON has no NaN: undefined values are left out."""
        defined = {name: value for name, value in metrics.items() if np.isfinite(value)}
        place = {"iteration": iteration, "step": step, "frames": step * self.action_repeat}
        for name, value in defined.items():
            self.directory.logs.write("metrics.jsonl", {**place, "metric": name, "value": value})
        self.trackers.log(step, defined)
        self._write_visits(iteration, step)
        return {**place, "metrics": defined}

    def _write_visits(self, iteration: int, step: int) -> None:
        if (visits := self.exploration.visit_map()) is not None:
            self.directory.write_visits(iteration, step, visits.tolist())

    def _log_timings(self, iteration: int, step: int, timings: dict[str, float]) -> None:
        for name, value in timings.items():
            record = {"iteration": iteration, "step": step, "metric": name, "value": round(value, 6)}
            self.directory.logs.write("timings.jsonl", record)
        self.directory.logs.flush()
        self.trackers.log(step, timings)

    def _marked(self) -> dict[str, Any]:
        marks = {"diverged_members": list(self.diverged), "notes": [*self.notes, *self.trackers.problems]}
        return {name: sentences for name, sentences in marks.items() if sentences}

    def _end(self, outcome: str, iteration: int, reason: str | None) -> dict[str, Any]:
        self.directory.logs.flush()
        self.directory.write_status(outcome, reason, iteration=iteration, **self._marked())
        if not self.keep_replay:
            self.directory.delete_replay()
        return self.directory.read_status()
