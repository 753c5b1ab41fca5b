"""How members differ, and how far each is from the policies whose data it learns from.

Pure functions of arrays over K recorded states, N members and A actions.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

# The share of the spectrum that the effective rank leaves out (Kumar et al., 2021).
_NEGLIGIBLE = 0.01


def pairwise_disagreement(greedy: Int[np.ndarray, "K N"]) -> float:
    """The chance that two different members, drawn at random, have different greedy actions in the same state."""
    members = greedy.shape[1]
    votes = np.stack([np.sum(greedy == action, axis=1) for action in range(int(greedy.max()) + 1)])
    # v members that agree are v (v - 1) pairs of different ones.
    agreeing = np.mean(np.sum(votes * (votes - 1), axis=0))
    return float(1.0 - agreeing / (members * (members - 1)))


def value_spread(value: Float[np.ndarray, "K N A"]) -> float:
    """Standard deviation over members of an action's value, averaged over actions and states; NaN if a value is."""
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.mean(np.std(value, axis=1)))


def off_policy_share(greedy: Int[np.ndarray, "K N"], action: Int[np.ndarray, " K"]) -> Float[np.ndarray, " N"]:
    """For each member, the share of states whose stored action is not its greedy action."""
    return np.mean(greedy != action[:, None], axis=0)


def policy_probability(
    greedy: Int[np.ndarray, "K N"], action: Int[np.ndarray, " K"], epsilon: float, num_actions: int
) -> Float[np.ndarray, " N"]:
    """For each member, the mean probability that its ε-greedy policy gives the stored action."""
    on_policy = 1.0 - off_policy_share(greedy, action)
    return (1.0 - epsilon) * on_policy + epsilon / num_actions


def effective_rank(features: Float[np.ndarray, "K D"]) -> float:
    """How many singular values make up 99 % of their sum (Kumar et al., 2021); NaN if a feature is not finite."""
    if not np.all(np.isfinite(features)):
        return float("nan")
    values = np.linalg.svd(features, compute_uv=False)
    reached = np.cumsum(values) >= (1.0 - _NEGLIGIBLE) * np.sum(values)
    return float(np.argmax(reached) + 1) if values[0] > 0 else 0.0


def discounted_returns(rewards: Float[np.ndarray, " T"], gamma: float) -> Float[np.ndarray, " T"]:
    """G_t = r_t + γ G_{t+1} for every step of one finished episode."""
    returns = np.zeros(len(rewards))
    next_return = 0.0
    for t in range(len(rewards) - 1, -1, -1):
        next_return = rewards[t] + gamma * next_return
        returns[t] = next_return
    return returns


def value_bias(
    estimates: Float[np.ndarray, " T"],
    clipped_rewards: Float[np.ndarray, " T"],
    gamma: float,
    terminals: Sequence[int] = (),
) -> float:
    """Mean over the episode of estimate - discounted clipped return, because the learner sees clipped rewards.

    `terminals` are the steps within the episode that the learner sees as terminal: returns stop there.
    """
    lives = np.split(clipped_rewards, list(terminals))
    returns = np.concatenate([discounted_returns(life, gamma) for life in lives])
    return float(np.mean(estimates - returns))
