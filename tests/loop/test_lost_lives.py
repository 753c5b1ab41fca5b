"""A lost life: a terminal to the learner and, if asked for, another member; the game and its score go on."""

import jax
import numpy as np
import pytest
from scripted import counting_agent, counting_state

from builders import tiny_ring
from chorus.envs.spec import EnvSpec, StepResult
from chorus.replay.ring import TERMINATED
from chorus.runs.training import EpisodeLog, training_keys
from chorus.training.acting import LinearEpsilon, Uniform
from chorus.training.loop import Loop
from chorus.training.settings import ReplaySettings, Schedule
from chorus.training.stepper import HostStepper, LifeLoss

STACK = 2
STEPS, LIFE_EVERY, GAME_EVERY = 240, 4, 12


class Lives:
    """Games of 12 steps and three lives, a life every four steps, a reward a step; frames are numbered from 1."""

    spec = EnvSpec("Lives", "atari", (STACK, 1), np.dtype(np.float32), 2, GAME_EVERY, frame_stack=STACK)

    def __init__(self, slots: int) -> None:
        self._slots, self._time, self._frames, self._stack = slots, 0, 0, np.zeros((STACK, 1), np.float32)

    def _show(self):
        return np.repeat(self._stack[None], self._slots, axis=0)

    def _push(self, clear: bool) -> None:
        kept = np.zeros_like(self._stack[1:]) if clear else self._stack[1:]
        self._frames += 1
        self._stack = np.concatenate([kept, [[self._frames]]]).astype(np.float32)

    def reset(self, seeds):
        self._push(clear=True)
        return self._show()

    def step(self, actions):
        self._time += 1
        self._push(clear=False)
        observation = self._show()
        over = self._time % GAME_EVERY == 0
        if over:
            self._push(clear=True)
        ended = np.full(self._slots, over)
        lost = np.full(self._slots, self._time % LIFE_EVERY == 0 and not over)
        return StepResult(observation, self._show(), np.ones(self._slots, np.float32), ended, ended & False, lost)

    def render(self):
        raise AssertionError("nobody asked for frames")

    def close(self) -> None:
        pass


def decide(params, observation, member, key, epsilon):
    return jax.random.randint(key, (observation.shape[0],), 0, 2), ()


def played(life_loss):
    loop = Loop(
        agent=counting_agent(),
        members=3,
        acting=Uniform(),
        epsilon=LinearEpsilon(),
        stepper=HostStepper(Lives, decide, 1, life_loss=life_loss),
        schedule=Schedule(total_steps=STEPS, iteration_steps=STEPS, learning_starts=1_000),
        replay=ReplaySettings(capacity=STEPS, batch_size=4),
    )
    ring = tiny_ring(capacity=STEPS, iteration_steps=STEPS, observation_shape=(STACK, 1), frame_stack=STACK)
    events = list(loop.run(counting_state(), ring, 1, training_keys(0, 1), np.random.default_rng(0)))
    log = EpisodeLog(slots=1)
    return ring, events, [episode for event in events for episode in log.record(event)]


@pytest.mark.slow
@pytest.mark.parametrize(("terminal", "every"), [(False, GAME_EVERY), (True, LIFE_EVERY)])
def test_the_learner_sees_a_terminal_at_each_life_only_if_asked(terminal, every):
    ring, _, episodes = played(LifeLoss(terminal=terminal))
    lane, position = ring.locate(np.arange(ring.rows_in_windows))
    valid, length = ring.ends_within(lane, position, 3)
    windows = ring.read(lane[valid], position[valid], length[valid], 3)
    step = np.arange(1, STEPS + 1)
    terminated = (ring.columns.arrays["flags"][0][: ring.cursor.end[0]] & TERMINATED) > 0
    is_transition = ring.columns.arrays["flags"][0][: ring.cursor.end[0]] > 0
    np.testing.assert_array_equal(terminated[is_transition], step % every == 0)
    # Three-step returns stop at a life's end and nowhere else.
    np.testing.assert_array_equal(windows.length, np.minimum(3, (every - (step - 1) % every)))
    assert {(episode.episodic_return, episode.length) for episode in episodes} == {(12.0, 12)}, "scores are whole games"
    assert len(episodes) == STEPS // GAME_EVERY


def test_frames_go_on_across_a_lost_life_and_not_across_a_games_start():
    ring, _, _ = played(LifeLoss(terminal=True))
    lane, position = ring.locate(np.arange(ring.rows_in_windows))
    valid, length = ring.ends_within(lane, position, 1)
    stacks = ring.read(lane[valid], position[valid], length[valid], 1).observation[..., 0]
    starts = np.arange(STEPS) % GAME_EVERY == 0
    np.testing.assert_array_equal(stacks[:, 0] == 0, starts)
    inside = ~starts
    np.testing.assert_array_equal(stacks[inside, 0] + 1, stacks[inside, 1])


@pytest.mark.parametrize("redraw", [False, True])
def test_a_member_plays_whole_games_unless_lives_redraw_it(redraw):
    _, events, episodes = played(LifeLoss(terminal=True, redraw=redraw))
    members = np.array([event.owner[0] for event in events])
    lives, games = members.reshape(-1, LIFE_EVERY), members.reshape(-1, GAME_EVERY)
    assert np.all(lives == lives[:, :1])
    assert bool(np.all(games == games[:, :1])) == (not redraw)
    mixed = [len(set(game.tolist())) > 1 for game in games]
    # Nobody's game, if several members played it.
    assert [episode.member is None for episode in episodes] == mixed
