"""From an environment's id to something that can be stepped."""

from collections.abc import Callable
from typing import NamedTuple

from chorus.envs import minatar, probes
from chorus.envs.gym import GymEnv
from chorus.envs.spec import EnvSpec, HostEnv, JaxEnv
from chorus.errors import ChorusError
from chorus.suggest import did_you_mean


class JaxKind(NamedTuple):
    """How environments of one kind are described (without starting JAX) and made."""

    describe: Callable[[str, int | None], EnvSpec]
    make: Callable[[str, int | None], JaxEnv]


JAX_ENVS: dict[str, JaxKind] = {
    **dict.fromkeys(minatar.GAMES, JaxKind(minatar.describe, minatar.MinAtar)),
    **dict.fromkeys(probes.PROBES, JaxKind(probes.describe, probes.ProbeEnv)),
}


def is_jax(env_id: str) -> bool:
    return env_id in JAX_ENVS


def make_jax(env_id: str, max_episode_steps: int | None) -> JaxEnv:
    return JAX_ENVS[env_id].make(env_id, max_episode_steps)


def make_host(env_id: str, max_episode_steps: int | None, render_mode: str | None = None) -> HostEnv:
    return GymEnv(env_id, max_episode_steps, render_mode)


def describe(env_id: str, max_episode_steps: int | None = None) -> EnvSpec:
    """The description of an environment; one that lives in Python is constructed for it and closed."""
    if is_jax(env_id):
        return JAX_ENVS[env_id].describe(env_id, max_episode_steps)
    if env_id.startswith(("MinAtar/", "Probe/")):
        raise ChorusError(f"the environment '{env_id}' does not exist{did_you_mean(env_id, JAX_ENVS)}")
    env = make_host(env_id, max_episode_steps)
    try:
        return env.spec
    finally:
        env.close()
