"""The four tables of a value map (docs/concepts.md), built from a run's configuration for the diagrams."""

from typing import Any, Protocol

import numpy as np

from chorus.analysis.variants import read_traits
from chorus.config.codec import decode
from chorus.ensemble.value_map import ValueMap, ValueMapRule


class HeadTables(Protocol):
    """policy[i,k], source[i,k] = (member, head), gamma[i,k] and main[i]; `ValueMap` is one."""

    @property
    def policy(self) -> np.ndarray: ...
    @property
    def source(self) -> np.ndarray: ...
    @property
    def gamma(self) -> np.ndarray: ...
    @property
    def main(self) -> np.ndarray: ...


def tables_from_config(config: dict[str, Any]) -> ValueMap | None:
    """The value map of a configuration, or None where it describes none that this version can build."""
    agent = config.get("agent")
    if not isinstance(agent, dict):
        return None
    problems: list[str] = []
    rule = decode(ValueMapRule, agent.get("value_map"), "value_map", problems)
    discount = agent.get("discount", 0.99)
    if problems or not isinstance(discount, int | float):
        return None
    tables: ValueMap = rule.build(read_traits(config).members, float(discount))
    return tables


def data_shares(config: dict[str, Any]) -> np.ndarray:
    """Which share of the episodes each member generates: equal, or (1 - p, p) for a tandem."""
    traits = read_traits(config)
    if traits.acting == "tandem" and traits.passive_share is not None:
        return np.array([1 - traits.passive_share, traits.passive_share])
    return np.full(traits.members, 1 / traits.members)
