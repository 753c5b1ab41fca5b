"""A policy over [-1, 1]^A: a Gaussian squashed by tanh (equation E19). Everything here is for one state."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

LOWEST_LOG_STD, HIGHEST_LOG_STD = -10.0, 2.0
# The two heads of a policy network.
MEAN, RAW_LOG_STD = 0, 1


class Gaussian(NamedTuple):
    """The distribution before the tanh."""

    mean: Float[Array, "*axes A"]
    log_std: Float[Array, "*axes A"]

    @property
    def mode(self) -> Float[Array, "*axes A"]:
        """The squashed mean, which the literature calls the policy's mode."""
        return jnp.tanh(self.mean)


def gaussian_of(heads: Float[Array, "*axes 2 A"]) -> Gaussian:
    return Gaussian(mean=heads[..., MEAN, :], log_std=squash_log_std(heads[..., RAW_LOG_STD, :]))


def squash_log_std(raw: Float[Array, "*axes"]) -> Float[Array, "*axes"]:
    """Between -10 and 2, smoothly; raw 0 is -4, an almost deterministic policy."""
    return LOWEST_LOG_STD + 0.5 * (HIGHEST_LOG_STD - LOWEST_LOG_STD) * (1.0 + jnp.tanh(raw))


def draw(policy: Gaussian, noise: Float[Array, "*axes A"]) -> tuple[Float[Array, "*axes A"], Float[Array, "*axes"]]:
    """The action tanh(u), u = mean + std · noise, and log π = Σ_d [log N(u_d) - log(1 - tanh² u_d)].

    The logarithm of the derivative is written as 2 (ln 2 - u - softplus(-2u)), which does not underflow.
    """
    u = policy.mean + jnp.exp(policy.log_std) * noise
    log_normal = -0.5 * jnp.square(noise) - policy.log_std - 0.5 * math.log(2.0 * math.pi)
    log_slope = 2.0 * (math.log(2.0) - u - jax.nn.softplus(-2.0 * u))
    return jnp.tanh(u), jnp.sum(log_normal - log_slope, axis=-1)
