"""A short tour: a single agent, an ensemble and CERL on MinAtar, small enough to watch (about two minutes).

The runs are far too short to say anything about the algorithms; they show what Chorus writes and prints.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ENV = "MinAtar/Breakout-v1"
PRESETS = ("double-dqn", "bootstrapped-dqn", "cerl")


def chorus(*arguments: str) -> None:
    print(f"\n$ chorus {' '.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", "chorus.cli", *arguments], check=True)


def main() -> None:
    out = Path(tempfile.mkdtemp(prefix="chorus-demo-"))
    for preset in PRESETS:
        chorus("train", preset, "--env", ENV, "--scale", "smoke", "--out", str(out))
    chorus("list", "runs", "--out", str(out))
    run = next(path for path in sorted(out.iterdir()) if "cerl" in path.name)
    chorus("evaluate", str(run), "--episodes", "20", "--video", str(out / "cerl.mp4"))
    print(f"\nEverything is in {out}. A run that learns something takes minutes:")
    print(f"  .venv/bin/chorus train cerl --env {ENV} --members 5 --total-steps 200000")


if __name__ == "__main__":
    main()
