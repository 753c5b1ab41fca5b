"""Environments given as Python objects: classes, and functions that make one.

What another process can import is named `module:Name`, on the command line, too. Anything else, such as a lambda or a
class of a notebook, is named `python:Name` and known to this process, and to those that it hands its code to.
"""

import base64
import importlib
import pickle
import re
import sys
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import cloudpickle
import gymnasium

from chorus.errors import ChorusError

Maker = Callable[..., gymnasium.Env]

_HERE = "python:"
_MAKERS: dict[str, Maker] = {}


def name_env(make: Maker) -> str:
    """The id of an environment class or of a function that makes one; one that cannot be imported is remembered."""
    module, name = getattr(make, "__module__", None), getattr(make, "__qualname__", "")
    if module != "__main__" and _attribute(sys.modules.get(str(module)), name) is make:
        return f"{module}:{name}"
    plain = getattr(make, "__name__", type(make).__name__)
    env_id = _HERE + re.sub(r"[^\w-]", "", plain)
    _MAKERS[env_id] = make
    return env_id


def lives_here(env_id: str) -> bool:
    """Whether only the process that was given the environment knows it."""
    return env_id.startswith(_HERE)


def hand_over(env_id: str) -> str | None:
    """The code of an environment that lives here, as text for another process; None if the process needs none."""
    if not lives_here(env_id):
        return None
    maker = find_maker(env_id)
    try:
        return base64.b64encode(cloudpickle.dumps(maker)).decode()
    except Exception as problem:
        raise _not_handed_over(env_id, problem) from problem


def take_over(env_id: str, code: str | None) -> None:
    """Know an environment that another process has handed over."""
    if code is None:
        return
    try:
        _MAKERS[env_id] = pickle.loads(base64.b64decode(code))
    except Exception as problem:
        raise _not_handed_over(env_id, problem) from problem


def _not_handed_over(env_id: str, problem: Exception) -> ChorusError:
    return ChorusError(
        f"the environment '{env_id}' cannot be handed to another process ({type(problem).__name__}: {problem}); put it "
        "into a module, or pass in_process=True"
    )


def find_maker(env_id: str) -> Maker | None:
    """The class or function behind an id; None for an id that Gymnasium knows, or nobody."""
    if lives_here(env_id):
        if env_id not in _MAKERS:
            raise ChorusError(
                f"the environment '{env_id}' was given from Python and this process does not know it; give it again, "
                "as in chorus.resume(run, env=...) or chorus.load(run, env=...)"
            )
        return _MAKERS[env_id]
    module, colon, name = env_id.partition(":")
    if not colon or name in gymnasium.registry:
        return None
    found = _attribute(importlib.import_module(module), name)
    # The module may have registered the name just now.
    return found if callable(found) and name not in gymnasium.registry else None


def _attribute(module: Any, name: str) -> Any:
    try:
        return attrgetter(name)(module)
    except (AttributeError, TypeError):
        return None


def make_given(maker: Maker, max_episode_steps: int | None, given: dict[str, Any]) -> gymnasium.Env:
    """An environment of this maker. It may be wrapped already, which `gymnasium.make` would refuse."""
    env = maker(**given)
    if not isinstance(env, gymnasium.Env):
        raise TypeError(f"it made {type(env).__name__}, which is no gymnasium.Env")
    return env if max_episode_steps is None else gymnasium.wrappers.TimeLimit(env, max_episode_steps)


def time_limit(env: gymnasium.Env) -> int | None:
    """The length at which an environment cuts its episodes, as far as it tells."""
    if env.spec is not None and env.spec.max_episode_steps is not None:
        return env.spec.max_episode_steps
    limits = []
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, gymnasium.wrappers.TimeLimit):
            limits.append(int(env._max_episode_steps))
        env = env.env
    return min(limits, default=None)
