"""Training end to end against the loop before programs were compiled: one call per step and one per update.

The former loop is that of a commit, taken from the history of this repository into a temporary folder.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import harness
from benchmarks.peer_tasks import LOOPS
from benchmarks.workers import ROOT, Command, steps_per_second

BEFORE = "ec7984c"


def main() -> None:
    results: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        former = _checkout(Path(folder) / "before")
        for name, task in LOOPS.items():
            module = ("benchmarks.peer_chorus", name)
            speed = steps_per_second(
                {
                    "now": Command(sys.executable, module),
                    "before": Command(sys.executable, module, former / "src"),
                },
                task.turn,
            )
            results |= {
                f"{name}_over_before": speed["now"] / speed["before"],
                f"{name}_steps_per_second": speed["now"],
            }
    facts = {"before": f"commit {BEFORE}", "turns": "of one core, in seconds for which it computed"}
    harness.report("Training end to end, now over before", facts, results)
    harness.record(results, "before")


def _checkout(folder: Path) -> Path:
    """The sources of the former loop."""
    folder.mkdir()
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", BEFORE, "src"], capture_output=True)
    if archive.returncode:
        raise SystemExit(f"the history of this clone does not reach back to {BEFORE}: `git fetch --unshallow`")
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


if __name__ == "__main__":
    main()
