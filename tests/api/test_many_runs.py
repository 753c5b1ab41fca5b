"""`chorus.sweep`, `chorus.diagnose` and `chorus.report`: wrong arguments are refused before anything is planned."""

import numpy as np
import pytest

import chorus
from chorus.scheduling.jobs import Job


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"members": 3}, "'members' is no option of an engine; did you mean settings={'members': ...}?"),
        ({"membres": 3}, "'membres' is no option of an engine; did you mean settings={'members': ...}?"),
        ({"partitoin": "cpu"}, "'partitoin' is no option of an engine; did you mean partition?"),
        ({"partition": "cpu"}, "--partition cpu means nothing to the engine local; add --engine slurm"),
        ({"engine": "slrm"}, "the engine 'slrm' is not known; did you mean 'slurm'?"),
        ({"workers": "two"}, "workers is 'two'; it must be a whole number"),
        ({"settings": {"members": []}}, "settings has no value for members; give one or more"),
        ({"seeds": [0.5]}, "seeds is [0.5]; give a number of seeds"),
    ],
    ids=str,
)
def test_wrong_sweeps_are_refused_even_if_all_runs_have_ended(tmp_path, monkeypatch, wrong, sentence):
    monkeypatch.setattr(Job, "has_ended", True)
    with pytest.raises(chorus.ChorusError) as refused:
        chorus.sweep("cerl", "Probe/Discount-v0", **{"scale": "smoke", "out": tmp_path / "out", **wrong})
    assert sentence in str(refused.value)


def test_seeds_may_be_numpys(tmp_path, monkeypatch):
    monkeypatch.setattr(Job, "has_ended", True)
    runs = chorus.sweep("double-dqn", "Probe/Discount-v0", np.arange(3, 5), scale="smoke", out=tmp_path)
    assert [run.name for run in runs] == [f"Probe-Discount-v0__double-dqn__smoke__s{seed}" for seed in (3, 4)]


def test_no_runs_are_not_reported():
    with pytest.raises(chorus.ChorusError, match="runs is empty; give a run"):
        chorus.report([])
