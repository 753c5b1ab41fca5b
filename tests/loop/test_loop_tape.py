"""The exact order in which the loop collects, stores and learns."""

from dataclasses import replace

import numpy as np
import pytest
from scripted import Script, ScriptedStepper, counting_agent, counting_state

from builders import tiny_ring
from chorus.replay.ring import TERMINATED, TRANSITION, TRUNCATED, Ring
from chorus.runs.training import EpisodeLog, episode_line, training_keys
from chorus.training.acting import LinearEpsilon, Uniform
from chorus.training.loop import Collected, Learned, Loop
from chorus.training.settings import ReplaySettings, Schedule

EPSILON = LinearEpsilon(final=0.1, decay_steps=20, warmup_steps=4)


def scripted_loop(stepper, schedule, batches=None):
    return Loop(
        agent=counting_agent(batches),
        members=4,
        acting=Uniform(),
        epsilon=EPSILON,
        stepper=stepper,
        schedule=schedule,
        replay=ReplaySettings(capacity=100, batch_size=4),
    )


def ring_of(loop: Loop) -> Ring:
    return tiny_ring(lanes=loop.stepper.slots, capacity=400, iteration_steps=loop.schedule.iteration_steps)


def played(loop, ring, iteration, state=None):
    keys, rng = training_keys(0, iteration), np.random.default_rng(0)
    return list(loop.run(state or counting_state(), ring, iteration, keys, rng))


def tape(events):
    return [
        ("collected", event.step) if isinstance(event, Collected) else ("learned", event.updates) for event in events
    ]


def test_one_slot_learns_every_fourth_step_after_learning_starts():
    schedule = Schedule(total_steps=14, iteration_steps=14, learning_starts=4, update_period_steps=4)
    loop = scripted_loop(ScriptedStepper(Script(slots=1, steps=14)), schedule)
    assert tape(played(loop, ring_of(loop), 1)) == [
        *[("collected", step) for step in range(1, 9)],
        ("learned", 1),  # 8 = 4 + 4
        *[("collected", step) for step in range(9, 13)],
        ("learned", 2),  # 12 = 4 + 2 · 4
        ("collected", 13),
        ("collected", 14),
    ]


def test_more_slots_than_a_period_learn_several_times_after_a_step():
    schedule = Schedule(total_steps=12, iteration_steps=12, learning_starts=3, update_period_steps=2)
    loop = scripted_loop(ScriptedStepper(Script(slots=4, steps=3)), schedule)
    # After 4 steps (4 - 3) // 2 = 0 updates are due, after 8 two, after 12 four.
    assert tape(played(loop, ring_of(loop), 1)) == [
        ("collected", 4),
        ("collected", 8),
        ("learned", 1),
        ("learned", 2),
        ("collected", 12),
        ("learned", 3),
        ("learned", 4),
    ]


