"""One small finished run that the commands of this folder read."""

from pathlib import Path

import pytest

from chorus.cli.main import main
from running import RUNS


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("finished")
    assert main(["train", *RUNS["probe"], "--seed", "3", "--out", str(out), "--quiet"]) == 0
    (run,) = out.iterdir()
    return run
