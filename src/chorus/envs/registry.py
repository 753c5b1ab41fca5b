"""Environments by id: descriptions, constructors and named sets."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import gymnasium

from chorus.envs import atari, deep_sea, gym, minatar, probes
from chorus.envs.atari_games import games, is_atari, named_sets
from chorus.envs.minatar import GAMES
from chorus.envs.spec import EnvSpec, HostEnvs, JaxEnv
from chorus.errors import ChorusError, closest, did_you_mean, warn


class JaxKind(NamedTuple):
    """How to describe (without starting JAX) and construct environments of one kind."""

    describe: Callable[[str, int | None], EnvSpec]
    make: Callable[[str, int | None], JaxEnv]


JAX_ENVS: dict[str, JaxKind] = {
    **dict.fromkeys(minatar.GAMES, JaxKind(minatar.describe, minatar.MinAtar)),
    **dict.fromkeys(probes.PROBES, JaxKind(probes.describe, probes.ProbeEnv)),
}


class EnvPattern(NamedTuple):
    """Environments whose ids have a number or more in them: what the ids begin with, and how they are written.

    Ids that begin so and stand for no environment are refused by `kind.describe`.
    """

    prefix: str
    forms: str
    kind: JaxKind


JAX_PATTERNS = [EnvPattern(deep_sea.PREFIX, deep_sea.FORMS, JaxKind(deep_sea.describe, deep_sea.DeepSea))]


def register_env(
    env_id: str,
    make: Callable[[str, int | None], JaxEnv],
    describe: Callable[[str, int | None], EnvSpec] | None = None,
) -> None:
    """Make an environment of pure functions known under an id.

    Both functions take the id and the limit of an episode in agent steps. Without `describe`, the environment is made
    to learn its `spec`. Environments that live in Python are registered with Gymnasium instead.
    """
    known = JAX_ENVS.get(env_id)
    if known is not None and known.make.__module__ != make.__module__:
        raise ChorusError(
            f"the environment '{env_id}' is registered twice, by {known.make.__module__} and by {make.__module__}; "
            "give one of them another id"
        )
    JAX_ENVS[env_id] = JaxKind(describe or (lambda name, limit: make(name, limit).spec), make)


def env_modules(env_id: str) -> list[str]:
    """The modules that define an environment of pure functions; a Gymnasium id names its own."""
    kind = _jax_kind(env_id)
    return [kind.make.__module__] if kind else []


def _jax_kind(env_id: str) -> JaxKind | None:
    if env_id in JAX_ENVS:
        return JAX_ENVS[env_id]
    return next((known.kind for known in JAX_PATTERNS if re.match(known.prefix, env_id)), None)


def is_jax(env_id: str) -> bool:
    return _jax_kind(env_id) is not None


def make_jax(env_id: str, max_episode_steps: int | None) -> JaxEnv:
    kind = _jax_kind(env_id)
    assert kind is not None, f"{env_id} is not an environment of pure functions"
    return kind.make(env_id, max_episode_steps)


def make_host(
    env_id: str,
    slots: int,
    max_episode_steps: int | None = None,
    *,
    settings: atari.AtariSettings | None = None,
    render_mode: str | None = None,
) -> HostEnvs:
    """Slots of an environment that lives in Python; `settings` are for Atari games."""
    if is_atari(env_id):
        return atari.AtariEnvs(env_id, slots, max_episode_steps, settings or atari.AtariSettings())
    return gym.GymEnvs(env_id, slots, max_episode_steps, render_mode)


# Gymnasium's copies of environments under other names.
_COPIES = ("phys2d/", "tabular/", "GymV")


def known_ids() -> list[str]:
    """Every id that is known here without importing anything else; of Atari only the games in the paper's protocol."""
    others = (
        name
        for name, spec in gymnasium.registry.items()
        if not (name.startswith(_COPIES) or is_atari(name) or str(spec.entry_point).startswith("ale_py"))
    )
    return [*JAX_ENVS, *games(), *sorted(others)]


def full_id(name: str) -> str:
    """The id that a name stands for: `minatar/breakout-v1` up to case, `cartpole` without its version.

    A name that is none, or not known, is returned as it is.
    """
    if ":" in name or is_jax(name) or is_atari(name) or name in gymnasium.registry:
        return name
    same = [known for known in known_ids() if known.casefold() == name.casefold()]
    if len(same) == 1:
        return same[0]
    found: dict[str, list[tuple[int, str]]] = {}
    for known in known_ids():
        parts = re.fullmatch(r"(.*?)-v(\d+)", known)
        if parts and parts[1].rpartition("/")[2].casefold() == name.casefold():
            found.setdefault(parts[1], []).append((int(parts[2]), known))
    newest = [max(versions)[1] for versions in found.values()]
    if len(newest) > 1:
        raise ChorusError(f"the environment '{name}' may be {' or '.join(newest)}; give one of them")
    if newest:
        warn(f"the environment '{name}' is taken to be {newest[0]}")
    return newest[0] if newest else name


def describe(env_id: str, max_episode_steps: int | None = None) -> EnvSpec:
    """The description of an environment; a Gymnasium one is constructed for it and closed."""
    if kind := _jax_kind(env_id):
        return kind.describe(env_id, max_episode_steps)
    if env_id.startswith(("MinAtar/", "Probe/")):
        raise ChorusError(f"the environment '{env_id}' does not exist{did_you_mean(env_id, JAX_ENVS)}")
    if is_atari(env_id):
        return atari.describe(env_id, max_episode_steps)
    if "," in env_id:
        several = env_id.replace(",", " ").split()
        raise ChorusError(
            f"'{env_id}' are {len(several)} environments; for several use "
            f"`chorus sweep --preset PRESET --env {' '.join(several)}`"
        )
    if ":" not in env_id and env_id not in gymnasium.registry and (like := _closest_id(env_id)):
        raise ChorusError(
            f"the environment '{env_id}' is not known; did you mean '{like}'? (`chorus list envs` shows all)"
        )
    env = gym.GymEnvs(env_id, 1, max_episode_steps)
    try:
        return env.spec
    finally:
        env.close()


def _closest_id(name: str) -> str | None:
    """The id or set that is most like this name, up to case, version and namespace; None if nothing is like it."""
    names = {known.casefold(): known for known in (*env_sets(), *known_ids())}
    # Later versions come later.
    newest = {known.rpartition("-v")[0]: known for known in known_ids()}
    for stem, known in newest.items():
        names.setdefault(stem.rpartition("/")[2].casefold(), known)
    like = closest(name.casefold(), names)
    return names[like] if like else None


# The four tasks of the paper: it names three, the fourth is our choice (docs/deviations.md).
_MUJOCO = ("Ant-v4", "HalfCheetah-v4", "Humanoid-v4", "Walker2d-v4")


def env_sets() -> dict[str, tuple[str, ...]]:
    return {"minatar5": tuple(GAMES), **named_sets(), "mujoco4": _MUJOCO}


def expand(names: Iterable[str]) -> tuple[str, ...]:
    """Replace the names of sets by their ids and remove duplicates."""
    sets = env_sets()
    return tuple(dict.fromkeys(env for name in names for env in sets.get(name) or (full_id(name),)))
