"""`chorus.load(run).predict`, and the protocol of Stable-Baselines3's `evaluate_policy`."""

import gymnasium
import numpy as np
import pytest

import chorus


def observations(count: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, 4)).astype(np.float32) * 0.05


@pytest.mark.slow
def test_one_observation_gives_one_action_and_a_batch_one_each(probe_run):
    player = chorus.load(probe_run)
    action, state = player.predict(np.array([1.0], np.float32))
    assert np.shape(action) == () and action in (0, 1)
    assert gymnasium.spaces.Discrete(2).contains(action)
    assert state[0].shape == (1,)
    actions, state = player.predict(np.ones((5, 1), np.float32))
    assert actions.shape == (5,) and set(actions.tolist()) <= {0, 1}
    assert state[0].shape == (5,)


@pytest.mark.slow
def test_observations_of_another_shape_are_refused_with_both_shapes(probe_run):
    with pytest.raises(chorus.ChorusError, match=r"\(3, 2\); Probe/Discount-v0 has \(1,\)"):
        chorus.load(probe_run).predict(np.zeros((3, 2)))


def test_a_run_that_is_not_there_and_a_policy_that_is_not_known_are_refused(probe_run, tmp_path):
    with pytest.raises(chorus.ChorusError, match="is not a run directory"):
        chorus.load(tmp_path)
    with pytest.raises(chorus.ChorusError, match="'passive' is not known for this run"):
        chorus.load(probe_run, "passive")


@pytest.mark.slow
def test_a_member_keeps_acting_until_its_episode_ends(cartpole_run):
    player = chorus.load(cartpole_run, "individual")
    batch = observations(64)
    _, state = player.predict(batch, state=None, episode_start=np.ones(64, bool))
    drawn = state[0]
    assert set(drawn.tolist()) == {0, 1, 2}
    _, kept = player.predict(batch, state=state, episode_start=np.zeros(64, bool))
    np.testing.assert_array_equal(kept[0], drawn)
    _, kept = player.predict(batch, state=state)
    np.testing.assert_array_equal(kept[0], drawn)
    ended = np.arange(64) % 2 == 0
    _, redrawn = player.predict(batch, state=state, episode_start=ended)
    np.testing.assert_array_equal(redrawn[0][~ended], drawn[~ended])
    assert (redrawn[0][ended] != drawn[ended]).any()


@pytest.mark.long
def test_a_batch_is_its_observations_one_by_one(cartpole_run):
    for member in range(3):
        player = chorus.load(cartpole_run, f"member_{member}")
        together, _ = player.predict(observations(16), deterministic=True)
        alone = [int(player.predict(one, deterministic=True)[0]) for one in observations(16)]
        assert together.tolist() == alone


@pytest.mark.slow
def test_deterministic_leaves_out_random_actions(cartpole_run):
    from dataclasses import replace

    player = chorus.load(cartpole_run, "member_0")
    config = player.assembly.config
    always_random = replace(config, evaluation=replace(config.evaluation, epsilon=1.0))
    player.assembly = replace(player.assembly, config=always_random)
    batch = observations(200)
    greedy = [player.predict(batch, deterministic=True)[0].tolist() for _ in range(3)]
    assert greedy[0] == greedy[1] == greedy[2]
    random = [player.predict(batch)[0].tolist() for _ in range(2)]
    assert random[0] != random[1]
    assert 60 < sum(random[0]) < 140


@pytest.mark.slow
def test_two_loads_with_one_seed_act_alike(cartpole_run):
    acted = []
    for seed in (5, 5, 6):
        player = chorus.load(cartpole_run, "individual", seed=seed)
        acted.append([player.predict(observations(32))[1][0].tolist() for _ in range(4)])
    assert acted[0] == acted[1] != acted[2]


@pytest.mark.slow
def test_the_vote_is_what_most_members_do(cartpole_run):
    batch = observations(50)
    each = np.stack([chorus.load(cartpole_run, f"member_{i}").predict(batch, deterministic=True)[0] for i in range(3)])
    voted, _ = chorus.load(cartpole_run, "aggregate").predict(batch, deterministic=True)
    np.testing.assert_array_equal(voted, each.sum(axis=0) >= 2)


def play_as_stable_baselines_does(model, env: gymnasium.vector.VectorEnv, episodes: int) -> list[float]:
    """The loop that `stable_baselines3.common.evaluation.evaluate_policy` documents, over a vector environment."""
    slots = env.num_envs
    targets = np.array([(episodes + i) // slots for i in range(slots)])
    counts, returns, running = np.zeros(slots, int), [], np.zeros(slots)
    observation, _ = env.reset(seed=7)
    states, episode_starts = None, np.ones(slots, bool)
    while (counts < targets).any():
        actions, states = model.predict(observation, state=states, episode_start=episode_starts, deterministic=False)
        observation, rewards, terminated, truncated, _ = env.step(actions)
        running += rewards
        episode_starts = terminated | truncated
        for slot in np.flatnonzero(episode_starts):
            if counts[slot] < targets[slot]:
                returns.append(running[slot])
                counts[slot] += 1
            running[slot] = 0.0
    return returns


@pytest.mark.slow
def test_predict_in_someone_elses_loop_and_our_evaluation_find_the_same_returns(cartpole_run):
    from gymnasium.vector import AutoresetMode, SyncVectorEnv

    make = [lambda: gymnasium.make("CartPole-v1", max_episode_steps=60)] * 4
    env = SyncVectorEnv(make, autoreset_mode=AutoresetMode.SAME_STEP)
    player = chorus.load(cartpole_run, "individual")
    theirs = np.array(play_as_stable_baselines_does(player, env, episodes=160))
    env.close()
    ours = np.array([result.episodic_return for result in player.evaluate(episodes=160, seed=11)])
    assert len(theirs) == len(ours) == 160
    error = np.sqrt(theirs.var() / len(theirs) + ours.var() / len(ours))
    # Four standard errors: wrong by chance once in 16,000 seeds, and the seeds are fixed.
    assert abs(theirs.mean() - ours.mean()) < 4 * error + 1e-9
    assert theirs.std() > 0


@pytest.mark.slow
def test_stable_baselines3_evaluates_a_chorus_run(cartpole_run):
    evaluation = pytest.importorskip("stable_baselines3.common.evaluation")
    from stable_baselines3.common.monitor import Monitor

    player = chorus.load(cartpole_run, "aggregate")
    env = Monitor(gymnasium.make("CartPole-v1", max_episode_steps=60))
    returns, lengths = evaluation.evaluate_policy(player, env, n_eval_episodes=20, return_episode_rewards=True)
    assert len(returns) == 20 and returns == [float(length) for length in lengths]
    ours = [result.episodic_return for result in player.evaluate(episodes=40, seed=3)]
    error = np.sqrt(np.var(returns) / 20 + np.var(ours) / 40)
    assert abs(np.mean(returns) - np.mean(ours)) < 4 * error + 1e-9


@pytest.mark.slow
def test_predict_uses_no_key_twice(probe_run, monkeypatch):
    import jax

    from key_uses import KeyUses

    player = chorus.load(probe_run, "individual")
    # Without jit, so that the keys can be looked at.
    player._decide = lambda params, *given: player._redraw_and_choose(
        params, *(jax.numpy.asarray(one) if isinstance(one, np.ndarray | np.generic) else one for one in given)
    )
    uses = KeyUses(monkeypatch)
    for _ in range(2):
        player.predict(player.observation_example())
    assert uses.used_twice() == []
    assert max(map(len, uses.uses.values())) == 2, "the player's own key, folded once per call"
