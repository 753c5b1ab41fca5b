"""Undisturbed runs, made once, that everything else in this folder is compared with."""

from functools import partial
from pathlib import Path

import pytest

from killing import kill_at, late_in_the_run
from running import RUNS, background, finished_probe_run, made_once, train


class Undisturbed:
    """Runs by family; the larger ones are trained when they are first asked for."""

    def __init__(self) -> None:
        self._runs: dict[str, Path] = {"probe": finished_probe_run()}

    def __getitem__(self, family: str) -> Path:
        if family not in self._runs:
            self._runs[family] = made_once(family, lambda out: train(out, *RUNS[family], "--seed", "3"))
        return self._runs[family]


@pytest.fixture(scope="session")
def undisturbed() -> Undisturbed:
    return Undisturbed()


@pytest.fixture(scope="session")
def killed(undisturbed: Undisturbed) -> Path:
    """The undisturbed probe run again, killed in its second half; copy it before you touch it."""
    return made_once("killed", partial(kill_late, undisturbed["probe"].name))


def kill_late(name: str, out: Path) -> None:
    process = background("train", *RUNS["probe"], "--seed", "3", "--out", out)
    kill_at(process, out / name, late_in_the_run)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever is first to ask for a run waits for it."""
    for item in items:
        if {"undisturbed", "killed"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
