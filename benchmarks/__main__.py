"""Run every benchmark, each in a process of its own because threads belong to a process; then the cost table."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.cost_table import write

BENCHMARKS = ("nature_update", "minatar_loop", "atari_replay", "atari_env", "sac_update")
LATEST = Path("benchmarks/latest.json")


def main() -> int:
    for name in BENCHMARKS:
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"]).returncode:
            print(f"the benchmark {name} failed; run `python -m benchmarks.{name}` to see why", file=sys.stderr)
            return 1
    print("\n" + write(json.loads(LATEST.read_text(encoding="utf-8"))))
    print(f"results: {LATEST}, appended to benchmarks/history.jsonl; cost table: docs/cost.md")
    return 0


sys.exit(main())
