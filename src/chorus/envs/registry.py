"""From an environment's id to something that can be stepped."""

from collections.abc import Callable

from chorus.envs.gym import GymEnv
from chorus.envs.minatar import GAMES, MinAtar
from chorus.envs.probes import PROBES, ProbeEnv
from chorus.envs.spec import EnvSpec, HostEnv, JaxEnv
from chorus.errors import ChorusError

JaxMaker = Callable[[str, int | None], JaxEnv]

JAX_ENVS: dict[str, JaxMaker] = {**dict.fromkeys(GAMES, MinAtar), **dict.fromkeys(PROBES, ProbeEnv)}


def is_jax(env_id: str) -> bool:
    return env_id in JAX_ENVS


def make_jax(env_id: str, max_episode_steps: int | None) -> JaxEnv:
    return JAX_ENVS[env_id](env_id, max_episode_steps)


def make_host(env_id: str, max_episode_steps: int | None, render_mode: str | None = None) -> HostEnv:
    return GymEnv(env_id, max_episode_steps, render_mode)


def describe(env_id: str, max_episode_steps: int | None = None) -> EnvSpec:
    """The description of an environment; it is constructed once for that and closed."""
    if is_jax(env_id):
        return make_jax(env_id, max_episode_steps).spec
    for prefix in ("MinAtar/", "Probe/"):
        if env_id.startswith(prefix):
            known = ", ".join(sorted(name for name in JAX_ENVS if name.startswith(prefix)))
            raise ChorusError(f"the environment '{env_id}' does not exist; there are {known}")
    env = make_host(env_id, max_episode_steps)
    try:
        return env.spec
    finally:
        env.close()
