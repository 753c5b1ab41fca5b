"""Training end to end, in steps per second, against rejax, SBX and Stable-Baselines3; run by `make bench-peers`.

Every library is a process in an environment of its own, and they take turns (`benchmarks.workers`). Times include
environments, replay and, for Chorus, logs; no evaluations.
"""

from benchmarks import harness
from benchmarks.peer_tasks import BATCH, ENVS, HIDDEN, HOPPER_TURN, MINATAR_BATCH, MINATAR_TURN
from benchmarks.workers import ROOT, ROUNDS, Command, steps_per_second
from chorus.runs.machine import processor

# sbx-rl depends on stable-baselines3: one environment has both.
REJAX, SBX = (str(ROOT / name / "bin" / "python") for name in (".venv-rejax", ".venv-sbx"))
HOPPER = {
    "Chorus": Command(SBX, ("benchmarks.peer_chorus", "hopper")),
    "SBX": Command(SBX, ("benchmarks.peer_sb3", "sbx")),
    "SB3": Command(SBX, ("benchmarks.peer_sb3", "sb3")),
}
MINATAR = {
    "Chorus": Command(SBX, ("benchmarks.peer_chorus", "minatar")),
    "rejax": Command(REJAX, ("benchmarks.peer_rejax",)),
}


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
        "processor": f"{processor()}, one thread on one core, turns taken in {ROUNDS} rounds",
    }
    harness.report("Training end to end against other libraries", facts, results)
    harness.record(results, "peers")


if __name__ == "__main__":
    main()
