"""Jobs small enough for tests, and an engine whose runs end as a script says."""

import json
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from chorus.agents.sac import SacLearner
from chorus.config.resolution import Request
from chorus.runs.run_directory import RunDirectory
from chorus.scheduling.engines import Ended, Engine
from chorus.scheduling.jobs import Job, jobs_for

PROBE = "Probe/Discount-v0"
OPTIONS = {
    "num_envs": 2,
    "total_steps": 1_600,
    "iteration_steps": 200,
    "learning_starts": 40,
    "buffer_size": 60,
    "batch_size": 8,
    "eval_episodes": 2,
}


def small_jobs(
    out: Path, seeds: int = 2, presets: Sequence[str] = ("double-dqn",), env: str = PROBE, **more: object
) -> list[Job]:
    requests = [
        Request(preset=preset, env=env, seed=seed, scale="smoke", options=OPTIONS | more)
        for seed in range(seeds)
        for preset in presets
    ]
    return jobs_for(requests, out)


def small_sweep(out: Path, seeds: int | str, *more: str, preset: str = "double-dqn", **options: object) -> list[str]:
    """The arguments of a `chorus sweep` over such jobs."""
    sizes = [f"{name}={value}" for name, value in (OPTIONS | options).items()]
    what = ["--preset", preset, "--env", PROBE, "--scale", "smoke", "--seeds", str(seeds), "--set", *sizes]
    return ["sweep", *what, "--out", str(out), *more]


def begin(job: Job, state: str = "running") -> RunDirectory:
    """A run's directory as a process leaves it."""
    directory = RunDirectory(job.path)
    directory.create(job.config.to_json(), job.about)
    directory.write_status(state)
    return directory


def write_finished(job: Job, level: float | None = None) -> None:
    """A finished run that nobody trained: every policy of its evaluation at a level, or at one that its seed gives."""
    begin(job, "finished")
    level = 10.0 + job.config.seed if level is None else level
    schedule, rows = job.config.schedule, []
    for iteration in range(1, schedule.iterations + 1):
        values = {f"eval/{name}/episodic_return": level for name in job.config.evaluation.policies}
        measure = "action_distance" if isinstance(job.config.agent, SacLearner) else "vote_entropy"
        values |= {f"diversity/{measure}/{policy}": 0.5 for policy in ("individual", "aggregate")}
        place = {"iteration": iteration, "step": iteration * schedule.iteration_steps, "frames": 0}
        rows += [{**place, "metric": metric, "value": value} for metric, value in values.items()]
    (job.path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    speed = {"metric": "charts/SPS", "value": 1_000.0 / job.config.agent.members}
    timings = [{"iteration": iteration, "step": 0, **speed} for iteration in range(1, schedule.iterations + 1)]
    (job.path / "timings.jsonl").write_text("".join(json.dumps(row) + "\n" for row in timings))


class ScriptedEngine(Engine):
    """Runs end in the order they were started; `problems` gives the last words of a job's attempts, None if it ends
    well, which is also what happens after the script is over."""

    def __init__(self, workers: int = 2, problems: dict[str, list[str | None]] | None = None) -> None:
        self._workers = workers
        self.problems = problems or {}
        self.started: list[str] = []
        self.most_at_once = 0
        self.stopped = False
        self.hopeless = False
        self._running: deque[Job] = deque()

    @property
    def workers(self) -> int:
        return self._workers

    def start(self, job: Job) -> None:
        self.started.append(job.name)
        self._running.append(job)
        self.most_at_once = max(self.most_at_once, len(self._running))

    def wait(self, seconds: float) -> list[Ended]:
        if not self._running:
            return []
        job = self._running.popleft()
        script = self.problems.get(job.name, [])
        if script and (problem := script.pop(0)) is not None:
            return [Ended(job, problem=problem, hopeless=self.hopeless)]
        self.end_well(job)
        return [Ended(job)]

    def end_well(self, job: Job) -> None:
        directory = RunDirectory(job.path)
        if not directory.exists():
            directory.create(job.config.to_json(), {})
        directory.write_status("finished")

    def stop(self) -> None:
        self.stopped = True
