"""Real Atari: pixel for pixel what Gymnasium's wrappers give, lives, endings, and the table of games."""

import ale_py
import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

from chorus.envs.atari import AtariSettings
from chorus.envs.atari_games import find_game, games, minimal_actions, named_sets, reference_scores
from chorus.envs.registry import describe, make_host
from chorus.errors import ChorusError

gymnasium.register_envs(ale_py)


def wrapped(env_id):
    """The same preprocessing from Gymnasium's own parts."""
    env = gymnasium.make(env_id, frameskip=1, repeat_action_probability=0.0, full_action_space=False)
    env = AtariPreprocessing(env, noop_max=0, frame_skip=4, screen_size=84, grayscale_obs=True)
    return FrameStackObservation(env, 4, padding_type="zero")


def played(envs, actions):
    """The start, and every step, of random play."""
    return envs.reset(np.arange(actions.shape[1])), [envs.step(row) for row in actions]


# In the last case games end by themselves, too, so that the slots are truncated at different times.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "limit", "length"),
    [("SpaceInvaders", 70, 150), ("Seaquest", 70, 150), ("Qbert", 70, 150), ("Breakout", 190, 410)],
)
def test_every_pixel_is_that_of_gymnasiums_wrappers_across_episode_ends(game, limit, length):
    env_id, slots = f"ALE/{game}-v5", 2
    spec = describe(env_id, limit)
    actions = np.random.default_rng(0).integers(spec.actions.count, size=(length, slots))
    envs = make_host(env_id, slots, limit)
    first, steps = played(envs, actions)
    envs.close()
    assert sum(moved.truncated.sum() for moved in steps) > 1
    if game == "Breakout":
        assert any(moved.terminated.any() for moved in steps)
        assert any(moved.truncated.sum() == 1 for moved in steps), "one slot starts anew while the other goes on"
    for slot in range(slots):
        other = wrapped(env_id)
        np.testing.assert_array_equal(first[slot], other.reset(seed=slot)[0])
        elapsed = 0
        for action, moved in zip(actions[:, slot], steps, strict=True):
            observation, reward, terminated, truncated, _ = other.step(action)
            elapsed += 1
            np.testing.assert_array_equal(moved.observation[slot], observation)
            assert moved.reward[slot] == reward
            assert moved.terminated[slot] == terminated
            assert moved.truncated[slot] == (truncated or (elapsed == limit and not terminated))
            if moved.terminated[slot] or moved.truncated[slot]:
                observation, elapsed = other.reset()[0], 0
                assert not observation[:3].any(), "zeros before the first frame"
            np.testing.assert_array_equal(moved.reset_observation[slot], observation)
        other.close()


@pytest.mark.slow
def test_a_real_game_over_terminates_and_every_life_before_it_is_noticed():
    envs = make_host("ALE/Breakout-v5", 2)
    actions = np.random.default_rng(1).integers(4, size=(400, 2))
    _, steps = played(envs, actions)
    envs.close()
    for slot in range(2):
        ended = [moved.terminated[slot] for moved in steps]
        lost = [moved.life_lost[slot] for moved in steps]
        assert any(ended) and not any(moved.truncated[slot] for moved in steps)
        assert sum(lost[: ended.index(True)]) == 4, "five lives, and the last of them ends the game"


def test_a_limit_truncates_whatever_the_number_of_noops():
    envs = make_host("ALE/Pong-v5", 1, 20, settings=AtariSettings(noop_max=30))
    _, steps = played(envs, np.zeros((60, 1), int))
    envs.close()
    assert [bool(moved.truncated[0]) for moved in steps] == [(t + 1) % 20 == 0 for t in range(60)]
    assert not any(moved.terminated[0] for moved in steps)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "differ"),
    [(AtariSettings(), False), (AtariSettings(sticky_actions=0.25), True), (AtariSettings(noop_max=30), True)],
)
def test_seeds_matter_with_sticky_actions_or_noops_only(settings, differ):
    envs = make_host("ALE/SpaceInvaders-v5", 2, settings=settings)
    envs.reset(np.array([1, 2**32 - 1]))
    moved = [envs.step(np.full(2, action)) for action in [1, 2, 3, 4] * 15][-1]
    envs.close()
    assert np.any(moved.observation[0] != moved.observation[1]) == differ


def test_both_spellings_of_a_game_are_one_environment():
    assert describe("BreakoutNoFrameskip-v4") == describe("ALE/Breakout-v5")
    spec = describe("ALE/Breakout-v5")
    assert (spec.family, spec.observation_shape, spec.frame_stack) == ("atari", (4, 84, 84), 4)
    assert (spec.action_repeat, spec.max_episode_steps) == (4, 27_000)


@pytest.mark.parametrize("env_id", ["ALE/Brekout-v5", "BrekoutNoFrameskip-v4", "ALE/Breakout-v4", "ALE/Adventure-v5"])
def test_what_is_none_of_the_57_games_is_named(env_id):
    with pytest.raises(ChorusError, match=f"'{env_id}' is none of the 57 Atari games"):
        describe(env_id)


def test_the_games_are_57_the_papers_are_55_and_gymnasium_knows_them_all():
    sets = named_sets()
    assert [len(sets[name]) for name in ("atari57", "atari55", "atari4")] == [57, 55, 4]
    assert set(sets["atari57"]) - set(sets["atari55"]) == {"ALE/Defender-v5", "ALE/Surround-v5"}
    assert set(sets["atari4"]) < set(sets["atari55"])
    assert set(sets["atari57"]) <= set(gymnasium.registry)
    assert reference_scores()["breakout"] == (1.7, 30.5)


@pytest.mark.long
def test_every_game_can_be_made_and_has_the_emulators_number_of_actions():
    """Some of them are trained in smoke/test_atari_games.py."""
    for name, game in games().items():
        env = gymnasium.make(name)
        assert env.action_space.n == minimal_actions(game), game
        env.close()
        envs = make_host(name, 1)
        envs.reset(np.zeros(1, int))
        moved = envs.step(np.array([minimal_actions(game) - 1]))
        assert moved.observation.shape == (1, 4, 84, 84), game
        envs.close()


@pytest.mark.parametrize(
    ("env", "game"),
    [
        ("ALE/SpaceInvaders-v5", "space_invaders"),
        ("UpNDownNoFrameskip-v4", "up_n_down"),
        ("ALE/MsPacman-v5", "ms_pacman"),
        ("ALE/Jamesbond-v5", "jamesbond"),
        ("ALE/NameThisGame-v5", "name_this_game"),
        ("ALE/NoSuchGame-v5", None),
        ("MinAtar/Breakout-v1", None),
        ("CartPole-v1", None),
    ],
)
def test_environment_ids_find_their_game_and_minatars_do_not(env, game):
    assert find_game(env) == game
