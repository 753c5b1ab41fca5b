"""Targets of a random subset of critics, and policies that follow their mean, arithmetic shown (equation E26)."""

from functools import partial
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chorus.agents.critics import Lowest, RandomSubset
from chorus.agents.sac_losses import bootstrap_of, critics_taken, policy_losses, prepare
from chorus.config.resolution import Request, resolve
from chorus.ensemble.targets import bootstrapped
from chorus.ensemble.value_map import Members
from chorus.errors import ChorusError
from chorus.networks.gaussian import draw
from soft_builders import soft_agent, soft_batch, soft_learner, soft_networks, soft_state


@pytest.mark.slow
def test_the_target_is_the_lowest_of_the_drawn_critics():
    # Three critics of two members. Member 0 draws critics 0 and 2, min(3, 5) = 3; member 1 critics 2 and 1, min(7, 6).
    params = {"w": jnp.float32([[3.0, 4.0], [2.0, 6.0], [5.0, 7.0]])}
    values = critics_taken(params, jnp.array([[0, 2], [2, 1]]))["w"]
    np.testing.assert_array_equal(values, [[3.0, 7.0], [5.0, 6.0]])
    value_map = Members().build(2, 0.99)
    bootstrap = bootstrap_of(
        value_map,
        value_map.policies_read(),
        value_map.heads_read(),
        jnp.float32([0.5, 0.1]),
        values.reshape(2, 2, 1, 1),
        jnp.float32([-1.0, 2.0]),
    )
    y = bootstrapped(value_map, bootstrap, np.float32([[1.0]]), np.array([1]), np.array([False]))
    # 1 + 0.99 (3 + 0.5 · 1) = 4.465 and 1 + 0.99 (6 - 0.1 · 2) = 6.742.
    np.testing.assert_allclose(y[..., 0], [[4.465], [6.742]], rtol=1e-6)


def test_policies_follow_the_mean_of_all_critics_or_the_lowest():
    values = jnp.float32([[3.0, 4.0], [2.0, 6.0], [7.0, 8.0]])
    np.testing.assert_allclose(RandomSubset().value(values), [4.0, 6.0])
    np.testing.assert_allclose(Lowest().value(values), [2.0, 4.0])


def test_subsets_are_drawn_without_replacement_each_as_often_and_for_each_member():
    keys = jax.random.split(jax.random.key(0), 1_000)
    drawn = np.asarray(jax.vmap(partial(RandomSubset(size=2).drawn, critics=4, members=3))(keys))
    assert drawn.shape == (1_000, 2, 3)
    pairs = np.sort(drawn, axis=1)
    assert np.all(pairs[:, 0] < pairs[:, 1])
    # Six pairs: 167 each, with a standard deviation of √(1000 · 1/6 · 5/6) = 11.8.
    for member in range(3):
        counts = [np.all(pairs[:, :, member] == pair, axis=1).sum() for pair in combinations(range(4), 2)]
        assert np.all(np.abs(np.array(counts) - 1_000 / 6) < 60)
    assert 0.05 < np.mean(np.all(pairs[:, :, 0] == pairs[:, :, 1], axis=1)) < 0.3


@pytest.mark.slow
def test_two_critics_of_which_a_target_takes_two_have_the_targets_of_sac():
    plain = soft_learner(members=2)
    subset = soft_learner(members=2, critic_rule=RandomSubset(size=2))
    networks, state, batch = soft_networks(plain), soft_state(soft_agent(plain)), soft_batch(size=3)
    given = (state.params, state.target_params, batch, jnp.asarray(state.noise), jnp.int32(0))

    def both(*given):
        lessons = [prepare(learner, networks, *given) for learner in (plain, subset)]
        params, critic = given[0]["policy"], given[0]["critic"]
        losses = policy_losses(subset, networks, np.zeros(2, int), params, critic, jnp.ones(2), lessons[0])
        action, log_prob = draw(networks.distribution(params, batch.observation), lessons[0].noise)
        values = networks.values(critic, batch.observation, action)[..., 0]
        return [lesson.targets for lesson in lessons], losses.actor, jnp.mean(log_prob - jnp.mean(values, 0), axis=0)

    (of_sac, of_subset), actor, expected = jax.jit(both)(*given)
    np.testing.assert_allclose(of_subset, of_sac, rtol=1e-6)
    # The policy's loss is mean_b (log π - mean_c Q_c) with a temperature of 1.
    np.testing.assert_allclose(actor, expected, rtol=1e-4, atol=1e-5)


def test_the_preset_has_one_policy_and_as_many_critics_as_the_ensemble_has_members():
    found, ensemble = (
        resolve(Request(preset=preset, env="Hopper-v4", scale="paper")).config
        for preset in ("sac-critics", "ensemble-sac")
    )
    assert (found.agent.members, found.agent.critics) == (1, ensemble.agent.members) == (1, 10)
    assert found.agent.critic_rule == RandomSubset(size=2)
    assert found.schedule == ensemble.schedule


@pytest.mark.parametrize(
    ("preset", "options", "sentence"),
    [
        (
            "sac-critics",
            {"critics": 3, "target_critics": 4},
            "--target-critics is 4 and --critics is 3; use at most",
        ),
        ("sac-critics", {"members": 2}, "--members 2 does not apply to sac-critics"),
        ("sac", {"target_critics": 1}, "--target-critics 1 does not apply to sac; it belongs to sac-critics"),
        ("bootstrapped-dqn", {"critics": 3}, "--critics 3 does not apply to bootstrapped-dqn"),
    ],
)
def test_what_makes_no_sense_is_refused(preset, options, sentence):
    with pytest.raises(ChorusError, match=sentence):
        resolve(Request(preset=preset, env="Hopper-v4", scale="smoke", options=options))
