"""The replay ring on the device, for compiled training: the host ring's rows and cursor, changed by pure functions.

Rows, positions, window and flags are those of `chorus.replay.ring`, so contents are copied between the two as they
are. Beside the rows it keeps what the host derives from them: the episode of each transition, and, for samplers that
draw a member's own transitions, queues of their positions.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Integer, Shaped

from chorus.errors import ChorusError
from chorus.replay.batch import Batch
from chorus.replay.columns import ring_slices
from chorus.replay.layout import Cursor, RingLayout
from chorus.replay.ownership import Episodes
from chorus.replay.packing import pack, unpack
from chorus.replay.ring import ENDED, TERMINATED, TRANSITION, TRUNCATED, Ring
from chorus.spaces import AnyArray


class EpisodeNumbers(NamedTuple):
    """`chorus.replay.ownership.Episodes` as arrays: the episode of each row, and where an episode's owner last
    changed."""

    number: Int[Array, "E R"]
    last_change: Int[Array, "E R"]
    newest_number: Int[Array, " E"]
    newest_position: Int[Array, " E"]
    newest_owner: Int[Array, " E"]


class OwnQueues(NamedTuple):
    """Positions of each member's transitions, oldest first; entries `dropped` to `pushed` are in the window."""

    position: Int[Array, "E N C"]
    pushed: Int[Array, "E N"]
    dropped: Int[Array, "E N"]


class Contents(NamedTuple):
    """What changes: columns [E * R, ...], the cursor, and the two indexes, empty where nobody reads them."""

    columns: dict[str, Array]
    end: Int[Array, " E"]
    oldest: Int[Array, " E"]
    transitions: Int[Array, " E"]
    episodes: EpisodeNumbers | tuple[()]
    own: OwnQueues | tuple[()]


class Transition(NamedTuple):
    """One step of every lane, as `Ring.add` and `Ring.begin` take it."""

    action: Shaped[AnyArray, "E ..."]
    reward: Float[AnyArray, " E"]
    terminated: Bool[AnyArray, " E"]
    truncated: Bool[AnyArray, " E"]
    owner: Integer[AnyArray, " E"]
    next_observation: Shaped[AnyArray, "E ..."]
    mask: Bool[AnyArray, "E N"] | None
    reset_observation: Shaped[AnyArray, "E ..."]
    """The first observation of the next episode, for `starts`."""
    starts: Bool[AnyArray, " E"]
    """Where another episode starts after this step."""


