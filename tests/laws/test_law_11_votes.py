"""Law 11: a vote of one is that member; ties break uniformly."""

import jax
import jax.numpy as jnp
import numpy as np

from chorus.ensemble.votes import majority

DRAWS = 3_000
elect = jax.jit(jax.vmap(majority, in_axes=(None, None, 0)), static_argnums=1)


def elected(actions, num_actions):
    """How often each action wins."""
    keys = jax.random.split(jax.random.key(0), DRAWS)
    return np.bincount(elect(jnp.asarray(actions), num_actions, keys), minlength=num_actions)


def test_a_vote_of_one_is_that_member():
    for action in range(4):
        assert elected([action], 4)[action] == DRAWS


def test_one_vote_more_always_wins():
    assert elected([0, 2, 2, 1, 3], 4)[2] == DRAWS


def test_ties_break_uniformly_among_the_top_actions_only():
    wins = elected([0, 0, 3, 3, 1, 1, 2], 5)
    assert wins[2] == wins[4] == 0
    # Three equal chances in 3000 draws: a standard deviation of 26.
    np.testing.assert_allclose(wins[[0, 1, 3]], DRAWS / 3, atol=100)
