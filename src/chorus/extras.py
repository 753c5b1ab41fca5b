"""Packages that only some tasks need: the core installs without them, and a missing one is named with its remedy."""

import importlib
from types import ModuleType

from chorus.errors import ChorusError

# Module -> the extra of pyproject.toml that installs it.
EXTRAS = {
    "ale_py": "atari",
    "mujoco": "mujoco",
    "imageio_ffmpeg": "video",
    "pygame": "video",
    "tensorboard": "tracking",
    "wandb": "tracking",
    "ray": "ray",
    "submitit": "slurm",
}


def require(module: str, purpose: str) -> ModuleType:
    """The optional module, imported; if it is missing, an error says what needs it and how to install it.

    Commands call this before they write anything, so that a missing package leaves nothing behind.
    """
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        package = module.partition(".")[0]
        raise ChorusError(
            f"{purpose} needs {package}, which is not usable here ({problem}); "
            f'install it with `pip install "chorus-rl[{EXTRAS[package]}]"`'
        ) from problem


def require_named(problem: Exception, purpose: str) -> None:
    """Raise the error of `require` if another library's problem names one of these packages and it is missing."""
    for module in EXTRAS:
        if module.lower() in str(problem).lower():
            require(module, purpose)
