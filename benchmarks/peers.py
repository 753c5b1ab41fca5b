"""Training end to end, in steps per second, against rejax, SBX and Stable-Baselines3; run by `make bench-peers`.

Every library is a process in an environment of its own, all held to one thread on the same core, and only one of them
runs at a time: they take turns of a fixed number of steps. A library's speed is that of its best turn, because what
else the machine does only ever adds, in seconds for which it computed on its core. Times include environments, replay
and, for Chorus, logs; no evaluations.
"""

import subprocess
from pathlib import Path

from benchmarks import harness
from benchmarks.peer_tasks import BATCH, ENVS, HIDDEN, HOPPER_TURN, MINATAR_BATCH, MINATAR_TURN

ROOT = Path(__file__).parent.parent
# sbx-rl depends on stable-baselines3: one environment has both.
REJAX, SBX = (str(ROOT / name / "bin" / "python") for name in (".venv-rejax", ".venv-sbx"))
HOPPER = {
    "Chorus": (SBX, "benchmarks.peer_chorus", "hopper"),
    "SBX": (SBX, "benchmarks.peer_sb3", "sbx"),
    "SB3": (SBX, "benchmarks.peer_sb3", "sb3"),
}
MINATAR = {"Chorus": (SBX, "benchmarks.peer_chorus", "minatar"), "rejax": (REJAX, "benchmarks.peer_rejax")}
ROUNDS = 9


class Worker:
    """A library in a process of its own."""

    def __init__(self, python: str, *module: str) -> None:
        self._process = subprocess.Popen(
            [python, "-m", *module], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
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


def steps_per_second(workers: dict[str, tuple[str, ...]], steps: int) -> dict[str, float]:
    running = {name: Worker(*command) for name, command in workers.items()}
    turns: dict[str, list[float]] = {name: [] for name in workers}
    for _ in range(ROUNDS):
        for name, worker in running.items():
            turns[name].append(worker.turn())
    for worker in running.values():
        worker.close()
    return {name: steps / min(seconds) for name, seconds in turns.items()}


def main() -> None:
    hopper = steps_per_second(HOPPER, HOPPER_TURN)
    minatar = steps_per_second(MINATAR, MINATAR_TURN)
    results = {
        "sac_hopper_over_sbx": hopper["Chorus"] / hopper["SBX"],
        "sac_hopper_over_sb3": hopper["Chorus"] / hopper["SB3"],
        "minatar_single_over_rejax": minatar["Chorus"] / minatar["rejax"],
        **{f"hopper_steps_per_second/{name}": value for name, value in hopper.items()},
        **{f"minatar_steps_per_second/{name}": value for name, value in minatar.items()},
    }
    facts = {
        "Hopper-v4": f"SAC, units {HIDDEN}, batch {BATCH}, one update per step",
        "MinAtar Breakout": f"Double DQN, units {HIDDEN}, batch {MINATAR_BATCH}, {ENVS} environments, period 4",
        "processor": f"{harness.processor()}, one thread on one core, turns taken in {ROUNDS} rounds",
    }
    harness.report("Training end to end against other libraries", facts, results)
    harness.record(results, "peers")


if __name__ == "__main__":
    main()
