"""What MuJoCo would leave in a user's folder or fail at without a screen, unless told otherwise."""

import importlib.abc
import importlib.util
import os
import re
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_said: set[str] = set()
# Of a model that comes with Gymnasium: no user can do anything about it.
_NOBODYS_BUSINESS = "settotalmass"


def teach(render_mode: str | None) -> None:
    """Before an environment is made: should it bring MuJoCo along, now or later, its warnings go to stderr.

    By itself MuJoCo writes them to a file MUJOCO_LOG.TXT in the folder a program was started in.
    """
    if render_mode is not None and sys.platform == "linux" and not os.environ.get("DISPLAY"):
        # Gymnasium would look for a window otherwise.
        os.environ.setdefault("MUJOCO_GL", "egl")
    if "mujoco" in sys.modules:
        _teach_module(sys.modules["mujoco"])
    elif not any(isinstance(finder, _Greeter) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Greeter())


class _Greeter(importlib.abc.MetaPathFinder):
    """Waits for MuJoCo's import, which a constructor may do as late as it likes, and is gone after it."""

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "mujoco":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_teach(module: ModuleType) -> None:
                execute(module)
                _teach_module(module)

            spec.loader.exec_module = execute_and_teach  # type: ignore[method-assign]
        return spec


def _teach_module(mujoco: Any) -> None:
    mujoco.set_mju_user_warning(_say_once)


def _say_once(text: str) -> None:
    """Environments are made anew each iteration, and what is wrong with one is wrong again, at another time of it."""
    kind = re.sub(r"[\d.]+", "", text)
    if kind not in _said and _NOBODYS_BUSINESS not in text:
        _said.add(kind)
        print(f"MuJoCo: {text.strip()}", file=sys.stderr)
