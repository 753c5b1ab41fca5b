"""Who predicts what: the four tables that distinguish the ensemble algorithms of the paper.

Head (i, k) is member i's k-th prediction. A `ValueMap` says the value of whose policy it is, which head of the
target network it bootstraps from, under which discount, and with which head a member acts. A new algorithm of
this kind is one registered class with a `build` method, and one preset; neither has to live in this package.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int

from chorus.components import Component, option, register
from chorus.errors import ChorusError


@dataclass(frozen=True, eq=False)
class ValueMap:
    """Four tables: policy[i,k] = j, source[i,k] = (m, h), gamma[i,k], main[i] = k."""

    policy: Int[np.ndarray, "N H"]
    source: Int[np.ndarray, "N H 2"]
    gamma: Float[np.ndarray, "N H"]
    main: Int[np.ndarray, " N"]

    def __post_init__(self) -> None:
        if np.ndim(self.policy) != 2 or not np.size(self.policy):
            raise ChorusError(
                f"the value map's table policy has the shape {np.shape(self.policy)}; it must be [members, heads], "
                "at least one of each"
            )
        members, heads = grid = np.shape(self.policy)
        _check_indices("policy", self.policy, grid, members, "members")
        _check_shape("source", self.source, (*grid, 2))
        _check_indices("source[..., 0]", self.source[..., 0], grid, members, "members")
        _check_indices("source[..., 1]", self.source[..., 1], grid, heads, "heads")
        _check_indices("main", self.main, (members,), heads, "heads")
        _check_shape("gamma", self.gamma, grid)
        # Written so that NaN is outside.
        if len(outside := self.gamma[~((self.gamma >= 0) & (self.gamma <= 1))]):
            raise ChorusError(f"the value map's table gamma has {outside[0]}; a discount must lie between 0 and 1")

    @property
    def members(self) -> int:
        return self.policy.shape[0]

    @property
    def heads(self) -> int:
        return self.policy.shape[1]

    @property
    def crosses_members(self) -> bool:
        """Whether a member's targets need the networks or policies of other members."""
        own = np.arange(self.members)[:, None]
        return bool(np.any(self.source[..., 0] != own) or np.any(self.policy != own))

    def heads_read(self) -> Int[np.ndarray, "N K"]:
        """The heads of each member that some target bootstraps from, so that no other one is evaluated."""
        read = [np.unique(self.source[self.source[..., 0] == m][:, 1]) for m in range(self.members)]
        if len({len(heads) for heads in read}) > 1:
            return np.tile(np.arange(self.heads), (self.members, 1))
        return np.stack(read)

    def policies_read(self) -> Int[np.ndarray, "N P"]:
        """The policies on whose actions each member's target critics are evaluated."""
        asked = [np.unique(self.policy[self.source[..., 0] == m]) for m in range(self.members)]
        if len({len(policies) for policies in asked}) > 1:
            return np.tile(np.arange(self.members), (self.members, 1))
        return np.stack(asked)

    def policy_in(self, policies: Int[np.ndarray, "N P"]) -> Int[np.ndarray, "N H"]:
        """For each head, the position of its policy among those that its source is evaluated on."""
        return np.argmax(policies[self.source[..., 0]] == self.policy[..., None], axis=-1)

    def source_in(self, heads: Int[np.ndarray, "N K"]) -> Int[np.ndarray, "N H 2"]:
        """`source`, with each head replaced by its position among the `heads` that were evaluated."""
        member, head = self.source[..., 0], self.source[..., 1]
        position = np.argmax(heads[member] == head[..., None], axis=-1)
        return np.stack([member, position], axis=-1)


def _check_shape(name: str, table: Any, shape: tuple[int, ...]) -> None:
    if not isinstance(table, np.ndarray) or table.shape != shape:
        found = f"the shape {table.shape}" if isinstance(table, np.ndarray) else f"the type {type(table).__name__}"
        raise ChorusError(f"the value map's table {name} has {found}; it must be an array of shape {shape}")


def _check_indices(name: str, table: Any, shape: tuple[int, ...], count: int, noun: str) -> None:
    """Negative indices are refused too: they would count from the end."""
    _check_shape(name, table, shape)
    if not np.issubdtype(table.dtype, np.integer):
        raise ChorusError(f"the value map's table {name} has the type {table.dtype}; it must hold integers")
    if len(outside := table[(table < 0) | (table >= count)]):
        raise ChorusError(
            f"the value map's table {name} has {outside[0]}; with {count} {noun} its entries must lie between 0 "
            f"and {count - 1}"
        )


