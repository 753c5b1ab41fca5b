"""DeepSea against its published rules: a second implementation step by step, and numbers that follow from the rules."""

from functools import cache
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chorus.envs.deep_sea import DeepSea, parse, right_actions
from chorus.envs.registry import describe, is_jax, make_jax
from chorus.errors import ChorusError


@cache
def program(env_id):
    env = make_jax(env_id, None)

    def episode(actions):
        def step(state, action):
            state, *shown = env.step(state, action, jax.random.key(0))
            return state, shown

        state, first = env.reset(jax.random.key(0))
        return first, *jax.lax.scan(step, state, actions)[1]

    return jax.jit(episode)


def play(env_id, actions):
    """The first observation; observations after each step, rewards and endings of one episode."""
    return map(np.asarray, program(env_id)(jnp.asarray(actions, jnp.int32)))


def played_by_the_rules(size, right, actions):
    """The deterministic rules in plain Python."""
    column, shown, rewards = 0, [], []
    for row, action in enumerate(actions):
        reward = 0.0
        if action == right[row, column]:
            reward = (1.0 if row == column == size - 1 else 0.0) - 0.01 / size
            column = min(column + 1, size - 1)
        else:
            column = max(column - 1, 0)
        cells = np.zeros((size, size), bool)
        if row + 1 < size:
            cells[row + 1, column] = True
        shown.append(cells)
        rewards.append(reward)
    return np.stack(shown), np.array(rewards)


def always_right(env_id):
    """The actions along the diagonal."""
    return np.diagonal(right_actions(parse(env_id)))


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.sampled_from([5, 8]), st.data())
def test_every_trajectory_is_that_of_the_rules(size, data):
    env_id = data.draw(st.sampled_from([f"DeepSea-{size}-v0", f"DeepSea-{size}-map7-v0"]))
    right = right_actions(parse(env_id))
    # Half of the episodes follow the diagonal at first: random ones hardly ever come near the treasure.
    ahead = data.draw(st.integers(0, size))
    rest = data.draw(st.lists(st.integers(0, 1), min_size=size - ahead, max_size=size - ahead))
    actions = np.array([*np.diagonal(right)[:ahead], *rest], np.int32)
    first, observation, reward, terminated = play(env_id, actions)
    expected_observation, expected_reward = played_by_the_rules(size, right, actions)
    assert first[0, 0] and first.sum() == 1
    np.testing.assert_array_equal(observation, expected_observation)
    np.testing.assert_allclose(reward, expected_reward, atol=1e-7)
    assert terminated.tolist() == [False] * (size - 1) + [True]


def test_the_mapping_is_bsuites_draw_of_seed_42():
    """The first row of RandomState(42).binomial(1, 0.5, [5, 5])."""
    assert right_actions(parse("DeepSea-5-v0"))[0].tolist() == [0, 1, 1, 1, 0]
    assert (right_actions(parse("DeepSea-20-v0")) != right_actions(parse("DeepSea-20-map1-v0"))).mean() > 0.4


@pytest.mark.parametrize("size", [5, 20, 100])
def test_going_right_always_returns_the_optimum(size):
    """N steps to the right at 0.01 / N each, and the treasure: 1 - N * 0.01 / N = 0.99."""
    env_id = f"DeepSea-{size}-v0"
    _, _, reward, _ = play(env_id, always_right(env_id))
    assert reward.sum() == pytest.approx(0.99, abs=1e-5)
    assert parse(env_id).optimal_return == pytest.approx(0.99)


def test_random_actions_find_the_treasure_once_in_2_to_the_size():
    """All 2^5 = 32 action sequences of size 5, each equally likely for a random policy.

    One of them goes right five times and finds the treasure: 2^-5 = 0.03125. A step goes right in half of them, in each
    of its 5 rows, so that the mean return is 2^-5 - 5 * 1/2 * 0.01 / 5 = 0.03125 - 0.005 = 0.02625, and the mean regret
    0.99 - 0.02625 = 0.96375.
    """
    sequences = jnp.asarray(list(product([0, 1], repeat=5)), jnp.int32)
    _, _, rewards, _ = jax.vmap(program("DeepSea-5-v0"))(sequences)
    returns = np.asarray(rewards).sum(axis=1)
    assert np.count_nonzero(returns > 0) == 1
    assert returns.mean() == pytest.approx(0.02625, abs=1e-6)
    assert (parse("DeepSea-5-v0").optimal_return - returns).mean() == pytest.approx(0.96375, abs=1e-6)


