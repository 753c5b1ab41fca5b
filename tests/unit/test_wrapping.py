"""Sentences fit a terminal and break between words; what people copy and what programs read stays whole."""

import io
import os

import pytest

from chorus.wrapping import say, say_next, unbroken, wrap

SENTENCE = (
    "chorus: --track needs wandb, which is not usable here (No module named 'wandb'); please install it with "
    '`pip install "chorus-rl[tracking]"`'
)


def test_lines_fit_and_break_between_words():
    lines = wrap(SENTENCE, 80).split("\n")
    assert all(len(line) <= 80 for line in lines)
    assert " ".join(lines) == SENTENCE
    assert any('`pip install "chorus-rl[tracking]"`' in line for line in lines)


def test_paths_stay_whole_and_indents_are_kept():
    path = "/scratch/" + 90 * "x"
    assert path in wrap(f"writing to {path} from now on", 80).split("\n")
    assert wrap("  " + 50 * "ab ", 80).split("\n")[1].startswith("  ab")


@pytest.mark.parametrize("on_terminal", [True, False])
def test_only_terminals_get_broken_lines(monkeypatch, on_terminal):
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return on_terminal

    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((80, 24)))
    stream = Stream()
    say(SENTENCE, stream)
    assert stream.getvalue() == (wrap(SENTENCE, 80) if on_terminal else SENTENCE) + "\n"


def test_the_next_command_is_one_line(monkeypatch, capsys):
    command = "chorus report /scratch/someone/experiments/of/november --export data"
    say_next(command, "a report of every run there")
    assert capsys.readouterr().out == f"next: {command}      a report of every run there\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((80, 24)))
    say_next(command, "a report of every run there")
    assert capsys.readouterr().out == f"next: {command}\n      a report of every run there\n"


@pytest.mark.parametrize("on_terminal", [True, False])
def test_a_command_inside_a_sentence_stays_whole(monkeypatch, on_terminal):
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return on_terminal

    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((80, 24)))
    stream, command = Stream(), "chorus sweep --preset cerl --env MinAtar/Breakout-v1 --seeds 5"
    say(f"\nstopped; 0 of 5 runs have ended, and their checkpoints are kept. Resume with: {unbroken(command)}", stream)
    lines = stream.getvalue().splitlines()
    assert lines[-1] == command if on_terminal else lines[1].endswith(f"kept. Resume with: {command}")
