"""Both steppers: chunks change nothing, members change only where episodes start, endings are told apart."""

from functools import partial

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from scripted import counting_agent, counting_state

from builders import tiny_ring
from chorus.envs.registry import make_host, make_jax
from chorus.runs.training import training_keys
from chorus.training.acting import LinearEpsilon, Uniform
from chorus.training.loop import Loop
from chorus.training.settings import ReplaySettings, Schedule
from chorus.training.stepper import HostStepper, JaxStepper, Steps

KEYS = training_keys(0, 1)
LADDER = "chorus_tests/Ladder-v0"
SHARES = np.full(3, 1 / 3)


class Ladder(gymnasium.Env):
    """Observes (episode, time). Even episodes terminate after 3 steps, odd ones go on until they are truncated."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self) -> None:
        self.episode, self.time = -1, 0

    def _observe(self):
        return np.float32([self.episode, self.time])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.episode, self.time = self.episode + 1, 0
        return self._observe(), {}

    def step(self, action):
        self.time += 1
        return self._observe(), float(action), self.episode % 2 == 0 and self.time == 3, False, {}


@pytest.fixture(scope="module")
def ladder():
    gymnasium.register(id=LADDER, entry_point=Ladder, max_episode_steps=5)
    yield LADDER
    del gymnasium.registry[LADDER]


def decide(params, observation, member, key, epsilon):
    """Random actions, so that keys matter; epsilon is handed back to be looked at."""
    return jax.random.randint(key, (observation.shape[0],), 0, 2), epsilon


def walked(stepper, chunks):
    rollout, pieces, taken = stepper.start(KEYS), [], 0
    for chunk in chunks:
        epsilon = np.linspace(0, 1, 32, dtype=np.float32)[taken : taken + chunk]
        rollout, steps = stepper.advance({}, SHARES, rollout, epsilon)
        pieces.append(steps)
        taken += chunk
    rollout.close()
    return Steps(*(np.concatenate(column) for column in zip(*pieces, strict=True)))


@pytest.fixture(scope="module")
def probe():
    return JaxStepper(make_jax("Probe/Discount-v0", None), decide, slots=3)


class Countdown:
    """Observes (the episode's length, the steps it still has); lengths 1 to 4 are drawn at each reset."""

    spec = make_jax("Probe/Discount-v0", None).spec

    def reset(self, key):
        length = jax.random.randint(key, (), 1, 5).astype(jnp.float32)
        return (length, length), jnp.stack([length, length])

    def step(self, state, action, key):
        length, left = state[0], state[1] - 1
        return (length, left), jnp.stack([length, left]), jnp.zeros(()), left == 0

    def render(self, observation):
        return observation


@pytest.mark.slow
def test_slots_that_end_start_anew_while_the_others_go_on():
    steps = walked(JaxStepper(Countdown(), decide, slots=3), [16, 8])
    ended = steps.terminated | steps.truncated
    some = ended.any(axis=1) & ~ended.all(axis=1)
    assert some.any() and (~ended).all(axis=1).any()
    fresh = steps.reset_observation[ended]
    assert np.all(fresh[:, 0] == fresh[:, 1]) and len(set(fresh[:, 0])) > 1
    np.testing.assert_array_equal(steps.reset_observation[~ended], steps.next_observation[~ended])
    # What the next step sees is one less than what it started from, in the same episode.
    np.testing.assert_array_equal(steps.next_observation[1:, :, 1], steps.reset_observation[:-1, :, 1] - 1)
    np.testing.assert_array_equal(steps.next_observation[1:, :, 0], steps.reset_observation[:-1, :, 0])


def assert_members_change_at_starts_only(steps):
    ended = steps.terminated | steps.truncated
    for slot in range(steps.member.shape[1]):
        changes = steps.member[1:, slot] != steps.member[:-1, slot]
        assert not np.any(changes & ~ended[:-1, slot])
    assert set(steps.member.ravel()) == {0, 1, 2}


@pytest.mark.slow
def test_what_is_drawn_does_not_depend_on_the_chunks(probe):
    whole = walked(probe, [16])
    for chunks in ([4] * 4, [1] * 16):
        for name, one, other in zip(Steps._fields, whole, walked(probe, chunks), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=name)
    assert 0 < whole.action.mean() < 1


@pytest.mark.slow
def test_a_jax_environment_redraws_its_member_at_true_episode_starts_only(probe):
    steps = walked(probe, [16])
    np.testing.assert_array_equal(steps.terminated[:, 0], [False, True] * 8)
    assert_members_change_at_starts_only(steps)


@pytest.mark.slow
def test_a_jax_environment_out_of_time_is_truncated_not_terminated():
    limited = JaxStepper(make_jax("Probe/Discount-v0", 1), decide, slots=1)
    steps = walked(limited, [4])
    assert np.all(steps.truncated) and not np.any(steps.terminated)
    assert np.all(steps.next_observation == 1.0), "the last observation of the old episode"
    assert np.all(steps.reset_observation == 0.0), "the first of the new one"


@pytest.mark.slow
def test_termination_wins_where_a_time_limit_falls_on_the_same_step():
    steps = walked(JaxStepper(make_jax("Probe/Discount-v0", 2), decide, slots=1), [4])
    assert steps.terminated[:, 0].tolist() == [False, True, False, True]
    assert not np.any(steps.truncated)


def test_a_gymnasium_environment_tells_termination_from_truncation(ladder):
    steps = walked(HostStepper(partial(make_host, ladder), decide, slots=2), [16])
    # Three steps to a termination, five to a truncation, and again.
    expected = np.array([0, 0, 1, 0, 0, 0, 0, 2] * 2)
    for slot in range(2):
        np.testing.assert_array_equal(steps.terminated[:, slot], expected == 1)
        np.testing.assert_array_equal(steps.truncated[:, slot], expected == 2)
    assert steps.next_observation[[2, 7], 0].tolist() == [[0, 3], [1, 5]]
    assert steps.reset_observation[[2, 7], 0].tolist() == [[1, 0], [2, 0]]
    np.testing.assert_array_equal(steps.reward, steps.action.astype(np.float32))
    assert_members_change_at_starts_only(steps)


def test_a_gymnasium_environments_steps_do_not_depend_on_the_chunks(ladder):
    stepper = HostStepper(partial(make_host, ladder), decide, slots=2)
    for one, other in zip(walked(stepper, [8]), walked(stepper, [1, 5, 2]), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_loop_stores_a_time_limit_as_something_to_bootstrap_from(ladder):
    schedule = Schedule(total_steps=16, iteration_steps=16, learning_starts=1_000)
    loop = Loop(
        agent=counting_agent(),
        members=3,
        acting=Uniform(),
        epsilon=LinearEpsilon(),
        stepper=HostStepper(partial(make_host, ladder), decide, slots=1),
        schedule=schedule,
        replay=ReplaySettings(capacity=16, batch_size=4),
    )
    ring = tiny_ring(capacity=16, iteration_steps=16, observation_shape=(2,))
    events = list(loop.run(counting_state(), ring, 1, KEYS, np.random.default_rng(0)))
    lane, position = ring.locate(np.arange(ring.rows_in_windows))
    valid, length = ring.ends_within(lane, position, 1)
    windows = ring.read(lane[valid], position[valid], length[valid], 1)
    ends = {
        tuple(after.tolist()): bool(terminated)
        for after, terminated in zip(windows.next_observation, windows.terminated, strict=True)
    }
    assert {place for place, terminated in ends.items() if terminated} == {(0.0, 3.0), (2.0, 3.0)}
    assert {(1.0, 5.0), (3.0, 5.0)} <= set(ends), "final observations of truncated episodes are kept"
    owners = ring.owners(lane[valid], position[valid])
    np.testing.assert_array_equal(owners, [event.owner[0] for event in events])


def test_every_slot_and_every_iteration_has_another_seed():
    def first_reset(iteration):
        stepper = HostStepper(partial(make_host, "CartPole-v1"), decide, slots=3)
        rollout = stepper.start(training_keys(0, iteration))
        rollout.close()
        return jnp.asarray(rollout.observation)

    starts = np.concatenate([first_reset(1), first_reset(2)])
    assert len(np.unique(starts, axis=0)) == 6
    np.testing.assert_array_equal(first_reset(1), starts[:3])


@pytest.mark.slow
def test_a_member_drawn_each_step_changes_within_an_episode(ladder):
    probe = JaxStepper(make_jax("Probe/Discount-v0", 2), decide, slots=3, redraw_each_step=True)
    host = HostStepper(partial(make_host, ladder), decide, slots=3, redraw_each_step=True)
    for stepper in (probe, host):
        steps = walked(stepper, [16])
        inside = ~(steps.terminated | steps.truncated)[:-1]
        changed = (steps.member[1:] != steps.member[:-1])[inside]
        # Three members: two of three draws change the member.
        assert 0.3 < changed.mean() < 0.95
