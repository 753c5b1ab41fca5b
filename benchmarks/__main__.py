"""Run every benchmark, each in a process of its own because threads belong to a process; then the cost table."""

import json
import subprocess
import sys

from benchmarks.cost_table import write

BENCHMARKS = ("nature_update", "minatar_loop")
LATEST = "benchmarks/latest.json"


def main() -> int:
    for name in BENCHMARKS:
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"]).returncode:
            print(f"the benchmark {name} failed; run `python -m benchmarks.{name}` to see why", file=sys.stderr)
            return 1
    with open(LATEST, encoding="utf-8") as file:
        print("\n" + write(json.load(file)))
    print(f"results: {LATEST}, appended to benchmarks/history.jsonl; cost table: docs/cost.md")
    return 0


sys.exit(main())
