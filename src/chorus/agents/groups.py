"""Steps of a few members at a time.

Where members learn independently of each other, groups of them can take their steps one after the other, so that a
group's parameters stay in the cache from its first gradient to its optimizer's last step (docs/performance.md). Groups
exist only inside such a step: what goes in and what comes out has one axis of all members.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from chorus.spaces import AnyArray

Group = slice
"""Neighbouring members."""

Step = Callable[..., tuple[Any, Any]]
"""(group, static, state, shared) -> (state, report), of the members of one group.

Arrays of the report have the member axis last.
"""


def groups_of(members: int, size: int) -> list[Group]:
    """Groups of the same size; the last one may be smaller."""
    return [slice(first, min(first + size, members)) for first in range(0, members, size)]


def step_in_groups(step: Step, groups: Sequence[Group], state_axes: Any, shared_axes: Any) -> Callable[..., Any]:
    """(static, state, shared) -> (state, report): the step of all members; `state` is donated.

    The axes are prefixes of the trees, and say which axis of their arrays is that of the members. Arrays without that
    axis, such as a counter of updates or a batch for everybody, are given to every group as they are.
    """
    members = groups[-1].stop
    if len(groups) == 1:
        return lambda static, state, shared: step(groups[0], static, state, _gather(shared, shared_axes, groups[0]))

    @partial(jax.jit, static_argnums=(0, 1))
    def of_group(place: int, static: Any, owned: Any, counters: Any, shared: Any) -> tuple[Any, Any, Any]:
        group = groups[place]
        part = _take(owned, state_axes, group, members)
        state, report = step(group, static, _merge(part, counters), _gather(shared, shared_axes, group))
        return *_split(state, state_axes, group.stop - group.start), report

    # A dispatch of its own: in the step's, XLA would copy the whole arrays before it writes to them.
    @partial(jax.jit, static_argnums=0, donate_argnums=1)
    def put(place: int, owned: Any, part: Any) -> Any:
        return _put(owned, part, state_axes, groups[place])

    @jax.jit
    def join(reports: list[Any]) -> Any:
        return jax.tree.map(lambda *own: jnp.concatenate(own, axis=-1), *reports)

    def of_all(static: Any, state: Any, shared: Any) -> tuple[Any, Any]:
        owned, counters = _split(state, state_axes, members)
        reports, new_counters = [], counters
        for place in range(len(groups)):
            # Every group counts from the same number.
            part, new_counters, report = of_group(place, static, owned, counters, shared)
            owned = put(place, owned, part)
            reports.append(report)
        return _merge(owned, new_counters), join(reports)

    return of_all


def _has_members(leaf: AnyArray, axis: int, members: int) -> bool:
    return leaf.ndim > axis and leaf.shape[axis] == members


def _map(function: Callable[..., Any], axes: Any, *trees: Any) -> Any:
    """`function(axis, *leaves)` for every array; None where a tree has None."""
    return jax.tree.map(lambda axis, *parts: jax.tree.map(partial(function, axis), *parts), axes, *trees)


def _take(tree: Any, axes: Any, group: Group, members: int) -> Any:
    def take(axis: int, leaf: Array) -> Array:
        whole = not _has_members(leaf, axis, members)
        return leaf if whole else jax.lax.slice_in_dim(leaf, group.start, group.stop, axis=axis)

    return _map(take, axes, tree)


def _gather(tree: Any, axes: Any, group: Group) -> Any:
    """What the group's members read of the shared arrays; an axis of size 1 is for all members."""

    def gather(axis: int, leaf: Array) -> Array:
        own = (slice(None),) * axis + (np.arange(group.start, group.stop),)
        return leaf if leaf.shape[axis] == 1 else leaf[own]

    return _map(gather, axes, tree)


def _put(tree: Any, part: Any, axes: Any, group: Group) -> Any:
    return _map(
        lambda axis, leaf, new: jax.lax.dynamic_update_slice_in_dim(leaf, new, group.start, axis), axes, tree, part
    )


def _split(tree: Any, axes: Any, members: int) -> tuple[Any, Any]:
    """Arrays with a member axis, and the others; each tree has None where the other has an array."""
    owned = _map(lambda axis, leaf: leaf if _has_members(leaf, axis, members) else None, axes, tree)
    others = _map(lambda axis, leaf: None if _has_members(leaf, axis, members) else leaf, axes, tree)
    return owned, others


def _merge(owned: Any, others: Any) -> Any:
    return jax.tree.map(lambda x, y: y if x is None else x, owned, others, is_leaf=lambda x: x is None)
