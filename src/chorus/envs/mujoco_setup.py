"""Settings for MuJoCo: warnings go to stderr instead of a file, and rendering works without a display."""

import contextlib
import os
import re
import sys

_printed: set[str] = set()
# A warning about a model that comes with Gymnasium; users cannot do anything about it.
_IGNORED = "settotalmass"


def set_up_mujoco(render_mode: str | None) -> None:
    """Call this before an environment is made that may use MuJoCo.

    By default MuJoCo writes its warnings to MUJOCO_LOG.TXT in the current folder, already while a model is loaded. It
    is imported here, where it is installed, because any constructor may use it.
    """
    if render_mode is not None and sys.platform == "linux" and not os.environ.get("DISPLAY"):
        # Gymnasium would open a window otherwise.
        os.environ.setdefault("MUJOCO_GL", "egl")
    # If it cannot be imported, an environment that needs it says so in its own words.
    with contextlib.suppress(Exception):
        import mujoco  # type: ignore[import-untyped]

        mujoco.set_mju_user_warning(_print_once)


def _print_once(text: str) -> None:
    """Environments are made anew each iteration and repeat their warnings, with other numbers in them."""
    kind = re.sub(r"[\d.]+", "", text)
    if kind not in _printed and _IGNORED not in text:
        _printed.add(kind)
        print(f"MuJoCo: {text.strip()}", file=sys.stderr)
