"""The commands and the Python of the documentation run, at a size a test can afford."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from chorus.cli.main import COMMANDS, build_parser, main, plugins_in
from chorus.cli.train_options import request_from
from chorus.config.resolution import resolve
from chorus.plugins import load_plugins

ROOT = Path(__file__).parents[2]
# Commands of many runs, each with a --dry-run.
GRIDS = ("demo", "diagnose", "reproduce", "sweep")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands() -> list[str]:
    """Every line of the documentation that is a chorus command, without its comment."""
    lines = [line for page in PAGES for line in page.read_text(encoding="utf-8").splitlines()]
    return sorted({line.split("#")[0].strip() for line in lines if re.match(r"(\$ )?chorus [a-z]", line)})


def words_of(line: str) -> list[str]:
    return shlex.split(line.removeprefix("$ "))[1:]


def grids() -> list[Any]:
    """Commands of many runs, but for those with an environment that the reader is to have.

    A sweep names options that nothing else checks; the grids of the others have tests of their own.
    """
    lines = [line for line in commands() if words_of(line)[0] in GRIDS and "my_package" not in line]
    return [pytest.param(line, marks=() if words_of(line)[0] == "sweep" else pytest.mark.long) for line in lines]


def python_blocks() -> list[tuple[str, str]]:
    # The blocks of the tutorial are one plugin, with a test of its own; the README's example is run with the wheel.
    elsewhere = ("extending.md", "README.md")
    found = [(page, page.read_text(encoding="utf-8")) for page in PAGES if page.name not in elsewhere]
    return [(page.name, block) for page, text in found for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]


@pytest.mark.parametrize("line", commands())
def test_documented_commands_are_valid(line: str) -> None:
    """Each parses; those that train resolve to a configuration."""
    words = words_of(line)
    assert words[0] in COMMANDS
    plugins, words = plugins_in(words)
    load_plugins(plugins)
    args, unknown = build_parser(words[0]).parse_known_args(words)
    assert not unknown
    if words[0] == "train":
        assert resolve(request_from(args)).config.preset == words[1]


@pytest.mark.slow
@pytest.mark.parametrize("line", grids())
def test_documented_grids_can_be_planned(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every run of theirs resolves to a configuration, and nothing is written."""
    assert main([*words_of(line), "--dry-run", "--out", str(tmp_path)]) == 0
    assert " runs, 0 already ended" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [["list"], ["list", "scales"], ["show", "cerl"], ["show", "ensemble-sac-cerl"]], ids=" ".join
)
def test_commands_that_only_print_run(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize(("page", "block"), python_blocks(), ids=[page for page, _ in python_blocks()])
def test_python_of_the_documentation_runs(
    page: str, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {"__name__": "documentation"}
    exec(compile(block, page, "exec"), scope)
    assert "action" in scope or scope["result"].exit_code == 0
