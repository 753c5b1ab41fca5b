"""One root seed, named streams: nothing random outlives an iteration, so nothing random needs saving.

A stream is named by (seed, purpose, iteration). The same three give the same numbers in any process; another seed
changes every stream.
"""

import zlib
from typing import Literal

import jax
import numpy as np

Stream = Literal["init", "act", "member", "replay", "env", "eval"]


def entropy(seed: int, stream: Stream, iteration: int = 0, *path: int) -> np.random.SeedSequence:
    return np.random.SeedSequence([seed, zlib.crc32(stream.encode()), iteration, *path])


def generator(seed: int, stream: Stream, iteration: int = 0) -> np.random.Generator:
    """For random numbers drawn on the host."""
    return np.random.default_rng(entropy(seed, stream, iteration))


def key_words(seed: int, stream: Stream, iteration: int = 0, *path: int, words: int = 2) -> np.ndarray:
    """The bits of a JAX key in 32-bit words, as `jax.random.wrap_key_data` takes them."""
    return entropy(seed, stream, iteration, *path).generate_state(words, np.uint32)


def stream_key(seed: int, stream: Stream, iteration: int = 0, *path: int) -> jax.Array:
    return jax.random.wrap_key_data(jax.numpy.asarray(key_words(seed, stream, iteration, *path)))


def init_key(seed: int) -> jax.Array:
    """For the initial parameters: this generator compiles several times faster than the default one."""
    return jax.random.wrap_key_data(jax.numpy.asarray(key_words(seed, "init", words=4)), impl="rbg")
