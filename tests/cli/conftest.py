"""One small finished run that the commands of this folder read."""

from pathlib import Path

import pytest

from running import finished_probe_run


@pytest.fixture(scope="session")
def finished() -> Path:
    return finished_probe_run()
