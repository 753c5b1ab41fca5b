"""What an agent learns from: B transitions, seen by all members (M = 1) or by each its own (M = N)."""

from typing import NamedTuple

from jaxtyping import Bool, Float, Int, Shaped

from chorus.arrays import AnyArray


class Batch(NamedTuple):
    """Rewards are as the environment gave them; agents clip. `length` is how many of the n rewards
    count; `weight` is one column for all members, or a column a member (a bootstrap mask)."""

    observation: Shaped[AnyArray, "B M ..."]
    action: Int[AnyArray, "B M"]
    rewards: Float[AnyArray, "B M n"]
    length: Int[AnyArray, "B M"]
    terminated: Bool[AnyArray, "B M"]
    next_observation: Shaped[AnyArray, "B M ..."]
    weight: Float[AnyArray, "B W"]
