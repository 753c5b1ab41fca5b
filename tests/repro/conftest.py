"""Undisturbed runs, made once, that everything else in this folder is compared with."""

from pathlib import Path

import pytest

from killing import kill_at, late_in_the_run
from running import RUNS, background, finished_probe_run, train


class Undisturbed:
    """Runs by family; the larger ones are trained when they are first asked for."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._runs: dict[str, Path] = {"probe": finished_probe_run()}

    def __getitem__(self, family: str) -> Path:
        if family not in self._runs:
            self._runs[family] = train(self._out, *RUNS[family], "--seed", "3")
        return self._runs[family]


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return Undisturbed(tmp_path_factory.mktemp("undisturbed"))


@pytest.fixture(scope="session")
def killed(undisturbed: Undisturbed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The undisturbed probe run again, killed in its second half; copy it before you touch it."""
    out = tmp_path_factory.mktemp("killed")
    run = out / undisturbed["probe"].name
    process = background("train", *RUNS["probe"], "--seed", "3", "--out", out)
    kill_at(process, run, late_in_the_run)
    return run
