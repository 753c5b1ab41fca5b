"""Golden numbers of single functions, arithmetic shown (docs/equations.md)."""

import jax.numpy as jnp
import numpy as np
import pytest

from chorus.agents.optimizers import CentredRMSProp
from chorus.config.scales import row_for
from chorus.ensemble.losses import Huber, Squared, TwiceHuber
from chorus.ensemble.targets import discounted_sum
from chorus.ensemble.value_map import Horizons
from chorus.ensemble.votes import vote_entropy
from chorus.training.acting import LinearEpsilon, Tandem, Uniform


@pytest.mark.parametrize(
    ("x", "huber"),
    [
        (0.5, 0.125),  # 0.5² / 2
        (1.0, 0.5),  # 1² / 2: both arms meet
        (3.0, 2.5),  # 1 · (3 - 1/2)
        (-3.0, 2.5),
    ],
)
def test_huber_with_threshold_one(x, huber):
    assert float(Huber()(jnp.zeros(1), jnp.float32([x]))) == pytest.approx(huber)


@pytest.mark.parametrize(
    ("x", "twice_huber"),
    [
        (5.0, 25.0),  # 2 · 5²/2: x² below the threshold
        (10.0, 100.0),  # 2 · 10²/2: both arms meet
        (-10.0, 100.0),
        (20.0, 300.0),  # 2 · 10 · (20 - 5)
        (100.0, 1900.0),  # 2 · 10 · (100 - 5)
    ],
)
def test_twice_huber_with_threshold_ten(x, twice_huber):
    assert float(TwiceHuber(threshold=10.0)(jnp.zeros(1), jnp.float32([x]))) == pytest.approx(twice_huber)


def test_the_squared_loss_is_not_halved():
    assert float(Squared()(jnp.zeros(1), jnp.float32([3.0]))) == pytest.approx(9.0)


@pytest.mark.parametrize(
    ("step", "epsilon"),
    [
        (0, 1.0),
        (50_000, 1.0),  # the warm-up ends here
        (300_000, 0.7525),  # 0.01 + 0.99 · 750 000 / 1 000 000
        (550_000, 0.505),  # 0.01 + 0.99 · 500 000 / 1 000 000
        (1_050_000, 0.01),
        (50_000_000, 0.01),
    ],
)
def test_epsilon_of_the_authors_code(step, epsilon):
    schedule = row_for("atari", "paper", "code").epsilon
    assert schedule == LinearEpsilon(final=0.01, decay_steps=1_000_000, warmup_steps=50_000)
    assert float(schedule(step)) == pytest.approx(epsilon)
    assert schedule(np.array([step, step])) == pytest.approx([epsilon, epsilon])


def test_epsilon_of_the_papers_table_decays_over_sixteen_million_steps():
    # 0.01 + 0.99 · 8 000 000 / 16 000 000 = 0.505
    assert float(row_for("atari", "paper", "table").epsilon(8_050_000)) == pytest.approx(0.505)


@pytest.mark.parametrize(
    ("hyperparameters", "gradient", "first_step"),
    [
        # m = 0.05 g, v = 0.05 g²; step = lr g / √(0.05 g² - 0.0025 g² + ε) = 2.5e-4 g / √(0.0475 g² + ε).
        ("code", 1.0, 1.147e-3),  # 2.5e-4 / √(0.0475 + 9.77e-6)
        ("code", 1e-2, 6.56e-4),  # 2.5e-6 / √(4.75e-6 + 9.77e-6)
        ("code", 1e-3, 7.98e-5),  # 2.5e-7 / √(4.75e-8 + 9.77e-6)
        ("table", 1.0, 1.135e-3),  # 2.5e-4 / √(0.0475 + 9.77e-4)
        ("table", 1e-2, 7.98e-5),  # 2.5e-6 / √(4.75e-6 + 9.77e-4)
        ("table", 1e-3, 8.0e-6),  # 2.5e-7 / √(4.75e-8 + 9.77e-4)
    ],
)
def test_the_first_step_of_centred_rmsprop(hyperparameters, gradient, first_step):
    settings = row_for("atari", "paper", hyperparameters).optimizer
    assert isinstance(settings, CentredRMSProp)
    optimizer = settings.build()
    change, _ = optimizer.update(jnp.float32([gradient]), optimizer.init(jnp.zeros(1)), jnp.zeros(1))
    assert float(change[0]) == pytest.approx(-first_step, rel=2e-3)


def test_the_discounts_of_ten_horizons():
    value_map = Horizons().build(2, 0.99)
    # 1 - 1/100, 1 - 1/90, ..., 1 - 1/10
    expected = [0.99, 0.98889, 0.9875, 0.98571, 0.98333, 0.98, 0.975, 0.96667, 0.95, 0.90]
    np.testing.assert_allclose(value_map.gamma, [expected, expected], atol=5e-6)
    np.testing.assert_array_equal(value_map.main, [0, 0])
    np.testing.assert_array_equal(value_map.policy, [[0] * 10, [1] * 10])


@pytest.mark.parametrize(
    ("votes", "entropy"),
    [
        ([6, 3, 1], 0.8979),  # -(0.6 ln 0.6 + 0.3 ln 0.3 + 0.1 ln 0.1)
        ([5, 5], 0.6931),  # ln 2
        ([1] * 10, 2.3026),  # ln 10
        ([10], 0.0),
    ],
)
def test_vote_entropies(votes, entropy):
    actions = jnp.asarray(np.repeat(np.arange(len(votes)), votes))
    assert float(vote_entropy(actions, 18)) == pytest.approx(entropy, abs=5e-5)


def test_n_step_returns_discount_by_each_heads_own_gamma_and_stop_at_the_realised_length():
    rewards = np.float32([[1.0, 2.0, 4.0]])
    gamma = np.float32([[0.5, 0.9]])
    # Three rewards: 1 + 0.5·2 + 0.25·4 = 3 and 1 + 0.9·2 + 0.81·4 = 6.04; two: 2 and 2.8.
    np.testing.assert_allclose(discounted_sum(rewards, np.array([3]), gamma), [[3.0, 6.04]], rtol=1e-6)
    np.testing.assert_allclose(discounted_sum(rewards, np.array([2]), gamma), [[2.0, 2.8]], rtol=1e-6)


def test_a_ten_percent_tandem_lets_member_zero_play_nine_episodes_of_ten():
    np.testing.assert_allclose(Tandem(passive_share=0.1).shares(2), [0.9, 0.1])
    np.testing.assert_allclose(Uniform().shares(4), [0.25] * 4)


def test_a_bytes_of_an_image_becomes_a_number_between_zero_and_one():
    from chorus.networks.forked import as_float

    np.testing.assert_allclose(as_float(np.uint8([0, 51, 255])), [0.0, 0.2, 1.0], rtol=1e-6)
    np.testing.assert_array_equal(as_float(np.array([False, True])), np.float32([0.0, 1.0]))
