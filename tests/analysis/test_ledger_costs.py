"""Claims about training times: which times are compared with which."""

import json
from pathlib import Path

import pytest
from ledger_entries import judged, nobody_settles
from synthetic_runs import MINATAR, SyntheticRun

from chorus.analysis.ledger import evaluate
from chorus.analysis.loading import load_runs


def test_training_times_are_compared_as_ratios(tmp_path: Path) -> None:
    """Ensembles at 100 steps per second cost 2.5 times as much as a single agent at 250."""
    rates = {"double-dqn": 250.0, "bootstrapped-dqn": 100.0, "cerl": 98.0}
    for preset, rate in rates.items():
        for seed in range(3):
            timed(SyntheticRun(preset=preset, seed=seed).write(tmp_path), rate + seed)
    entries = {entry.claim.number: entry for entry in evaluate(load_runs([tmp_path]), nobody_settles)}
    cerl, ensemble = entries[23].outcomes[0], entries[24].outcomes[0]
    assert (
        cerl.status == "agrees" and cerl.estimate is not None and cerl.estimate.value == pytest.approx(1.02, abs=0.01)
    )
    assert ensemble.status == "disagrees" and ensemble.estimate is not None  # 2.5 instead of 1.75
    assert ensemble.estimate.value == pytest.approx(2.5, abs=0.02)


def test_training_times_are_compared_in_the_same_environments(tmp_path: Path) -> None:
    """CERL was also run in a game that is four times as slow; in the common game it costs the same."""
    for preset, envs in (("bootstrapped-dqn", MINATAR[:1]), ("cerl", MINATAR[:2])):
        for number, env in enumerate(envs):
            for seed in range(3):
                timed(SyntheticRun(preset=preset, env=env, seed=seed).write(tmp_path), (100.0 + seed) / 4**number)
    outcome = judged(tmp_path, 23).outcomes[0]
    assert outcome.envs == MINATAR[:1] and outcome.estimate is not None
    assert outcome.status == "agrees" and outcome.estimate.value == pytest.approx(1.0)


@pytest.mark.parametrize(("seeds", "used"), [(4, 3), (2, 1)])
def test_training_times_are_those_of_the_processor_where_they_were_recorded(
    tmp_path: Path, seeds: int, used: int
) -> None:
    """By the clock CERL took ten times as long, beside other work; seed 0 has no processor time and is left out."""
    for preset, waited in (("bootstrapped-dqn", 1.0), ("cerl", 10.0)):
        for seed in range(seeds):
            cpu = {"time/train_seconds": waited, "system/train_cpu_seconds": 0.5} if seed else {}
            timed(SyntheticRun(preset=preset, seed=seed).write(tmp_path), 100.0 / waited, **cpu)
    outcome = judged(tmp_path, 23).outcomes[0]
    assert outcome.estimate is not None and outcome.estimate.value == pytest.approx(1.0)
    assert outcome.estimate.runs == used


def test_training_times_are_compared_on_the_same_kind_of_processor(tmp_path: Path) -> None:
    """On the slow processor it is even; on the fast one CERL took twice as long, and in the runs that did not record
    theirs, which are the most, ten times as long."""
    for preset in ("bootstrapped-dqn", "cerl"):
        for seed, kind in enumerate((None, None, None, None, "slow", "slow", "slow", "fast")):
            path = SyntheticRun(preset=preset, seed=seed).write(tmp_path)
            meta = json.loads((path / "meta.json").read_text()) | {"processor": kind}
            (path / "meta.json").write_text(json.dumps(meta))
            waited = {"slow": 1.0, "fast": 2.0, None: 10.0}[kind] if preset == "cerl" else 1.0
            timed(path, (100.0 + seed) / waited)
    outcome = judged(tmp_path, 23).outcomes[0]
    assert outcome.estimate is not None and outcome.estimate.runs == 3
    assert outcome.estimate.value == pytest.approx(1.0, abs=0.02)


def test_a_first_timed_run_in_a_second_game_hides_nothing(tmp_path: Path) -> None:
    for preset in ("bootstrapped-dqn", "cerl"):
        for seed in range(3):
            timed(SyntheticRun(preset, MINATAR[0], seed).write(tmp_path), 100.0 + seed)
        timed(SyntheticRun(preset, MINATAR[1]).write(tmp_path), 10.0)
    outcome = judged(tmp_path, 23).outcomes[0]
    assert outcome.status == "agrees" and outcome.envs == MINATAR[:1]


def timed(run: Path, rate: float, **seconds: float) -> None:
    """Timings of three iterations at this many steps per second."""
    values = {"charts/SPS": rate} | seconds
    rows = [{"iteration": n, "metric": name, "value": v} for n in (1, 2, 3) for name, v in values.items()]
    (run / "timings.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
