"""What MuJoCo would leave in a user's folder or fail at without a screen, unless told otherwise."""

import importlib
import os
import sys

import gymnasium
from gymnasium.envs.registration import load_env_creator

_said: set[str] = set()
# Of a model that comes with Gymnasium: no user can do anything about it.
_NOBODYS_BUSINESS = "settotalmass"


def teach(env_id: str, render_mode: str | None) -> None:
    """Before an environment is made: if its module brings MuJoCo along, its warnings go to stderr.

    By itself MuJoCo writes them to a file MUJOCO_LOG.TXT in the folder a program was started in.
    """
    if render_mode is not None and sys.platform == "linux" and not os.environ.get("DISPLAY"):
        # Read when MuJoCo is imported; it would look for a window otherwise.
        os.environ.setdefault("MUJOCO_GL", "egl")
    module, _, name = env_id.rpartition(":")
    if module:
        importlib.import_module(module)
    entry_point = gymnasium.spec(name).entry_point
    if isinstance(entry_point, str):
        load_env_creator(entry_point)
    if "mujoco" in sys.modules:
        sys.modules["mujoco"].set_mju_user_warning(_say_once)


def _say_once(text: str) -> None:
    """Environments are made anew each iteration, and a model that is warned of is warned of each time."""
    if text not in _said and _NOBODYS_BUSINESS not in text:
        _said.add(text)
        print(f"MuJoCo: {text.strip()}", file=sys.stderr)