@dataclass(frozen=True)
class DeviceRing:
    """The functions of a ring of this layout. Ensembles need episode numbers; `queues` adds those of own
    transitions."""

    layout: RingLayout
    members: int
    queues: bool = False

    @cached_property
    def _lanes(self) -> np.ndarray:
        return np.arange(self.layout.lanes, dtype=np.int32)

    def physical(self, lane: Integer[Any, "..."], position: Integer[Any, "..."]) -> Int[Array, "..."]:
        return jnp.asarray(lane, jnp.int32) * self.layout.rows + position % self.layout.rows

    def upload(self, ring: Ring) -> Contents:
        """The contents of a host ring, copied."""
        flat = {name: array.reshape(-1, *array.shape[2:]) for name, array in ring.columns.arrays.items()}
        end, oldest, transitions = (jnp.array(column, jnp.int32) for column in ring.cursor)
        # Copied explicitly: on a CPU, JAX may share a host array, which would then change with it.
        columns = {name: jnp.array(array, copy=True) for name, array in flat.items()}
        episodes = self._number_episodes(ring) if self.members > 1 else ()
        own = self._fill_queues(ring) if self.queues else ()
        return Contents(columns, end, oldest, transitions, episodes, own)

    def _number_episodes(self, ring: Ring) -> EpisodeNumbers:
        index = ring.fill(Episodes(self.layout.lanes, self.layout.rows))
        return EpisodeNumbers(*(jnp.array(column, jnp.int32) for column in index.arrays()))

    def _fill_queues(self, ring: Ring) -> OwnQueues:
        shape = (self.layout.lanes, self.members, self.layout.lane_capacity)
        position, pushed = np.zeros(shape, np.int32), np.zeros(shape[:2], np.int32)
        for lane in range(self.layout.lanes):
            owner, place = ring.transitions_of(lane)
            for member in range(self.members):
                own = place[owner == member]
                position[lane, member, : len(own)], pushed[lane, member] = own, len(own)
        return OwnQueues(jnp.array(position), jnp.array(pushed), jnp.zeros(shape[:2], jnp.int32))

    def download(self, contents: Contents, ring: Ring) -> None:
        """Copy the rows that are new since the last copy, and the cursor, to the host ring."""
        cursor = Cursor(
            *(np.array(column, np.int64) for column in (contents.end, contents.oldest, contents.transitions))
        )
        ring.check_room(np.arange(self.layout.lanes), cursor.end - 1)
        # The row before the first new one got its transition after it had been copied.
        first = np.maximum(np.maximum(ring.cursor.end - 1, 0), cursor.end - self.layout.rows)
        for name, own in ring.columns.arrays.items():
            rows = np.asarray(contents.columns[name]).reshape(own.shape)
            for lane in range(self.layout.lanes):
                for piece in ring_slices(int(first[lane]), int(cursor.end[lane]), self.layout.rows):
                    own[lane, piece] = rows[lane, piece]
        ring.cursor = cursor

    def begin(self, contents: Contents, observation: Shaped[AnyArray, "E ..."]) -> Contents:
        """Start an episode in every lane."""
        columns = self._write_observations(contents.columns, contents.end, observation)
        return contents._replace(columns=columns, end=contents.end + 1)

    def add(self, contents: Contents, step: Transition) -> Contents:
        """One transition in every lane, and the start of an episode where one starts.

        Everything is written before anything is read: XLA copies columns that are read between two writes.
        """
        position = contents.end - 1
        row = self.physical(self._lanes, position)
        flags = TRANSITION + TERMINATED * step.terminated + TRUNCATED * step.truncated
        written = {"action": step.action, "reward": step.reward, "owner": step.owner, "flags": flags}
        if step.mask is not None:
            written["mask"] = jnp.packbits(step.mask, axis=1)
        columns = dict(contents.columns)
        for name, value in written.items():
            columns[name] = self._put(columns[name], row, jnp.asarray(value))
        columns = self._write_observations(columns, contents.end, step.next_observation)
        # Where no episode starts, the row after the newest one is nobody's, and the next transition overwrites it.
        columns = self._write_observations(columns, contents.end + 1, step.reset_observation)
        contents = contents._replace(columns=columns, end=contents.end + 1, transitions=contents.transitions + 1)
        owner = jnp.asarray(step.owner, jnp.int32)
        if contents.own:
            contents = contents._replace(own=self._push(contents.own, owner, position))
        # A transition adds at most two rows, its own and that of an episode's start, and dropping one frees at least
        # one.
        for _ in range(2):
            contents = self._shrink_window(contents)
        if contents.episodes:
            contents = contents._replace(episodes=self._number(contents.episodes, owner, position))
        return contents._replace(end=contents.end + step.starts)

    def _write_observations(
        self, columns: dict[str, Array], position: Array, observation: AnyArray
    ) -> dict[str, Array]:
        row, no_transition = self.physical(self._lanes, position), jnp.zeros(self.layout.lanes, jnp.uint8)
        return columns | {
            "observation": self._put(columns["observation"], row, self._pack(observation)),
            "flags": self._put(columns["flags"], row, no_transition),
        }

    def _pack(self, observation: Shaped[AnyArray, "E ..."]) -> Shaped[Array, "E ..."]:
        return jnp.asarray(pack(jnp.asarray(observation), self.layout.observation_shape))

    def _put(self, column: Array, row: Array, value: Array) -> Array:
        """Write one row per lane, in place inside a program, where a scatter would become a loop."""
        value = value.astype(column.dtype)
        for lane in range(self.layout.lanes):
            column = jax.lax.dynamic_update_index_in_dim(column, value[lane], row[lane], 0)
        return column

    def _shrink_window(self, contents: Contents) -> Contents:
        layout = self.layout
        rows = contents.end - contents.oldest
        too_long = (contents.transitions > layout.lane_capacity) | (rows > layout.window_rows)
        dropped = contents.columns["owner"][self.physical(self._lanes, contents.oldest)]
        oldest = contents.oldest + too_long
        # After a dropped transition comes the next one, or the final observation of its episode.
        final = contents.columns["flags"][self.physical(self._lanes, oldest)] == 0
        own = contents.own
        if own:
            count = too_long[:, None] & (dropped[:, None] == np.arange(self.members))
            own = own._replace(dropped=own.dropped + count)
        return contents._replace(
            oldest=oldest + (too_long & final), transitions=contents.transitions - too_long, own=own
        )

    def _push(self, own: OwnQueues, owner: Array, position: Array) -> OwnQueues:
        place = own.pushed[self._lanes, owner] % self.layout.lane_capacity
        return own._replace(
            position=own.position.at[self._lanes, owner, place].set(position),
            pushed=own.pushed.at[self._lanes, owner].add(1),
        )

    def _number(self, episodes: EpisodeNumbers, owner: Array, position: Array) -> EpisodeNumbers:
        rows = self.layout.rows
        begins = position != episodes.newest_position + 1
        changes = begins | (owner != episodes.newest_owner)
        newest = episodes.newest_number + begins
        place = (self._lanes, newest % rows)
        change = jnp.where(changes, jnp.where(begins, 0, position), episodes.last_change[place])
        return EpisodeNumbers(
            number=episodes.number.at[self._lanes, position % rows].set(newest),
            last_change=episodes.last_change.at[place].set(change),
            newest_number=newest,
            newest_position=position,
            newest_owner=owner,
        )

    def look_up(self, contents: Contents, lane: Array, position: Array) -> tuple[Array, Array]:
        """`Episodes.look_up`: a unique number for each transition's episode, and whether one owner alone played it."""
        assert contents.episodes, "a ring of one member numbers no episodes"
        rows = self.layout.rows
        number = contents.episodes.number[lane, position % rows]
        alone = contents.episodes.last_change[lane, number % rows] <= contents.oldest[lane]
        return number * self.layout.lanes + lane, alone

    def ends_within(self, contents: Contents, lane: Array, position: Array, steps: int) -> tuple[Array, Array]:
        """`Ring.ends_within`: which rows start a complete n-step window, and its realised length."""
        last = contents.end[lane] - 1
        reach = jnp.minimum(position[..., None] + np.arange(steps), last[..., None])
        flags = contents.columns["flags"][self.physical(lane[..., None], reach)]
        ended = (flags & ENDED) > 0
        length = jnp.where(ended.any(axis=-1), jnp.argmax(ended, axis=-1) + 1, steps)
        complete = ended.any(axis=-1) | (position + steps <= last)
        return ((flags[..., 0] & TRANSITION) > 0) & complete, length.astype(jnp.int32)

    def incomplete_from(self, contents: Contents, steps: int) -> Int[Array, " E"]:
        """`Ring.incomplete_from`: each lane's first position without a complete n-step window."""
        before = contents.end[:, None] - np.arange(2, steps + 1)
        flags = contents.columns["flags"][self.physical(self._lanes[:, None], before)]
        goes_on = ((flags & (TRANSITION | ENDED)) == TRANSITION) & (before >= 0)
        return contents.end - 1 - jnp.cumprod(goes_on.astype(jnp.int32), axis=1).sum(axis=1)

    def read(self, contents: Contents, lane: Array, position: Array, length: Array, weight: Array, steps: int) -> Batch:
        """`Ring.read`: the windows that start at the given rows, rewards beyond `length` set to zero."""
        columns, layout = contents.columns, self.layout
        first = self.physical(lane, position)
        rewards = columns["reward"][self.physical(lane[..., None], position[..., None] + np.arange(steps))]
        last = self.physical(lane, position + length - 1)
        both = jnp.stack([first, self.physical(lane, position + length)])
        observation = unpack(columns["observation"][both], layout.observation_shape, layout.observation_dtype)
        return Batch(
            observation=observation[0],
            action=columns["action"][first],
            rewards=jnp.where(np.arange(steps) < length[..., None], rewards, 0.0),
            length=length,
            terminated=(columns["flags"][last] & TERMINATED) > 0,
            next_observation=observation[1],
            weight=weight,
        )

    def owners(self, contents: Contents, lane: Array, position: Array) -> Integer[Array, "..."]:
        return contents.columns["owner"][self.physical(lane, position)]

    def masks(self, contents: Contents, lane: Array, position: Array) -> Bool[Array, "B N"]:
        packed = contents.columns["mask"][self.physical(lane, position)]
        return jnp.unpackbits(packed, axis=-1, count=self.layout.masked_members).astype(bool)


def check_sampled(found: bool, steps: int, transitions: int) -> None:
    """Raise if a program drew a batch without finding windows for it."""
    if not found:
        raise ChorusError(
            f"no complete {steps}-step window was found among {transitions} transitions; "
            "raise --learning-starts or lower the number of steps"
        )
