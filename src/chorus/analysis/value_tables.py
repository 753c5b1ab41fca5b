"""The four tables of a value map (DESIGN 1), read back from a run's configuration for the diagrams.

Anything with the attributes `policy`, `source`, `gamma` and `main` will do for drawing,
`chorus.ensemble`'s value map included; this module only serves reports, which have nothing but files.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from chorus.analysis.variants import read_traits


class HeadTables(Protocol):
    """policy[i,k], source[i,k] = (member, head), gamma[i,k] and main[i]."""

    @property
    def policy(self) -> np.ndarray: ...
    @property
    def source(self) -> np.ndarray: ...
    @property
    def gamma(self) -> np.ndarray: ...
    @property
    def main(self) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class ConfiguredTables:
    """The tables as a configuration implies them."""

    policy: np.ndarray
    source: np.ndarray
    gamma: np.ndarray
    main: np.ndarray


def tables_from_config(config: dict[str, Any]) -> ConfiguredTables | None:
    """The tables of a configuration, or None for a kind of value map this module does not know."""
    traits = read_traits(config)
    agent = config.get("agent") if isinstance(config.get("agent"), dict) else {}
    value_map = agent.get("value_map") if isinstance(agent, dict) else None
    discount = agent.get("discount", 0.99) if isinstance(agent, dict) else 0.99
    members = traits.members
    horizons = value_map.get("horizons") if isinstance(value_map, dict) else None
    widths = {"members": 1, "cross": members, "cross_own": members}
    if traits.value_map == "horizons" and isinstance(horizons, list) and horizons:
        widths["horizons"] = len(horizons)
    if traits.value_map not in widths:
        return None
    own, head = np.indices((members, widths[traits.value_map]))
    gamma = np.full(own.shape, float(discount))
    if traits.value_map == "horizons":
        gamma[:] = 1 - 1 / np.asarray(horizons, float)
        main = np.full(members, int(np.argmax(gamma[0])))
        return ConfiguredTables(own, np.stack([own, head], axis=-1), gamma, main)
    if traits.value_map == "members":
        return ConfiguredTables(own, np.stack([own, head], axis=-1), gamma, np.zeros(members, int))
    source_member = head if traits.value_map == "cross" else own
    return ConfiguredTables(head, np.stack([source_member, head], axis=-1), gamma, np.arange(members))


def data_shares(config: dict[str, Any]) -> np.ndarray:
    """Which share of the episodes each member generates: equal, or (1 - p, p) for a tandem."""
    traits = read_traits(config)
    if traits.acting == "tandem" and traits.passive_share is not None:
        return np.array([1 - traits.passive_share, traits.passive_share])
    return np.full(traits.members, 1 / traits.members)
