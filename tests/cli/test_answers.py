"""What commands print of a report."""

from dataclasses import replace

from rich.console import Console

from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.findings import Finding, Summary
from chorus.analysis.shipped import Answer
from chorus.cli.answers import answers_table, print_summary

GAMES = ("MinAtar/SpaceInvaders-v1", "MinAtar/Asterix-v1")
ANSWER = Answer(
    question="Does CERL help the ensemble acting together?",
    compared="a − b",
    group="dqn",
    envs=GAMES[:1],
    verdict="unsettled",
    estimate=IntervalEstimate(0.15, -1.55, 1.84, 10),
    unit="return",
)


def test_notes_that_are_left_out_are_counted(tmp_path, capsys):
    notes = tuple(f"This is note {number}." for number in range(4))
    summary = Summary("a title", tmp_path, 1, ("CartPole-v1",), "none", (), warnings=notes)
    print_summary(summary, most_warnings=2)
    said = capsys.readouterr().out.splitlines()
    assert said[:3] == ["Note: This is note 0.", "Note: This is note 1.", "2 more notes on the page."]
    print_summary(summary)
    assert "more note" not in capsys.readouterr().out


def test_a_question_that_was_not_run_is_said_once(tmp_path, capsys):
    answer = "No CERL was run beside Bootstrapped DQN."
    findings = tuple(Finding(question, "missing", answer) for question in ("Does CERL help?", "Is there a curse?"))
    print_summary(Summary("a title", tmp_path, 1, ("CartPole-v1",), "none", findings))
    said = capsys.readouterr().out
    assert said.count("Does CERL help?") == 1 and f"Does CERL help? {answer}" in said and "verdict" not in said


def printed(answers: list[Answer]) -> list[str]:
    console = Console(width=80)
    with console.capture() as shown:
        console.print(answers_table(answers))
    return [line.rstrip() for line in shown.get().splitlines()]


def test_ids_of_environments_are_whole_headings_in_80_columns():
    head, *rows = printed([ANSWER, ANSWER])
    assert head.startswith(f"in {GAMES[0]} ") and not any("MinAtar" in row for row in rows)
    both = printed([ANSWER, replace(ANSWER, envs=GAMES[1:]), replace(ANSWER, envs=GAMES)])
    assert [line for line in both if line.startswith("in ")] == [*(f"in {env}" for env in GAMES), "in 2 environments"]
