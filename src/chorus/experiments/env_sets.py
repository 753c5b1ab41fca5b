"""Sets of environments by name, for studies and sweeps."""

from collections.abc import Iterable

from chorus.envs.atari_games import named_sets
from chorus.envs.minatar import GAMES

# The four tasks of the paper: it names three, the fourth is our choice (docs/deviations.md).
_MUJOCO = ("Ant-v4", "HalfCheetah-v4", "Humanoid-v4", "Walker2d-v4")


def env_sets() -> dict[str, tuple[str, ...]]:
    return {"minatar5": tuple(GAMES), **named_sets(), "mujoco4": _MUJOCO}


def expand(names: Iterable[str]) -> tuple[str, ...]:
    """Ids as they are, sets as their ids; each once."""
    sets = env_sets()
    return tuple(dict.fromkeys(env for name in names for env in sets.get(name, (name,))))
