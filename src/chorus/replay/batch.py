"""Batches of B transitions, shared by all members (M = 1) or one per member (M = N)."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Bool, Float, Int, Shaped

from chorus.spaces import AnyArray


class Batch(NamedTuple):
    """n-step transitions. Rewards are not clipped yet; only the first `length` of the n rewards count. `weight` has one
    column for all members, or one per member (a bootstrap mask).

    Where observations are stacks of S frames, `observation` is the stack [S, ...] and `next_observation` holds only the
    n frames [n, ...] that followed it; `with_whole_stacks` completes them.
    """

    observation: Shaped[AnyArray, "B M ..."]
    action: Shaped[AnyArray, "B M ..."]
    rewards: Float[AnyArray, "B M n"]
    length: Int[AnyArray, "B M"]
    terminated: Bool[AnyArray, "B M"]
    next_observation: Shaped[AnyArray, "B M ..."]
    weight: Float[AnyArray, "B W"]


def with_whole_stacks(batch: Batch, frame_stack: int) -> Batch:
    """Complete `next_observation` to stacks; frames that both observations share are sent to the device only once."""
    if frame_stack == 1:
        return batch
    frames = jnp.concatenate([batch.observation, batch.next_observation], axis=2)
    if batch.next_observation.shape[2] == 1:
        return batch._replace(next_observation=frames[:, :, 1:])
    newest = batch.length[..., None] + jnp.arange(frame_stack)
    newest = newest.reshape(*newest.shape, *(1,) * (frames.ndim - 3))
    return batch._replace(next_observation=jnp.take_along_axis(frames, newest, axis=2))
