"""Chorus: ensemble-based exploration in deep reinforcement learning.

import chorus
run = chorus.train("cerl", "MinAtar/Breakout-v1", seed=0, members=5)
run.plot()
action, state = run.player().predict(observation)
"""

# Nothing is imported here: `python -m chorus` has yet to take the working folder off the path.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from chorus import runs
    from chorus.api import load, resume, train
    from chorus.components import register
    from chorus.errors import ChorusError
    from chorus.many_runs import claims, diagnose, report, sweep
    from chorus.run_handle import Run
    from chorus.run_handle import runs_in as list_runs
    from chorus.runs.callbacks import StopRun

__all__ = [
    "ChorusError",
    "Run",
    "StopRun",
    "claims",
    "diagnose",
    "list_runs",
    "load",
    "register",
    "report",
    "resume",
    "runs",
    "sweep",
    "train",
]

# Name -> the module it comes from, and its name there. JAX takes a second to import; `chorus --help` and readers of run
# directories need not wait for it.
_HOMES = {
    "ChorusError": ("chorus.errors", "ChorusError"),
    "Run": ("chorus.run_handle", "Run"),
    "StopRun": ("chorus.runs.callbacks", "StopRun"),
    "claims": ("chorus.many_runs", "claims"),
    "diagnose": ("chorus.many_runs", "diagnose"),
    "list_runs": ("chorus.run_handle", "runs_in"),
    "load": ("chorus.api", "load"),
    "register": ("chorus.components", "register"),
    "report": ("chorus.many_runs", "report"),
    "resume": ("chorus.api", "resume"),
    "sweep": ("chorus.many_runs", "sweep"),
    "train": ("chorus.api", "train"),
}


def __getattr__(name: str) -> "Any":
    if name == "__version__":
        from importlib.metadata import version

        return version("chorus-rl")
    from importlib import import_module

    if name == "runs":
        return import_module("chorus.runs")
    if name in _HOMES:
        module, own = _HOMES[name]
        return getattr(import_module(module), own)
    raise AttributeError(f"module 'chorus' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
