"""The built wheel, installed into an empty environment, is a working Chorus: the README's example runs there."""

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from running import environment

ROOT = Path(__file__).parents[2]
UNREACHABLE = ("Could not find a version", "No matching distribution", "ConnectionError", "Temporary failure in name")


def run(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess:
    # Without PYTHONPATH, or the sources of the clone would be found before the wheel.
    return subprocess.run(
        list(map(str, words)),
        cwd=cwd,
        env=environment(PYTHONPATH=None),
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment with the wheel; its dependencies are those installed here."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    built = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, source, cwd=folder)
    if built.returncode != 0 and any(words in built.stderr for words in UNREACHABLE):
        pytest.skip("no package index can be reached, and building a wheel installs setuptools from one")
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("chorus_rl-*.whl")
    made = run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    assert made.returncode == 0, made.stderr
    python = folder / "venv" / "bin" / "python"
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    installed = run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", wheel, cwd=folder)
    assert installed.returncode == 0, installed.stderr
    return python


@pytest.mark.long
def test_the_readmes_example_runs_with_the_wheel(python: Path, tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    done = run(python, "-c", f"{example}\nprint(chorus.__file__, action)", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    file, action = done.stdout.splitlines()[-1].split()
    assert Path(file).is_relative_to(python.parents[1]), "the example imports the wheel, not the clone"
    assert action in ("0", "1")


@pytest.mark.slow
def test_the_wheel_has_the_command_and_the_data_of_reports(python: Path, tmp_path: Path) -> None:
    done = run(python.parent / "chorus", "--version", cwd=tmp_path)
    assert done.returncode == 0 and re.fullmatch(r"chorus \d+\.\d+\.\d+\S*\n", done.stdout), done.stderr
    (package,) = python.parents[1].glob("lib/python*/site-packages/chorus")
    shipped = {str(path.relative_to(package)) for path in package.rglob("*") if path.suffix not in (".py", ".pyc")}
    source = ROOT / "src" / "chorus"
    wanted = {str(path.relative_to(source)) for path in source.rglob("*") if path.suffix not in (".py", ".pyc")}
    assert {name for name in wanted if (source / name).is_file()} <= shipped
