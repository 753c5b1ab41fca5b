"""What tests of several engines share."""

import pytest

from chorus.scheduling.engines import local
from warm import own_server, workers_of


@pytest.fixture
def warm_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of local engines in this process are forked from one that has imported everything."""
    monkeypatch.setattr(local, "subprocess", workers_of(own_server))
