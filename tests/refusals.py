"""What a command answers to wrong input."""

import pytest

from chorus.cli.main import main


def assert_refused(arguments: list[str], capsys: pytest.CaptureFixture, *parts: str) -> None:
    """The command must answer in one line that contains every part."""
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("chorus: "), said.err
    for part in parts:
        assert part in lines[0]
