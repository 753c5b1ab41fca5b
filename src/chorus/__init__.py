"""Chorus: ensemble-based exploration in deep reinforcement learning.

import chorus
run = chorus.train("cerl", "MinAtar/Breakout-v1", seed=0, members=5)
action, state = chorus.load(run).predict(observation)
"""

# Nothing is imported here: `python -m chorus` has yet to take the working folder off the path.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from chorus.errors import ChorusError

__all__ = ["ChorusError", "load", "resume", "train"]


def __getattr__(name: str) -> "Any":
    if name == "ChorusError":
        from chorus.errors import ChorusError

        return ChorusError
    # JAX takes a second to import; `chorus --help` and readers of run directories need not wait for it.
    if name in ("load", "resume", "train"):
        from chorus import api

        return getattr(api, name)
    raise AttributeError(f"module 'chorus' has no attribute '{name}'")
