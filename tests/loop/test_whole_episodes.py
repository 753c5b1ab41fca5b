"""An iteration of one Atari game ends with an episode: later than planned, and cutting nothing."""

import numpy as np
from scripted import Script, ScriptedStepper, counting_agent, counting_state

from builders import tiny_ring
from chorus.replay.ring import TERMINATED, TRANSITION, TRUNCATED
from chorus.runs.training import EpisodeLog, training_keys
from chorus.training.acting import LinearEpsilon, Uniform
from chorus.training.loop import Collected, Learned, Loop
from chorus.training.settings import Amount, ReplaySettings, Schedule

SCHEDULE = Schedule(total_steps=22, iteration_steps=10, learning_starts=4, update_period_steps=4)


def script_ending_at(terminated, truncated=()):
    script = Script(slots=1, steps=40)
    script.terminated[:], script.truncated[:] = False, False
    script.terminated[[step - 1 for step in terminated]] = True
    script.truncated[[step - 1 for step in truncated]] = True
    return script


def whole_loop(script):
    return Loop(
        agent=counting_agent(),
        members=4,
        acting=Uniform(),
        epsilon=LinearEpsilon(),
        stepper=ScriptedStepper(script),
        schedule=SCHEDULE,
        replay=ReplaySettings(capacity=100, batch_size=4),
        whole_episodes=True,
    )


def played(loop, ring, iteration, first):
    keys, rng = training_keys(0, iteration), np.random.default_rng(0)
    return list(loop.run(counting_state(), ring, iteration, keys, rng, first))


def last_step(events):
    return [event.step for event in events if isinstance(event, Collected)][-1]


def test_an_iteration_goes_on_to_the_first_episode_end_after_its_steps():
    loop, ring = whole_loop(script_ending_at([3, 13, 14])), tiny_ring()
    events = played(loop, ring, 1, 0)
    assert last_step(events) == 13
    # (13 - 4) // 4 = 2 updates are due.
    assert [event.updates for event in events if isinstance(event, Learned)] == [1, 2]
    flags = ring.columns.arrays["flags"][0, : ring.cursor.end[0]]
    assert (flags & TRUNCATED).sum() == 0, "nothing is cut"
    assert (flags == TRANSITION + TERMINATED).sum() == 2


def test_an_episode_that_ends_exactly_with_the_plan_ends_the_iteration():
    loop = whole_loop(script_ending_at([10, 12]))
    assert last_step(played(loop, tiny_ring(), 1, 0)) == 10


def test_a_time_limit_ends_an_iteration_too():
    loop, ring = whole_loop(script_ending_at([4], truncated=[11])), tiny_ring()
    assert last_step(played(loop, ring, 1, 0)) == 11
    assert ring.columns.arrays["flags"][0, ring.cursor.end[0] - 2] == TRANSITION + TRUNCATED


def test_the_next_iteration_starts_where_the_last_one_ended_and_lasts_as_long_as_planned():
    loop, ring = whole_loop(script_ending_at([13])), tiny_ring()
    first = last_step(played(loop, ring, 1, 0))
    second = played(loop, ring, 2, first)
    assert (second[0].step, last_step(second)) == (14, 26), "10 more steps are 23, and the episode ends with the 26th"
    # Updates are counted over the run: (13 - 4) // 4 = 2 before, (26 - 4) // 4 = 5 after.
    assert [event.updates for event in second if isinstance(event, Learned)] == [3, 4, 5]
    # The last iteration is planned with the 2 steps that are left of 22.
    assert SCHEDULE.span(3, 26) == (26, 28)


def test_every_episode_is_in_the_returns():
    loop, log = whole_loop(script_ending_at([3, 13])), EpisodeLog(slots=1)
    collected = [event for event in played(loop, tiny_ring(), 1, 0) if isinstance(event, Collected)]
    finished = [(event.step, episode.length) for event in collected for episode in log.record(event)]
    assert finished == [(3, 3), (13, 10)]


def test_an_amount_of_play_is_reached_with_episodes_and_steps():
    paper = Amount(episodes=1, steps=100)
    assert [paper.reached(episodes, steps) for episodes, steps in ((0, 100), (5, 99), (1, 100))] == [False, False, True]
    assert Amount(episodes=3).reached(3, 0) and not Amount(episodes=3).reached(2, 10_000)
