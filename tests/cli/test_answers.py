"""What commands print of a report."""

from chorus.analysis.findings import Summary
from chorus.cli.answers import print_summary


def test_notes_that_are_left_out_are_counted(tmp_path, capsys):
    notes = tuple(f"This is note {number}." for number in range(4))
    summary = Summary("a title", tmp_path, 1, ("CartPole-v1",), "none", (), warnings=notes)
    print_summary(summary, most_warnings=2)
    said = capsys.readouterr().out.splitlines()
    assert said[:3] == ["Note: This is note 0.", "Note: This is note 1.", "2 more notes on the page."]
    print_summary(summary)
    assert "more note" not in capsys.readouterr().out
