"""The flat Double DQN stands alone, runs, and explains its options."""

import ast
import os
import subprocess
import sys

import pytest

from builders import REPOSITORY

FILE = REPOSITORY / "examples" / "double_dqn_flat.py"


def run(*arguments):
    command = [sys.executable, str(FILE), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ).stdout


def test_it_imports_nothing_of_chorus():
    tree = ast.parse(FILE.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    roots = {(getattr(node, "module", None) or node.names[0].name).split(".")[0] for node in imports}
    assert roots - sys.stdlib_module_names == {"gymnasium", "jax", "numpy", "optax"}


@pytest.mark.slow
def test_every_option_says_what_it_means():
    text = " ".join(run("--help").split())
    assert "agent steps for each update (default 4)" in text
    assert text.count("(default ") == 14


@pytest.mark.long
def test_a_tiny_run_plays_and_learns():
    lines = run("--total-steps", "2000").splitlines()
    assert len(lines) > 20
    assert lines[-1].startswith("step") and "return" in lines[-1]
