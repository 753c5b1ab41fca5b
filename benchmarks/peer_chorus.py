"""Chorus as a worker of other benchmarks: a whole training run, with its logs, that pauses between turns."""

import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.peer_tasks import (
    BATCH,
    ENVS,
    HIDDEN,
    HOPPER_TURN,
    LOOPS,
    MINATAR_TURN,
    WARM_UP,
    WARM_UP_MINATAR,
    Task,
)
from benchmarks.peer_turns import Turns, limit_to_one_thread
from chorus.config.resolution import Request, Resolved, resolve
from chorus.networks.torsos import MLPTorso
from chorus.runs.lifecycle import create_run, train_run
from chorus.runs.progress import Silent

# More than all turns together; an iteration is as long, so that nothing is evaluated in between.
_STEPS = 100_000


class Pauses(Silent):
    """Reports each turn of training and waits for the next."""

    def __init__(self, first: int, turn: int) -> None:
        self._turns, self._next, self._turn, self._started = Turns(), first, turn, False

    def advance(self, step: int) -> None:
        if step < self._next:
            return
        (self._turns.done if self._started else self._turns.wait)()
        self._started, self._next = True, step + self._turn


def hopper() -> tuple[Resolved, Pauses]:
    options = {"total_steps": _STEPS, "iteration_steps": _STEPS, "batch_size": BATCH, "buffer_size": 20_000}
    return _small(resolve(Request(preset="sac", env="Hopper-v4", options=options))), Pauses(WARM_UP, HOPPER_TURN)


def minatar() -> tuple[Resolved, Pauses]:
    options = {"total_steps": _STEPS, "iteration_steps": _STEPS, "num_envs": ENVS, "update_period": 4}
    found = resolve(Request(preset="double-dqn", env="MinAtar/Breakout-v1", options=options))
    return _small(found), Pauses(WARM_UP_MINATAR, MINATAR_TURN)


def loop(task: Task) -> tuple[Resolved, Pauses]:
    options = {"total_steps": _STEPS, "iteration_steps": _STEPS, "num_envs": 4, "update_period": 4}
    options |= {"learning_starts": task.warm_up // 2, "buffer_size": _STEPS, "batch_size": 32}
    if task.members is not None:
        options["members"] = task.members
    found = resolve(Request(preset=task.preset, env=task.env, options=options))
    agent = found.config.agent
    if task.dense is not None:
        agent = replace(agent, torso=replace(agent.torso, dense=task.dense))  # type: ignore[call-arg]
    return replace(found, config=replace(found.config, agent=agent)), Pauses(task.warm_up, task.turn)


def _small(found: Resolved) -> Resolved:
    agent = replace(found.config.agent, torso=MLPTorso(dense=HIDDEN))
    return replace(found, config=replace(found.config, agent=agent))


def main() -> None:
    limit_to_one_thread()
    tasks = {"hopper": hopper, "minatar": minatar} | {name: partial(loop, task) for name, task in LOOPS.items()}
    resolved, pauses = tasks[sys.argv[1]]()
    with tempfile.TemporaryDirectory() as folder:
        assembly, path = create_run(resolved, Path(folder))
        train_run(assembly, path, pauses)


if __name__ == "__main__":
    main()
