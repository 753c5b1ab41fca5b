"""Samplers: which member learns from which data. They draw complete windows only and never fall back silently."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Integer

from chorus.components import ABOVE_0, SHARE, Component, option, register
from chorus.errors import ChorusError
from chorus.replay import drawing
from chorus.replay.batch import Batch
from chorus.replay.device import DeviceRing
from chorus.replay.drawing import CompiledSampler, Sizes
from chorus.replay.ring import Ring

_MOST_ROUNDS = 1_000
# An eighth more rows than asked for: with episodes of a dozen steps or more, one draw is then enough.
_SPARE = 8


class Places(NamedTuple):
    """Lane, position and realised length of windows in the ring."""

    lane: Int[np.ndarray, "*b"]
    position: Int[np.ndarray, "*b"]
    length: Int[np.ndarray, "*b"]


class Sample(NamedTuple):
    """A batch, the places of its windows in the ring, the owners of their transitions, and which members got the
    common batch because they own nothing yet."""

    batch: Batch
    places: Places
    owner: Integer[np.ndarray, "B M"]
    owns_nothing: Bool[np.ndarray, " N"]


class Sampler(Component, ABC, interface="sampler"):
    """Who learns from which data."""

    each_its_own: ClassVar[bool] = False
    """Whether every member gets a batch of its own."""
    masked: ClassVar[bool] = False
    """Whether a bootstrap mask is stored with every transition."""
    wants_errors: ClassVar[bool] = False
    """Whether `feedback` is called after each gradient step; the loop then waits for the errors on the device."""

    @abstractmethod
    def sample(self, ring: Ring, rng: np.random.Generator, batch_size: int, steps: int, members: int) -> Sample:
        """A batch of `steps`-step windows."""

    def draw_mask(self, rng: np.random.Generator, lanes: int, members: int) -> Bool[np.ndarray, "E N"] | None:
        """Which members will learn from the transitions that are stored now; None for all of them."""
        return None

    def compiled(self, ring: DeviceRing, sizes: Sizes) -> CompiledSampler | None:
        """The same sampler as traced functions, for compiled training; without it training uses the host loop."""
        return None

    def feedback(self, ring: Ring, places: Places, errors: Float[np.ndarray, "B N"]) -> None:
        """Called after a gradient step with the places [B, M] of its batch and each member's absolute TD errors.

        What is remembered of them belongs in `ring.sampler_memory`. No checkpoint holds it: it is emptied at the start
        of each iteration, so that resumed runs stay exact.
        """


@register
@dataclass(frozen=True, kw_only=True)
class Shared(Sampler):
    """One batch for all members, uniform over every transition in the window."""

    def sample(self, ring: Ring, rng: np.random.Generator, batch_size: int, steps: int, members: int) -> Sample:
        return read_sample(ring, draw_uniform(ring, rng, batch_size, steps), steps, members)

    def compiled(self, ring: DeviceRing, sizes: Sizes) -> CompiledSampler:
        return drawing.shared(ring, sizes)


@register
@dataclass(frozen=True, kw_only=True)
class SelfOversampled(Sampler):
    """With this chance a member learns from its own transitions only, else from the common batch (equation E16)."""

    own_probability: float = option(
        0.5,
        flag="own-probability",
        unit="P",
        within=SHARE,
        label="own {:.0%}",
        axis="chance of a batch of own transitions",
        help="chance that a member's batch holds only its own transitions, 0 to 1",
    )
    joint_coin: bool = option(
        False,
        flag="joint-coin",
        help="one coin per update for all members, as in the authors' code, instead of one per member (Deviation D19)",
    )
    each_its_own: ClassVar[bool] = True

    def sample(self, ring: Ring, rng: np.random.Generator, batch_size: int, steps: int, members: int) -> Sample:
        coins = np.broadcast_to(rng.random(1 if self.joint_coin else members) < self.own_probability, members)
        common = draw_uniform(ring, rng, batch_size, steps)
        stop = ring.incomplete_from(steps)
        own = [draw_own(ring, rng, i, batch_size, steps, stop) if coin else None for i, coin in enumerate(coins)]
        columns = zip(*(places or common for places in own), strict=True)
        places = Places(*(np.stack(column, axis=1) for column in columns))
        return read_sample(ring, places, steps, members, coins & np.array([one is None for one in own]))

    def compiled(self, ring: DeviceRing, sizes: Sizes) -> CompiledSampler:
        return drawing.self_oversampled(ring, sizes, self.own_probability, self.joint_coin)

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        yield from _own_data_problems(self, config)


@register
@dataclass(frozen=True, kw_only=True)
class OwnOnly(Sampler):
    """Each member learns only from its own transitions, and not at all before it owns one (equation E25)."""

    each_its_own: ClassVar[bool] = True

    def sample(self, ring: Ring, rng: np.random.Generator, batch_size: int, steps: int, members: int) -> Sample:
        stop = ring.incomplete_from(steps)
        own = [draw_own(ring, rng, member, batch_size, steps, stop) for member in range(members)]
        owns_nothing = np.array([places is None for places in own])
        # Something has to stand in the batch of a member that owns nothing; its weight is 0.
        others = draw_uniform(ring, rng, batch_size, steps)
        columns = zip(*(places or others for places in own), strict=True)
        places = Places(*(np.stack(column, axis=1) for column in columns))
        weight = np.broadcast_to(~owns_nothing, (batch_size, members)).astype(np.float32)
        return read_sample(ring, places, steps, members, owns_nothing, weight)

    def compiled(self, ring: DeviceRing, sizes: Sizes) -> CompiledSampler:
        return drawing.own_only(ring, sizes)

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        yield from _own_data_problems(self, config)
        agent = config.agent
        if agent.auxiliary.weight:
            yield (
                f"own_only leaves out members that own no data yet, and the auxiliary loss {agent.auxiliary.kind} "
                "cannot leave out a member; use the sampler self_oversampled with --own-probability 1"
            )
        if not any(config.acting.problems(config, spec)) and np.min(config.acting.shares(agent.members)) <= 0:
            yield (
                f"with the sampler own_only a member that never acts never learns, and the acting rule "
                f"{config.acting.kind} gives one the share 0; use the sampler shared or self_oversampled"
            )


def _own_data_problems(sampler: Sampler, config: Any) -> Iterator[str]:
    """Where a batch of own transitions per member is not defined."""
    agent = config.agent
    if config.acting.uses_members:
        yield (
            f"{sampler.kind} needs transitions of single members, and with the acting rule {config.acting.kind} "
            "all members choose every action together; use the sampler shared"
        )
    if agent.value_map.build(agent.members, agent.discount).crosses_members:
        yield (
            "CERL cannot learn from one batch per member: its targets would need every member's network on every "
            "other member's batch, N times the work, and the paper does not define it; use the sampler shared, or "
            "the value map members"
        )


@register
@dataclass(frozen=True, kw_only=True)
class BootstrapMasked(Sampler):
    """One batch for all members, of which each learns from what its stored mask keeps (equation E17)."""

    keep_probability: float = option(
        0.75,
        flag="keep-probability",
        unit="P",
        within=ABOVE_0,
        help="chance that a member learns from a transition, drawn when it is stored, above 0 and at most 1",
    )
    masked: ClassVar[bool] = True

    def sample(self, ring: Ring, rng: np.random.Generator, batch_size: int, steps: int, members: int) -> Sample:
        places = draw_uniform(ring, rng, batch_size, steps)
        weight = ring.masks(places.lane, places.position).astype(np.float32)
        return read_sample(ring, places, steps, members, weight=weight)

    def draw_mask(self, rng: np.random.Generator, lanes: int, members: int) -> Bool[np.ndarray, "E N"]:
        """Which members will learn from the transitions that are stored now."""
        return rng.random((lanes, members)) < self.keep_probability

    def compiled(self, ring: DeviceRing, sizes: Sizes) -> CompiledSampler:
        return drawing.bootstrap_masked(ring, sizes, self.keep_probability)


_HOST_METHODS = ("sample", "draw_mask", "feedback")


def has_compiled_form(sampler: Sampler) -> bool:
    """Whether `compiled` is defined, and not before a subclass changed what it should do."""
    order = type(sampler).__mro__

    def defined_in(name: str) -> int:
        return next(place for place, kind in enumerate(order) if name in vars(kind))

    place = defined_in("compiled")
    return order[place] is not Sampler and all(place <= defined_in(name) for name in _HOST_METHODS)


def read_sample(
    ring: Ring,
    places: Places,
    steps: int,
    members: int,
    owns_nothing: Bool[np.ndarray, " N"] | None = None,
    weight: Float[np.ndarray, "B W"] | None = None,
) -> Sample:
    """The windows at places [B, M], or at places [B] for one batch that all members share."""
    shape = places.lane.shape if places.lane.ndim == 2 else (len(places.lane), 1)
    flat = Places(*(column.reshape(-1) for column in places))
    windows = ring.read(*flat, steps)
    weight = np.ones((shape[0], 1), np.float32) if weight is None else weight
    return Sample(
        Batch._make((*(column.reshape(*shape, *column.shape[1:]) for column in windows), weight)),
        Places(*(column.reshape(shape) for column in places)),
        ring.owners(flat.lane, flat.position).reshape(shape),
        np.zeros(members, bool) if owns_nothing is None else owns_nothing,
    )


def draw_own(
    ring: Ring, rng: np.random.Generator, owner: int, count: int, steps: int, stop: Int[np.ndarray, " E"]
) -> Places | None:
    """`count` windows that start with transitions of the owner before `stop`, with replacement; None if it has none.

    `stop` is each lane's first position without a complete window (`Ring.incomplete_from`).
    """
    drawn = ring.ownership.draw(owner, rng, count, ring.cursor.oldest, stop)
    if drawn is None:
        return None
    _, length = ring.ends_within(*drawn, steps)
    return Places(*drawn, length)


def draw_uniform(ring: Ring, rng: np.random.Generator, count: int, steps: int) -> Places:
    """`count` windows, with replacement.

    Rows are drawn uniformly, a few more than needed; of those that start a complete window the first `count` are kept,
    which leaves them uniform. Final observations and the newest steps of open episodes start none.
    """
    found: list[Places] = []
    missing, rows = count, ring.rows_in_windows
    if rows == 0:
        raise ChorusError("the replay is empty: nothing can be sampled before the first transition")
    for _ in range(_MOST_ROUNDS):
        lane, position = ring.locate(rng.integers(rows, size=missing + missing // _SPARE + _SPARE))
        valid, length = ring.ends_within(lane, position, steps)
        kept = np.flatnonzero(valid)[:missing]
        found.append(Places(lane[kept], position[kept], length[kept]))
        missing -= len(kept)
        if not missing:
            return found[0] if len(found) == 1 else Places(*map(np.concatenate, zip(*found, strict=True)))
    raise ChorusError(
        f"after {_MOST_ROUNDS} rounds no complete {steps}-step window was found among {len(ring)} transitions; "
        "raise --learning-starts or lower the number of steps"
    )
