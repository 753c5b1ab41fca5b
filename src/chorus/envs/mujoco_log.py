"""MuJoCo writes its warnings into a file MUJOCO_LOG.TXT where a program was started. Here they go to stderr."""

import sys

import gymnasium
from gymnasium.envs.registration import load_env_creator

_said: set[str] = set()


def keep_out_of_the_folder(env_id: str) -> None:
    """Before an environment is made: if its module brings MuJoCo along, MuJoCo's warnings are ours to say."""
    entry_point = gymnasium.spec(env_id).entry_point
    if isinstance(entry_point, str):
        load_env_creator(entry_point)
    if "mujoco" in sys.modules:
        sys.modules["mujoco"].set_mju_user_warning(_say_once)


def _say_once(text: str) -> None:
    """Environments are made anew each iteration, and a model that is warned of is warned of each time."""
    if text not in _said:
        _said.add(text)
        print(f"MuJoCo: {text.strip()}", file=sys.stderr)
