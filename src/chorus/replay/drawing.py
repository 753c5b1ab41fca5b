"""Drawing batches on the device: the compiled forms of samplers, with the supports and chances of the host's forms.

Draws depend on the key alone, never on how training is cut into programs.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from chorus.replay.batch import Batch
from chorus.replay.device import Contents, DeviceRing

_MOST_ROUNDS = 1_000


class DevicePlaces(NamedTuple):
    """Lane, position and realised length of windows in the ring."""

    lane: Int[Array, "*b"]
    position: Int[Array, "*b"]
    length: Int[Array, "*b"]


class Draw(NamedTuple):
    """Where a batch is read: places [B, M], the weights of its transitions (None for 1), which members got the common
    batch because they own nothing yet, and whether there were windows to draw."""

    places: DevicePlaces
    weight: Float[Array, "B W"] | None
    owns_nothing: Bool[Array, " N"]
    found: Bool[Array, ""]


def no_memory(_: DeviceRing) -> Any:
    return ()


class CompiledSampler(NamedTuple):
    """A sampler as traced functions of the ring's contents.

    `draw(contents, memory, key)` chooses a batch. `draw_mask(key)` chooses which members will learn from the
    transitions of one step; None for all. `remember(ring)` makes the sampler's memory at the start of an iteration, and
    `feedback(memory, places, errors)` changes it after a gradient step; None if errors are not wanted.
    """

    draw: Callable[[Contents, Any, PRNGKeyArray], Draw]
    draw_mask: Callable[[PRNGKeyArray], Bool[Array, "E N"]] | None = None
    remember: Callable[[DeviceRing], Any] = no_memory
    feedback: Callable[[Any, DevicePlaces, Float[Array, "B N"]], Any] | None = None


class Sizes(NamedTuple):
    """B windows of n steps for N members."""

    batch: int
    steps: int
    members: int


def shared(ring: DeviceRing, sizes: Sizes) -> CompiledSampler:
    """One batch for all members."""

    def draw(contents: Contents, memory: Any, key: PRNGKeyArray) -> Draw:
        places, found = draw_uniform(ring, contents, key, sizes)
        return Draw(_for_all(places), None, jnp.zeros(sizes.members, bool), found)

    return CompiledSampler(draw)


def self_oversampled(ring: DeviceRing, sizes: Sizes, own_probability: float, joint_coin: bool) -> CompiledSampler:
    """With this chance a member learns from its own transitions only, else from the common batch."""

    def draw(contents: Contents, memory: Any, key: PRNGKeyArray) -> Draw:
        coin_key, common_key, own_key = jax.random.split(key, 3)
        coins = jax.random.uniform(coin_key, (1 if joint_coin else sizes.members,)) < own_probability
        coins = jnp.broadcast_to(coins, sizes.members)
        common, found = draw_uniform(ring, contents, common_key, sizes)
        own, has_own = draw_own(ring, contents, own_key, sizes)
        takes_own = coins & has_own
        places = jax.tree.map(lambda mine, all_: jnp.where(takes_own, mine, all_[:, None]), own, common)
        return Draw(places, None, coins & ~has_own, found)

    return CompiledSampler(draw)


def own_only(ring: DeviceRing, sizes: Sizes) -> CompiledSampler:
    """Each member learns from its own transitions; one that owns none has weight 0."""

    def draw(contents: Contents, memory: Any, key: PRNGKeyArray) -> Draw:
        others_key, own_key = jax.random.split(key)
        others, found = draw_uniform(ring, contents, others_key, sizes)
        own, has_own = draw_own(ring, contents, own_key, sizes)
        places = jax.tree.map(lambda mine, all_: jnp.where(has_own, mine, all_[:, None]), own, others)
        weight = jnp.broadcast_to(has_own, (sizes.batch, sizes.members)).astype(jnp.float32)
        return Draw(places, weight, ~has_own, found)

    return CompiledSampler(draw)


def bootstrap_masked(ring: DeviceRing, sizes: Sizes, keep_probability: float) -> CompiledSampler:
    """One batch for all members, of which each learns from what its stored mask keeps."""

    def draw(contents: Contents, memory: Any, key: PRNGKeyArray) -> Draw:
        places, found = draw_uniform(ring, contents, key, sizes)
        weight = ring.masks(contents, places.lane, places.position).astype(jnp.float32)
        return Draw(_for_all(places), weight, jnp.zeros(sizes.members, bool), found)

    def draw_mask(key: PRNGKeyArray) -> Bool[Array, "E N"]:
        return jax.random.uniform(key, (ring.layout.lanes, sizes.members)) < keep_probability

    return CompiledSampler(draw, draw_mask)


def _for_all(places: DevicePlaces) -> DevicePlaces:
    return DevicePlaces(*(column[:, None] for column in places))


def read_batch(ring: DeviceRing, contents: Contents, draw: Draw, steps: int) -> Batch:
    """The windows at the drawn places."""
    size = draw.places.lane.shape[0]
    weight = jnp.ones((size, 1), jnp.float32) if draw.weight is None else draw.weight
    return ring.read(contents, *draw.places, weight, steps)


def draw_uniform(
    ring: DeviceRing, contents: Contents, key: PRNGKeyArray, sizes: Sizes
) -> tuple[DevicePlaces, Bool[Array, ""]]:
    """B windows with replacement, and whether there are any.

    As on the host, rows are drawn uniformly and those that start no complete window are drawn again, which leaves the
    rest uniform.
    """
    rows = contents.end - contents.oldest
    bounds = jnp.cumsum(rows)

    def candidates(time: Array) -> tuple[Array, DevicePlaces]:
        number = jax.random.randint(jax.random.fold_in(key, time), (sizes.batch,), 0, jnp.maximum(bounds[-1], 1))
        lane = jnp.sum(number[:, None] >= bounds, axis=1, dtype=jnp.int32)
        lane = jnp.minimum(lane, ring.layout.lanes - 1)
        position = contents.oldest[lane] + number - (bounds - rows)[lane]
        valid, length = ring.ends_within(contents, lane, position, sizes.steps)
        return valid, DevicePlaces(lane, position, length)

    def again(carry: tuple[Array, Array, DevicePlaces]) -> tuple[Array, Array, DevicePlaces]:
        time, found, places = carry
        valid, new = candidates(time)
        kept = jax.tree.map(lambda old, other: jnp.where(found, old, other), places, new)
        return time + 1, found | valid, kept

    def missing(carry: tuple[Array, Array, DevicePlaces]) -> Array:
        return ~carry[1].all() & (carry[0] < _MOST_ROUNDS)

    nothing = DevicePlaces(*(jnp.zeros(sizes.batch, jnp.int32) for _ in DevicePlaces._fields))
    begun = jnp.zeros((), jnp.int32), jnp.zeros(sizes.batch, bool), nothing
    _, found, places = jax.lax.while_loop(missing, again, begun)
    return places, found.all()


def draw_own(
    ring: DeviceRing, contents: Contents, key: PRNGKeyArray, sizes: Sizes
) -> tuple[DevicePlaces, Bool[Array, " N"]]:
    """B windows [B, N] that start with transitions of each member, with replacement, and which members have any."""
    own, capacity = contents.own, ring.layout.lane_capacity
    assert own, "a sampler that draws own transitions needs a ring with queues"
    # At most the newest n - 1 transitions of a lane have no complete window.
    newest = (own.pushed[..., None] - np.arange(1, sizes.steps)) % capacity
    stop = ring.incomplete_from(contents, sizes.steps)
    too_new = jnp.take_along_axis(own.position, newest, axis=2) >= stop[:, None, None]
    held = np.arange(1, sizes.steps) <= (own.pushed - own.dropped)[..., None]
    count = own.pushed - own.dropped - jnp.sum(too_new & held, axis=2)
    bounds = jnp.cumsum(count, axis=0)

    number = jax.random.randint(key, (sizes.batch, sizes.members), 0, jnp.maximum(bounds[-1], 1))
    lane = jnp.sum(number[:, None] >= bounds, axis=1, dtype=jnp.int32)
    lane = jnp.minimum(lane, ring.layout.lanes - 1)
    member = np.arange(sizes.members)
    place = own.dropped[lane, member] + number - (bounds - count)[lane, member]
    position = own.position[lane, member, place % capacity]
    _, length = ring.ends_within(contents, lane, position, sizes.steps)
    return DevicePlaces(lane, position, length), bounds[-1] > 0
