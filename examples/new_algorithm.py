"""An algorithm of your own, outside the package: each member also learns the values of its next neighbours.

    chorus train neighbours --plugin examples/new_algorithm.py --env MinAtar/Breakout-v1 --scale smoke
    chorus sweep --plugin examples/new_algorithm.py --preset neighbours cerl --env CartPole-v1 --set reach=1,2

Plain Bootstrapped DQN has a reach of 0; CERL learns the values of all members.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from chorus.extend import AT_LEAST_1, RunConfig, ScaleRow, ValueMap, ValueMapRule, option, preset, register, with_agent


@register
@dataclass(frozen=True, kw_only=True)
class Neighbours(ValueMapRule):
    """Head k of member i predicts the value of member i + k, from that member's own target."""

    title = "neighbours"
    reach: int = option(
        1,
        flag="reach",
        unit="K",
        within=AT_LEAST_1,
        label="reach {}",
        axis="neighbours whose values are learnt",
        help="neighbours whose values every member learns beside its own",
    )

    def build(self, members: int, discount: float) -> ValueMap:
        own, head = np.indices((members, self.reach + 1))
        neighbour = (own + head) % members
        return ValueMap(
            policy=neighbour,
            source=np.stack([neighbour, np.zeros_like(head)], axis=-1),
            gamma=np.full(neighbour.shape, discount),
            main=np.zeros(members, int),
        )

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if self.reach >= config.agent.members:
            yield f"--reach is {self.reach}; {config.agent.members} members have fewer neighbours: use a smaller one"


@preset(
    "neighbours",
    title="Bootstrapped DQN + neighbours",
    summary="every member also learns the value functions of its next neighbours",
    parent="bootstrapped-dqn",
)
def neighbours(config: RunConfig, row: ScaleRow) -> RunConfig:
    return with_agent(config, value_map=Neighbours())
