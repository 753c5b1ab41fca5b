"""Episodes are put together from steps, however many steps are recorded at once."""

import numpy as np
import pytest

from chorus.replay.ring import ENSEMBLE
from chorus.training.episodes import EpisodeRecorder

# Two slots for six steps: slot 0 ends after steps 2 and 5, slot 1 after step 5.
OWNER = np.array([[0, 1], [0, 1], [1, 1], [1, 0], [1, 0], [0, 1]])
REWARD = np.float32([[1, 10], [2, 20], [3, 30], [4, 40], [5, 50], [6, 60]])
ENDED = np.array([[0, 0], [1, 0], [0, 0], [0, 0], [1, 1], [0, 0]], bool)


def recorded(lengths):
    """The episodes of these steps, recorded so many at a time."""
    recorder, begin, found = EpisodeRecorder(2), 0, []
    for length in lengths:
        part = slice(begin, begin + length)
        found += recorder.record(OWNER[part], REWARD[part], ENDED[part], step=np.arange(6)[part, None].repeat(2, 1))
        begin += length
    return recorder, found


@pytest.mark.parametrize("lengths", [[6], [1] * 6, [2, 4], [3, 1, 2], [5, 1]])
def test_episodes_come_in_the_order_of_their_ends_and_do_not_depend_on_how_steps_arrive(lengths):
    _, found = recorded(lengths)
    assert [(one.slot, one.member, one.episodic_return, one.length) for one in found] == [
        (0, 0, 3.0, 2),
        (0, 1, 12.0, 3),
        (1, None, 150.0, 5),
    ]
    assert [one.columns["step"].tolist() for one in found] == [[0, 1], [2, 3, 4], [0, 1, 2, 3, 4]]
    assert found[0].rewards.dtype == np.float64


def test_what_no_open_episode_needs_is_dropped():
    """A run of a million steps must not keep them: after step 5 both episodes are new, and step 6 is all there is."""
    recorder, _ = recorded([1] * 5)
    assert len(recorder._parts) == 1
    recorder.record(OWNER[5:], REWARD[5:], ENDED[5:])
    assert len(recorder._parts) <= 2


def test_an_episode_of_the_ensemble_has_no_member():
    recorder = EpisodeRecorder(1)
    (episode,) = recorder.record(np.full((3, 1), ENSEMBLE), np.ones((3, 1)), np.array([[False], [False], [True]]))
    assert (episode.member, episode.length) == (None, 3)
