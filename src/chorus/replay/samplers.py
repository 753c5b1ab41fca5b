"""Who learns from which data. A sampler draws valid windows only and never falls back silently."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from chorus.agents.batch import Batch
from chorus.errors import ChorusError
from chorus.replay.ring import Ring
from chorus.variant import Variant

_MOST_ROUNDS = 1_000


@dataclass(frozen=True, kw_only=True)
class Shared(Variant):
    """One batch for all members, uniform over every transition in the window."""

    def sample(self, ring: Ring, rng: np.random.Generator, batch_size: int, steps: int) -> Batch:
        lane, position, length = draw_uniform(ring, rng, batch_size, steps)
        windows = ring.read(lane, position, length, steps)
        columns = {name: column[:, None] for name, column in windows._asdict().items()}
        return Batch(**columns, weight=np.ones((batch_size, 1), np.float32))


def draw_uniform(
    ring: Ring, rng: np.random.Generator, count: int, steps: int
) -> tuple[Int[np.ndarray, " B"], Int[np.ndarray, " B"], Int[np.ndarray, " B"]]:
    """Lane, position and realised length of `count` windows, with replacement.

    Rows are drawn uniformly and those that start no complete window (final observations, the newest steps of open
    episodes) are drawn again, which leaves the rest uniform.
    """
    lane, position = np.zeros(count, np.int64), np.zeros(count, np.int64)
    length = np.zeros(count, np.int64)
    missing = np.arange(count)
    if ring.rows_in_windows == 0:
        raise ChorusError("the replay is empty: nothing can be sampled before the first transition")
    for _ in range(_MOST_ROUNDS):
        drawn_lane, drawn_position = ring.locate(rng.integers(ring.rows_in_windows, size=len(missing)))
        valid, drawn_length = ring.ends_within(drawn_lane, drawn_position, steps)
        kept = missing[valid]
        lane[kept], position[kept], length[kept] = (
            drawn_lane[valid],
            drawn_position[valid],
            drawn_length[valid],
        )
        missing = missing[~valid]
        if not len(missing):
            return lane, position, length
    raise ChorusError(
        f"after {_MOST_ROUNDS} rounds no complete {steps}-step window was found among {len(ring)} transitions; "
        "raise --learning-starts or lower the number of steps"
    )


Sampler = Shared
