"""Photograph the top of a report with Chromium, for the README (`docs/figures/report.png`).

chorus report runs -o report.html
python examples/photograph_report.py report.html
"""

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.image
import numpy as np

TARGET = Path(__file__).parent.parent / "docs" / "figures" / "report.png"
WIDTH, HEIGHT = 1100, 1250
_MOST_BYTES = 300_000


def photograph(report: Path, target: Path, height: int = HEIGHT) -> None:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        raise SystemExit("no Chromium is installed; install one, such as Debian's package chromium")
    with tempfile.TemporaryDirectory() as profile:
        options = (
            "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--disable-background-networking", "--virtual-time-budget=10000", "--force-color-profile=srgb",
            f"--user-data-dir={profile}", f"--window-size={WIDTH},{height}", f"--screenshot={target.resolve()}",
        )  # fmt: skip
        subprocess.run([browser, *options, report.resolve().as_uri()], check=True, capture_output=True, timeout=300)
    shrink(target)
    print(f"{target}: {target.stat().st_size / 1_000:.0f} kB")


def shrink(target: Path) -> None:
    """16 levels per channel, without transparency: a page of text and lines needs no more, and compresses well."""
    if target.stat().st_size <= _MOST_BYTES:
        return
    pixels = matplotlib.image.imread(target)[..., :3]
    matplotlib.image.imsave(target, np.round(pixels * 15) / 15)
    if target.stat().st_size > _MOST_BYTES:
        raise SystemExit(f"{target} has {target.stat().st_size} bytes; use a smaller --height")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "report", type=Path, help="a page written by `chorus report`, `demo`, `diagnose` or `reproduce`"
    )
    parser.add_argument("--target", type=Path, default=TARGET, help="the picture to write (default: the README's)")
    parser.add_argument("--height", type=int, default=HEIGHT, help="pixels of the page to show (default: %(default)s)")
    given = parser.parse_args()
    photograph(given.report, given.target, given.height)
