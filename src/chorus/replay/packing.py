"""Boolean observations take one bit per value in the replay, on the host and on the device, and in checkpoints."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Shaped

from chorus.spaces import AnyArray

Shape = tuple[int, ...]
_BOOLEAN = "b"


def packed_type(shape: Shape, dtype: np.dtype) -> tuple[Shape, np.dtype]:
    """Shape and type of what is stored for a frame of this shape and type."""
    return ((-(-math.prod(shape) // 8),), np.dtype(np.uint8)) if dtype.kind == _BOOLEAN else (shape, dtype)


def pack(frames: Shaped[AnyArray, "..."], shape: Shape) -> Shaped[AnyArray, "..."]:
    """Frames [..., *shape] as they are stored; all but booleans are stored as they are."""
    if frames.dtype.kind != _BOOLEAN:
        return frames
    flat = frames.reshape(*frames.shape[: frames.ndim - len(shape)], -1)
    return jnp.packbits(flat, axis=-1) if isinstance(frames, jax.Array) else np.packbits(flat, axis=-1)


def unpack(stored: Shaped[AnyArray, "..."], shape: Shape, dtype: np.dtype) -> Shaped[AnyArray, "..."]:
    """Frames [..., *shape] of this type from what was stored."""
    if dtype.kind != _BOOLEAN:
        return stored
    count, on_device = math.prod(shape), isinstance(stored, jax.Array)
    bits = (jnp.unpackbits if on_device else np.unpackbits)(stored, axis=-1, count=count)
    return bits.astype(bool).reshape(*stored.shape[:-1], *shape)