def test_the_best_return_of_the_stochastic_sea():
    """Size 5, p = 4/5: paid with chance p^4 = 0.4096; steps to the right 5 (1 - p^5) = 3.3616 at 0.002 each.

    0.4096 - 3.3616 * 0.002 = 0.4096 - 0.0067232 = 0.4028768; backwards through the rules gives the same.
    """
    assert parse("DeepSeaStochastic-5-v0").optimal_return == pytest.approx(0.4028768)
    for size in (5, 20):
        value = np.zeros(size)
        for row in reversed(range(size)):
            columns = np.arange(size)
            paid = (columns == size - 1) * (row == size - 1) - 0.01 / size
            ahead = value[np.minimum(columns + 1, size - 1)]
            right = paid + (1 - 1 / size) * ahead + value / size
            value = np.maximum(right, value[np.maximum(columns - 1, 0)])
        assert parse(f"DeepSeaStochastic-{size}-v0").optimal_return == pytest.approx(value[0])


@pytest.mark.slow
def test_a_stochastic_step_to_the_right_fails_once_in_n_and_both_corners_are_noisy():
    """4,000 episodes to the right in size 5: in the mean of a chance of 0.2 an error of 0.03 is five deviations."""
    env_id = "DeepSeaStochastic-5-v0"
    env, right = DeepSea(env_id, None), jnp.asarray(right_actions(parse(env_id)))

    def episode(key, goes_right):
        def step(state, key):
            shown = right[state.row, state.column]
            moved, _, reward, _ = env.step(state, jnp.where(goes_right, shown, 1 - shown), key)
            return moved, (state.column, reward)

        return jax.lax.scan(step, env.reset(key)[0], jax.random.split(key, 5))[1]

    keys = jax.random.split(jax.random.key(1), 4_000)
    columns, rewards = map(np.asarray, jax.vmap(lambda key: episode(key, True))(keys))
    assert np.mean(columns[:, 1] == 0) == pytest.approx(0.2, abs=0.03)
    assert np.mean(columns[:, 4] == 4) == pytest.approx(0.8**4, abs=0.04)
    np.testing.assert_allclose(rewards[:, :4], -0.002, atol=1e-7)
    treasure = rewards[columns[:, 4] == 4, 4]
    assert treasure.mean() == pytest.approx(1 - 0.002, abs=0.15) and treasure.std() == pytest.approx(1, abs=0.1)
    elsewhere = rewards[(columns[:, 4] > 0) & (columns[:, 4] < 4), 4]
    np.testing.assert_allclose(elsewhere, -0.002, atol=1e-7)
    columns, rewards = map(np.asarray, jax.vmap(lambda key: episode(key, False))(keys))
    assert (columns == 0).all(), "steps to the left never fail"
    assert (rewards[:, :4] == 0).all()
    assert rewards[:, 4].mean() == pytest.approx(0, abs=0.1) and rewards[:, 4].std() == pytest.approx(1, abs=0.1)


def test_every_size_has_an_id_and_observations_are_stored_as_bits():
    for size in range(5, 101):
        for env_id in (f"DeepSea-{size}-v0", f"DeepSeaStochastic-{size}-v0"):
            spec = describe(env_id)
            assert is_jax(env_id) and (spec.id, spec.family) == (env_id, "deep_sea")
            assert (spec.observation_shape, spec.observation_dtype) == ((size, size), np.bool_)
            assert spec.max_episode_steps == size


@pytest.mark.parametrize("env_id", ["DeepSea-4-v0", "DeepSea-101-v0", "DeepSeaStochastic-1000-v0", "DeepSea-0-v0"])
def test_other_sizes_are_refused_with_the_range(env_id):
    with pytest.raises(ChorusError, match=rf"'{env_id}'.*sizes from 5 to 100"):
        describe(env_id)


@pytest.mark.parametrize(
    "env_id",
    [
        "DeepSea-20-v1",
        "DeepSea-twenty-v0",
        "DeepSea-20-map-v0",
        "DeepSea--5-v0",
        "DeepSea-05-v0",
        "DeepSea-5-map07-v0",
        "DeepSea20-v0",
    ],
)
def test_an_id_of_another_form_is_refused_with_an_example(env_id):
    with pytest.raises(ChorusError, match=rf"'{env_id}' does not exist; write DeepSea-20-v0"):
        describe(env_id)


def test_episodes_that_end_above_the_treasure_have_no_known_best_return():
    assert (describe("DeepSea-5-v0", 4).optimal_return, describe("DeepSea-5-v0", 4).solved_return) == (None, None)
    assert describe("DeepSea-5-v0", 5).optimal_return == pytest.approx(0.99)