class ValueMapRule(Component, ABC, interface="value map"):
    """What each head predicts and what it bootstraps from, for any number of members."""

    update_seconds: ClassVar[float] = 0.0
    """Additional core seconds per member and gradient step, for cost estimates (docs/cost.md)."""

    @abstractmethod
    def build(self, members: int, discount: float) -> ValueMap:
        """The four tables; `discount` is that of the main heads."""


def _grid(members: int, heads: int) -> tuple[np.ndarray, np.ndarray]:
    own, head = np.indices((members, heads))
    return own, head


@register
@dataclass(frozen=True, kw_only=True)
class Members(ValueMapRule):
    """One head per member, which predicts its own value (Bootstrapped DQN; Double DQN if N = 1)."""

    def build(self, members: int, discount: float) -> ValueMap:
        own, head = _grid(members, 1)
        return ValueMap(
            policy=own,
            source=np.stack([own, head], axis=-1),
            gamma=np.full((members, 1), discount),
            main=np.zeros(members, int),
        )


@register
@dataclass(frozen=True, kw_only=True)
class Cross(ValueMapRule):
    """CERL: member i predicts every member k's value, from k's own target (paper, section 5)."""

    def build(self, members: int, discount: float) -> ValueMap:
        _, head = _grid(members, members)
        return ValueMap(
            policy=head,
            source=np.stack([head, head], axis=-1),
            gamma=np.full((members, members), discount),
            main=np.arange(members),
        )


@register
@dataclass(frozen=True, kw_only=True)
class CrossOwn(ValueMapRule):
    """CERL (self-target): as `Cross`, but member i bootstraps from its own k-th head (paper, figure 22)."""

    def build(self, members: int, discount: float) -> ValueMap:
        own, head = _grid(members, members)
        return ValueMap(
            policy=head,
            source=np.stack([own, head], axis=-1),
            gamma=np.full((members, members), discount),
            main=np.arange(members),
        )


@register
@dataclass(frozen=True, kw_only=True)
class Horizons(ValueMapRule):
    """Multi-horizon: one head per horizon, all evaluating the policy of the longest one (equation E6)."""

    # For ten heads, measured on MinAtar (docs/cost.md).
    update_seconds: ClassVar[float] = 0.9e-4

    horizons: tuple[int, ...] = option(
        (100, 90, 80, 70, 60, 50, 40, 30, 20, 10),
        unit="STEPS",
        help="horizons of the heads; the longest is the main one",
    )

    def build(self, members: int, discount: float) -> ValueMap:
        """Discounts are 1 - 1/horizon; `discount` is the main head's, so the longest horizon must agree."""
        own, head = _grid(members, len(self.horizons))
        gamma = 1.0 - 1.0 / np.asarray(self.horizons, float)
        longest = int(np.argmax(gamma))
        gamma[longest] = discount
        return ValueMap(
            policy=own,
            source=np.stack([own, head], axis=-1),
            gamma=np.tile(gamma, (members, 1)),
            main=np.full(members, longest),
        )

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        longest, discount = max(self.horizons, default=0), config.agent.discount
        if min(self.horizons, default=0) < 2:
            yield f"the horizons are {self.horizons}; each must be at least 2 steps, and there must be one"
        elif abs(discount - (1 - 1 / longest)) > 1e-6:
            yield (
                f"--discount is {discount}; the longest horizon, {longest} steps, is the main head's and means "
                f"{1 - 1 / longest:.6g}: give that discount, or other horizons"
            )


@register
@dataclass(frozen=True, kw_only=True)
class Beside(ValueMapRule):
    """The heads of `first`, and beside them the shorter horizons of `second`; members act as in `first`."""

    first: ValueMapRule = option(help="the heads that members act with")
    second: Horizons = option(help="the horizons beside them")

    def build(self, members: int, discount: float) -> ValueMap:
        first, second = self.first.build(members, discount), self.second.build(members, discount)
        kept = np.flatnonzero(np.arange(second.heads) != second.main[0])
        own, place = _grid(members, len(kept))
        return ValueMap(
            policy=np.concatenate([first.policy, second.policy[:, kept]], axis=1),
            source=np.concatenate([first.source, np.stack([own, first.heads + place], axis=-1)], axis=1),
            gamma=np.concatenate([first.gamma, second.gamma[:, kept]], axis=1),
            main=first.main,
        )

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if isinstance(self.first, Horizons | Beside):
            yield f"a value map of kind beside cannot have {self.first.kind} as its first; use members or cross"