@pytest.mark.parametrize("chunk", [1, 3, 64])
@pytest.mark.parametrize(
    ("slots", "period", "starts"), [(1, 1, 1), (2, 4, 6), (2, 5, 3), (3, 4, 9), (8, 4, 8), (2, 1, 7)]
)
def test_updates_follow_the_step_that_makes_them_due_whatever_the_chunk(slots, period, starts, chunk):
    total = 48
    schedule = Schedule(
        total_steps=total, iteration_steps=total // 2, learning_starts=starts, update_period_steps=period
    )
    stepper = ScriptedStepper(Script(slots=slots, steps=total // slots), chunk=chunk)
    loop, state = scripted_loop(stepper, schedule), counting_state()
    ring, events = ring_of(loop), []
    for iteration in (1, 2):
        events += played(loop, ring, iteration, state)
        state = next((event.state for event in reversed(events) if isinstance(event, Learned)), state)

    expected, acted_with, updates = [], [], 0
    for step in range(slots, total + 1, slots):
        acted_with.append((updates, float(EPSILON(step - slots))))
        expected.append(("collected", step))
        while updates < max(0, step - starts) // period:
            updates += 1
            expected.append(("learned", updates))
    assert tape(events) == expected
    assert stepper.asked == acted_with, "each step is taken with the newest parameters and its own epsilon"
    assert all(rollout.closed for rollout in stepper.rollouts) and len(stepper.rollouts) == 2


def test_a_batch_holds_nothing_that_was_collected_after_it_was_due():
    schedule = Schedule(total_steps=40, iteration_steps=40, learning_starts=4, update_period_steps=4)
    script, batches = Script(slots=2, steps=20), []
    loop = scripted_loop(ScriptedStepper(script, chunk=64), schedule, batches)
    newest = 0.0
    for event in loop.run(counting_state(), ring_of(loop), 1, training_keys(0, 1), np.random.default_rng(0)):
        if isinstance(event, Collected):
            newest = script.next_observation[event.step // 2 - 1].max()
        else:
            assert batches[-1].next_observation.max() <= newest
    assert len(batches) == 9


@pytest.fixture
def stored():
    """Two iterations of three steps and two slots, written down by hand, and the ring they are stored in."""
    script = Script(slots=2, steps=3)
    script.terminated = np.array([[False, True], [False, False], [True, False]])
    script.truncated = np.array([[False, False], [True, False], [False, False]])
    script.member = np.array([[0, 1], [0, 3], [2, 3]], np.int32)
    script.next_observation = np.float32([[10, 20], [11, 21], [12, 22]])[..., None]
    script.reset_observation = np.float32([[10, 50], [60, 21], [70, 22]])[..., None]
    script.reward = np.float32([[1, 2], [3, 4], [5, 6]])
    loop = scripted_loop(ScriptedStepper(script), Schedule(total_steps=12, iteration_steps=6, learning_starts=1_000))
    ring = ring_of(loop)
    return played(loop, ring, 1) + played(loop, ring, 2), ring


def test_the_iterations_cut_is_stored_as_a_truncation_and_an_ending_as_itself(stored):
    _, ring = stored
    flags = ring.columns.arrays["flags"]
    go_on, terminated, truncated, only_observed = TRANSITION, TRANSITION + TERMINATED, TRANSITION + TRUNCATED, 0
    # Slot 0: truncated by its environment after two steps, terminated exactly at the cut.
    first = [go_on, truncated, only_observed, terminated, only_observed]
    # Slot 1: terminated after one step, then cut in the middle of an episode.
    second = [terminated, only_observed, go_on, truncated, only_observed]
    assert flags[0, :11].tolist() == [*first, *first, 0]
    assert flags[1, :11].tolist() == [*second, *second, 0]
    assert ring.cursor.end.tolist() == [10, 10]


def test_final_observations_are_kept_apart_from_the_first_of_the_next_episode(stored):
    _, ring = stored
    observed = ring.columns.arrays["observation"][..., 0]
    assert observed[0, :5].tolist() == [0, 10, 11, 60, 12]
    assert observed[1, :5].tolist() == [1, 20, 50, 21, 22]
    assert observed[0, 5:10].tolist() == [0, 10, 11, 60, 12], "an iteration starts in new environments"


def test_the_owner_of_a_transition_is_the_member_that_acted(stored):
    _, ring = stored
    is_transition = ring.columns.arrays["flags"] > 0
    owner = ring.columns.arrays["owner"]
    assert owner[0][is_transition[0]].tolist() == [0, 0, 2, 0, 0, 2]
    assert owner[1][is_transition[1]].tolist() == [1, 3, 3, 1, 3, 3]


def test_what_the_cut_shortened_is_left_out_of_the_returns(stored):
    events, _ = stored
    log = EpisodeLog(slots=2)
    lines = [episode_line(1, event.step, episode) for event in events[:3] for episode in log.record(event)]
    assert lines == [
        {"iteration": 1, "step": 2, "slot": 1, "member": 1, "return": 2.0, "length": 1},
        {"iteration": 1, "step": 4, "slot": 0, "member": 0, "return": 4.0, "length": 2},  # 1 + 3
        {"iteration": 1, "step": 6, "slot": 0, "member": 2, "return": 5.0, "length": 1},
    ]
    assert log.returns == [2.0, 4.0, 5.0], "slot 1 was cut with 4 + 6 and is not among them"


def test_a_shorter_last_iteration_ends_with_the_budget():
    schedule = Schedule(total_steps=10, iteration_steps=6, learning_starts=100)
    loop = scripted_loop(ScriptedStepper(Script(slots=2, steps=5)), schedule)
    assert schedule.iterations == 2
    assert [schedule.span(1), schedule.span(2)] == [(0, 6), (6, 10)]
    assert [event.step for event in played(loop, ring_of(loop), 2)] == [8, 10]


def test_resuming_an_iteration_needs_nothing_but_its_number():
    schedule = Schedule(total_steps=48, iteration_steps=24, learning_starts=6)
    script = Script(slots=2, steps=12)
    loops = [scripted_loop(ScriptedStepper(script), replace(schedule, total_steps=total)) for total in (24, 48)]
    first = [tape(played(loop, ring_of(loop), 1)) for loop in loops]
    assert first[0] == first[1]
