"""Final scores, smoothing, the three normalisations and the reference table."""

from pathlib import Path

import numpy as np
import pytest

from chorus.analysis import scores
from chorus.errors import ChorusError


def test_final_score_is_the_mean_of_the_last_evaluations() -> None:
    assert scores.final_score([1.0, 2.0, 3.0, 7.0], 2) == pytest.approx(5.0)
    assert scores.final_score([1.0, 2.0, 3.0], 10) == pytest.approx(2.0)  # fewer than asked for: all of them
    assert scores.final_score([1.0, 3.0, np.nan], 1) == pytest.approx(3.0)  # the run ended early


@pytest.mark.parametrize(
    ("env", "count"),
    [("Humanoid-v4", 5), ("ALE/Pong-v5", 10), ("MinAtar/Breakout-v1", 10), ("HumanoidRobot-v0", 10)],
)
def test_mujoco_uses_five_evaluations_and_others_ten(env: str, count: int) -> None:
    assert scores.final_evaluations(env) == count


def test_smoothing_looks_back_over_the_window() -> None:
    values = np.array([[2.0, 4.0, 6.0, 8.0, np.nan]])
    # window 3: 2; (2+4)/2; (2+4+6)/3; (4+6+8)/3; missing stays missing
    smoothed = scores.smooth(values, window=3)[0]
    assert smoothed[:4] == pytest.approx([2.0, 3.0, 4.0, 6.0])
    assert np.isnan(smoothed[4])
    assert scores.smooth(values, window=1)[0, :4] == pytest.approx(values[0, :4])


def test_human_normalised_score() -> None:
    breakout = scores.atari_references()["breakout"]
    assert (breakout.random, breakout.human) == (1.7, 30.5)
    # (16.1 - 1.7) / (30.5 - 1.7) = 14.4 / 28.8 = 1/2
    assert scores.human_normalised([1.7, 16.1, 30.5], breakout) == pytest.approx([0.0, 0.5, 1.0])


def test_reference_normalised_score() -> None:
    # (12 - 2) / (22 - 2) = 1/2
    assert scores.reference_normalised([2.0, 12.0, 42.0], 2.0, 22.0) == pytest.approx([0.0, 0.5, 2.0])
    with pytest.raises(ValueError, match=r"reference 1.0 must lie above the floor 2.0"):
        scores.reference_normalised([1.0], 2.0, 1.0)


def test_min_max_normalised_score() -> None:
    assert scores.min_max_normalised([-5.0, 0.0, 5.0], -5.0, 5.0) == pytest.approx([0.0, 0.5, 1.0])
    assert scores.min_max_normalised([3.0], 3.0, 3.0) == pytest.approx([0.0])


@pytest.mark.parametrize(
    ("env", "game"),
    [
        ("ALE/SpaceInvaders-v5", "space_invaders"),
        ("UpNDownNoFrameskip-v4", "up_n_down"),
        ("ALE/MsPacman-v5", "ms_pacman"),
        ("ALE/Jamesbond-v5", "jamesbond"),
        ("ALE/NameThisGame-v5", "name_this_game"),
        ("MinAtar/Breakout-v1", None),
        ("CartPole-v1", None),
    ],
)
def test_environment_ids_find_their_atari_game_and_minatar_does_not(env: str, game: str | None) -> None:
    assert scores.atari_game(env) == game
    assert game is None or game in scores.atari_references()


def test_the_55_games() -> None:
    assert len(scores.atari_references()) == 57
    assert len(scores.atari55()) == 55
    assert not {"defender", "surround"} & set(scores.atari55())


def test_references_can_be_given(tmp_path: Path) -> None:
    table = tmp_path / "references.csv"
    table.write_text("env,random,human\nMinAtar/Breakout-v1,0.5,\nALE/Pong-v5,-21,15\n")
    extra = scores.read_references(table)
    found = scores.references_for(("MinAtar/Breakout-v1", "ALE/Pong-v5", "ALE/Alien-v5", "Ant-v4"), extra)
    assert found["MinAtar/Breakout-v1"] == scores.Reference(0.5, None)
    assert found["ALE/Pong-v5"] == scores.Reference(-21.0, 15.0)
    assert found["ALE/Alien-v5"].random == 227.8
    assert "Ant-v4" not in found


def test_bad_references_are_refused_with_a_sentence(tmp_path: Path) -> None:
    table = tmp_path / "references.csv"
    table.write_text("env,random\nPong,much\n")
    with pytest.raises(ChorusError, match="needs the columns env,random"):
        scores.read_references(table)
    with pytest.raises(ChorusError, match="could not be read"):
        scores.read_references(tmp_path / "absent.csv")
