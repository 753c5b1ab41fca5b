"""Training in steps per second, by processes that take turns on one core.

Every process is held to one thread on the same core, and only one of them runs at a time. Its speed is that of its best
turn, because what else the machine does only ever adds, in seconds for which it computed.
"""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROUNDS = 9


@dataclass(frozen=True)
class Command:
    """A Python, a module with its arguments, and the folder of sources that it imports Chorus from."""

    python: str
    module: tuple[str, ...]
    sources: Path = field(default=ROOT / "src")


class Worker:
    """A process that trains when it is its turn."""

    def __init__(self, command: Command) -> None:
        self._process = subprocess.Popen(
            [command.python, "-m", *command.module],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(command.sources)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def turn(self) -> float:
        """Seconds of one turn."""
        assert self._process.stdin is not None
        print(file=self._process.stdin, flush=True)
        return float(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{' '.join(map(str, self._process.args))} stopped with exit code {self._process.wait()}")
        return line

    def close(self) -> None:
        self._process.communicate()


def steps_per_second(commands: dict[str, Command], steps: int) -> dict[str, float]:
    """Of each command, when a turn has so many steps."""
    running = {name: Worker(command) for name, command in commands.items()}
    turns: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, worker in running.items():
            turns[name].append(worker.turn())
    for worker in running.values():
        worker.close()
    return {name: steps / min(seconds) for name, seconds in turns.items()}
