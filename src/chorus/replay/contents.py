"""What the replay holds: whose transitions, whose episodes, and how many different ones.

The functions over arrays take one lane's rows, oldest first; whoever owns a row without a transition does not matter.
"""

import numpy as np
from jaxtyping import Bool, Float, Int, Integer, Shaped

from chorus.replay.ring import TRANSITION, Ring


def transitions_by_owner(
    owner: Integer[np.ndarray, " R"], transition: Bool[np.ndarray, " R"], members: int
) -> Int[np.ndarray, " N"]:
    return np.bincount(owner[transition], minlength=members)


def episodes_by_owner(
    owner: Integer[np.ndarray, " R"], transition: Bool[np.ndarray, " R"], members: int
) -> tuple[Int[np.ndarray, " N"], int]:
    """Episodes that one member played alone, and all episodes; those that the window cuts count like whole ones."""
    # Between two episodes there is at least one row without a transition.
    begins = transition & ~np.concatenate([[False], transition[:-1]])
    own, starts = owner[transition], np.flatnonzero(begins[transition])
    if not len(starts):
        return np.zeros(members, int), 0
    least, most = np.minimum.reduceat(own, starts), np.maximum.reduceat(own, starts)
    return np.bincount(least[least == most], minlength=members), len(starts)


def own_shares(ring: Ring, members: int) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, " N"]]:
    """The share of the window's transitions, and of its episodes, that each member generated."""
    transitions, episodes, all_episodes = np.zeros(members, int), np.zeros(members, int), 0
    for lane in range(ring.layout.lanes):
        owner, transition = ring.window("owner", lane), (ring.window("flags", lane) & TRANSITION) > 0
        transitions += transitions_by_owner(owner, transition, members)
        played, count = episodes_by_owner(owner, transition, members)
        episodes, all_episodes = episodes + played, all_episodes + count
    return transitions / transitions.sum(), episodes / all_episodes


def own_share_of_episodes(
    episode: Int[np.ndarray, "*u B M"], own: Bool[np.ndarray, "*u B N"]
) -> Float[np.ndarray, "*u N"]:
    """Of the different episodes in each member's batch, the share that it played alone.

    `own` says it of each transition's episode. M is N, or 1 where all members have one batch.
    """
    order = np.argsort(episode, axis=-2)
    episode, own = np.take_along_axis(episode, order, axis=-2), np.take_along_axis(own, order, axis=-2)
    first = np.ones(episode.shape, bool)
    first[..., 1:, :] = episode[..., 1:, :] != episode[..., :-1, :]
    return np.count_nonzero(own & first, axis=-2) / np.count_nonzero(first, axis=-2)


def coverage(observation: Shaped[np.ndarray, "K ..."], action: Shaped[np.ndarray, "K ..."]) -> float:
    """Different pairs of state and action among K transitions, as a share of K; 1 means that none occurs twice."""
    pairs = {(seen.tobytes(), taken.tobytes()) for seen, taken in zip(observation, action, strict=True)}
    return len(pairs) / len(observation)
