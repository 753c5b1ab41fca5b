"""Value bias: how far a member's estimate lies above the return that followed (positive = over-estimation)."""

import numpy as np
from jaxtyping import Float


def discounted_returns(rewards: Float[np.ndarray, " T"], gamma: float) -> Float[np.ndarray, " T"]:
    """G_t = r_t + γ G_{t+1} for every step of one finished episode."""
    returns = np.zeros(len(rewards))
    following = 0.0
    for t in range(len(rewards) - 1, -1, -1):
        following = rewards[t] + gamma * following
        returns[t] = following
    return returns


def value_bias(estimates: Float[np.ndarray, " T"], clipped_rewards: Float[np.ndarray, " T"], gamma: float) -> float:
    """Mean over the episode of estimate - discounted clipped return; the learner, too, sees clipped rewards."""
    return float(np.mean(estimates - discounted_returns(clipped_rewards, gamma)))
