"""All five games of MinAtar, and the table that describes them without starting JAX."""

import jax
import numpy as np
import pgx
import pytest

from chorus.envs.minatar import GAMES, MinAtar, describe


def test_there_are_the_five_games():
    assert {name.split("/")[1].removesuffix("-v1") for name in GAMES} == {
        "Asterix", "Breakout", "Freeway", "Seaquest", "SpaceInvaders",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("env_id", GAMES)
def test_the_table_says_what_pgx_says_and_the_game_steps(env_id):
    game = pgx.make(GAMES[env_id].pgx_name)
    spec = describe(env_id, None)
    assert spec.observation_shape == game.observation_shape
    assert spec.actions.count == game.num_actions == GAMES[env_id].actions
    assert game.sticky_action_prob == 0.1
    env = MinAtar(env_id, None)
    state, observation = jax.jit(env.reset)(jax.random.key(0))
    assert observation.shape == spec.observation_shape and observation.dtype == spec.observation_dtype
    step = jax.jit(env.step)
    seen = set()
    for time in range(30):
        action = jax.numpy.int32(time % spec.actions.count)
        state, observation, reward, terminated = step(state, action, jax.random.key(time))
        assert reward.shape == terminated.shape == ()
        seen.add(np.asarray(observation).tobytes())
    assert len(seen) >= 5
    frame = env.render(np.asarray(observation))
    assert frame.shape == (320, 320, 3) and frame.dtype == np.uint8
    assert frame.max() > 0
