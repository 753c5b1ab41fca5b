"""The examples of docs/report.md run on real folders, and its list of options is the command's."""

import argparse
import re
from pathlib import Path

import pytest
from synthetic_runs import write_study

from chorus.analysis.figures import __all__ as figure_functions
from chorus.cli import report as command

PAGE = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    write_study(tmp_path / "runs", seeds=2, presets=("double-dqn", "bootstrapped-dqn"), envs=("CartPole-v1",))
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```py\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        exec(compile(example, "docs/report.md", "exec"), {"__name__": "documentation"})
    assert "Is there a curse of diversity?" in capsys.readouterr().out
    assert (tmp_path / "report.html").exists() and (tmp_path / "figure2-gains-over-single.pdf").exists()


def test_every_option_is_in_the_table() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    command.configure(parser, ())
    options = {action.option_strings[0] for action in parser._actions if action.option_strings}
    assert options == set(re.findall(r"^\| `(-[-\w]+)", PAGE, flags=re.MULTILINE))


def test_every_figure_function_it_names_exists() -> None:
    table = PAGE[PAGE.index("| figures | drawn by |") : PAGE.index("Every function takes data")]
    named = set(re.findall(r"`(?:figures\.)?(\w+)`", table))
    assert named and named <= set(figure_functions)
