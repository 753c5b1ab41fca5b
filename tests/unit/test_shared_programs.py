"""Runs that share their programs in tests write what runs with programs of their own write."""

import pytest

import shared_programs
from chorus.cli.main import main
from running import RUNS, logs


@pytest.mark.long
def test_shared_programs_change_no_byte(tmp_path):
    written = {}
    # The seed before leaves its programs to the next one; the last run makes its own.
    for name, seed, allowed in (("before", "4", True), ("shared", "3", True), ("own", "3", False)):
        shared_programs.share(allowed)
        assert main(["train", *RUNS["probe"], "--seed", seed, "--out", str(tmp_path / name), "--quiet"]) == 0
        (run,) = (tmp_path / name).iterdir()
        written[name] = logs(run)
    assert written["shared"] == written["own"] != written["before"]
