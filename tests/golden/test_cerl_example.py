"""The micro-example of equations E3 and E4 through the real network, targets and losses (N = 2, A = 2, B = 1).

r = 1, not terminal, γ = 0.99. Online main heads in the next state: Q_0^0 = [0.2, 0.5], Q_1^1 = [0.9, 0.1], so
a*_0 = 1 and a*_1 = 0. A network without hidden layers is a table of values: with the one-hot observations
s = (1, 0) and s' = (0, 1), row 0 of a head's kernel is Q(s, ·) and row 1 is Q(s', ·).
"""

import jax
import numpy as np
import pytest

from builders import losses_of, tiny_learner
from chorus.ensemble.value_map import Cross, CrossOwn, Members
from chorus.networks.forked import Forked
from chorus.replay.batch import Batch

NOW, NEXT = [[[1.0, 0.0]]], [[[0.0, 1.0]]]
ACTION = 0

# [member i][head k]; where the example names no value (another action, an unread head), it is 0.
CHOSEN = [[2.5, 3.0], [2.98, 1.0]]  # online Q_i^k(s, a)
ONLINE_NEXT = [[[0.2, 0.5], [0.0, 0.0]], [[0.0, 0.0], [0.9, 0.1]]]  # online Q_i^k(s', ·)
TARGET_NEXT = [[[1.0, 2.0], [0.5, 0.6]], [[0.7, 0.8], [3.0, 4.0]]]  # target Q̄_i^k(s', ·)

BATCH = Batch(
    observation=np.float32(NOW),
    action=np.array([[ACTION]]),
    rewards=np.float32([[[1.0]]]),
    length=np.array([[1]]),
    terminated=np.array([[False]]),
    next_observation=np.float32(NEXT),
    weight=np.ones((1, 1), np.float32),
)


def tables(chosen, next_values):
    """Parameters [N, H, A, D] of a network that is only its last layer."""
    kernel = np.zeros((2, 2, 2, 2), np.float32)
    kernel[:, :, ACTION, 0] = chosen
    kernel[..., 1] = next_values
    return {"kernel": kernel, "bias": np.zeros((2, 2, 1), np.float32)}


def losses(kind, heads_of_members):
    learner = tiny_learner(kind, members=2)
    network = Forked(torso=(), members=2, shared=0, heads=learner.tables.heads, actions=2)
    trees = []
    for table in (tables(CHOSEN, ONLINE_NEXT), tables(np.zeros((2, 2)), TARGET_NEXT)):
        own = {
            "kernel": np.stack([table["kernel"][i][heads] for i, heads in enumerate(heads_of_members)]),
            "bias": np.stack([table["bias"][i][heads] for i, heads in enumerate(heads_of_members)]),
        }
        trees.append({"trunk": {}, "members": {}, "heads": {"layer_0": own}})
    return np.asarray(jax.jit(losses_of(learner, network))(*trees, BATCH))


def test_cerl():
    # y_0 = 1 + 0.99·2 = 2.98 and y_1 = 1 + 0.99·3 = 3.97, for both learners.
    # Member 0: huber(2.98 - 2.5) = 0.48²/2 = 0.1152; huber(3.97 - 3.0) = 0.97²/2 = 0.47045.
    # Member 1: huber(2.98 - 2.98) = 0; huber(3.97 - 1.0) = 2.97 - 0.5 = 2.47.
    per_member = losses(Cross(), [[0, 1], [0, 1]])
    np.testing.assert_allclose(per_member, [0.1152 + 0.47045, 0.0 + 2.47], atol=1e-5)
    assert per_member.sum() == pytest.approx(3.05565, abs=1e-5)


def test_cerl_with_self_targets():
    # y_01 = 1 + 0.99·Q̄_0^1[a*_1 = 0] = 1 + 0.99·0.5 = 1.495: huber(1.495 - 3.0) = 1.505 - 0.5 = 1.005.
    # y_10 = 1 + 0.99·Q̄_1^0[a*_0 = 1] = 1 + 0.99·0.8 = 1.792: huber(1.792 - 2.98) = 1.188 - 0.5 = 0.688.
    per_member = losses(CrossOwn(), [[0, 1], [0, 1]])
    np.testing.assert_allclose(per_member, [0.1152 + 1.005, 0.688 + 2.47], atol=1e-5)
    assert per_member.sum() == pytest.approx(4.2782, abs=1e-5)


def test_plain_bootstrapped_dqn_is_the_diagonal():
    # Member 0 has head (0, 0) only, member 1 head (1, 1) only: 0.1152 and 2.47.
    per_member = losses(Members(), [[0], [1]])
    np.testing.assert_allclose(per_member, [0.1152, 2.47], atol=1e-5)
    assert per_member.sum() == pytest.approx(2.5852, abs=1e-5)
