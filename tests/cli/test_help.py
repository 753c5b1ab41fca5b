"""Help answers at once and explains every option."""

import argparse
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from chorus.cli.main import COMMANDS, build_parser, main
from chorus.config.options import options
from running import environment


def options_of(command: str) -> list[argparse.Action]:
    parser = argparse.ArgumentParser(add_help=False)
    importlib.import_module(COMMANDS[command][0]).configure(parser, (command, "--help"))
    return parser._actions


EVERY_OPTION = [
    pytest.param(action, id=f"{command} {action.option_strings[0] if action.option_strings else action.dest}")
    for command in COMMANDS
    for action in options_of(command)
]


@pytest.mark.parametrize("action", EVERY_OPTION)
def test_every_option_says_what_it_means_and_its_default(action):
    assert action.help and len(action.help.split()) >= 3
    takes_a_value = action.option_strings and action.nargs != 0
    if takes_a_value:
        assert re.search(r"\(default: .+\)", action.help.replace("\n", " ")), action.help
        assert "the scale's" not in action.help and "with the )" not in action.help
        assert action.metavar or action.choices


@pytest.mark.parametrize(
    ("option", "unit"),
    [
        ("--total-steps", "agent steps"),
        ("--iteration-steps", "agent steps"),
        ("--learning-starts", "agent steps"),
        ("--max-episode-steps", "agent steps"),
        ("--epsilon-decay", "agent steps"),
        ("--update-period", "agent steps"),
        ("--target-period", "gradient steps"),
        ("--buffer-size", "transitions"),
        ("--batch-size", "transitions"),
        ("--eval-episodes", "episodes"),
        ("--num-envs", "environments"),
        ("--discount", "0 to 1"),
        ("--passive-share", "0 to 1"),
    ],
)
def test_help_names_units(option, unit):
    (action,) = (action for action in options_of("train") if option in action.option_strings)
    assert unit in action.help


def test_every_setting_with_a_flag_is_an_option_of_train():
    offered = {option for action in options_of("train") for option in action.option_strings}
    assert {f"--{setting.flag}" for setting in options().values()} <= offered


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_prints_its_help(capsys, command):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out
    assert f"usage: chorus {command}" in text
    for action in options_of(command):
        for option in action.option_strings:
            assert option in text


def test_without_a_command_the_help_shows_all_of_them(capsys):
    assert main([]) == 0
    text = capsys.readouterr().out
    for command, (_, summary) in COMMANDS.items():
        assert f"    {command:<12}{summary}\n" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_the_demo_says_how_long_it_takes_on_the_slowest_measured_processor(capsys):
    page = (Path(__file__).parents[2] / "docs" / "demo.md").read_text(encoding="utf-8")
    table = page.split("## How long it takes")[1].split("##")[0]
    minutes = [row.split("|")[3] for row in table.splitlines() if row.startswith("| ")][1:]
    most = max(round(float(number)) for cell in minutes for number in re.findall(r"[\d.]+", cell))
    with pytest.raises(SystemExit):
        main(["demo", "--help"])
    assert f"up to {most} on older ones with AVX2 only" in " ".join(capsys.readouterr().out.split())
    assert f"to {most} minutes" in COMMANDS["demo"][1]


def test_the_version_is_the_packages(capsys):
    from importlib.metadata import version

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"chorus {version('chorus-rl')}\n"


def test_only_the_command_that_is_asked_for_brings_its_options():
    parser = build_parser("list")
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    assert "--out" in commands.choices["list"].format_help()
    assert "--out" not in commands.choices["train"].format_help()


def test_help_does_not_wait_for_jax():
    program = "import sys; from chorus.cli.main import main; main([]); sys.exit('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment())
    assert done.returncode == 0, done.stderr
