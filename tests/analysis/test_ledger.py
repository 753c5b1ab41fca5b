"""The ledger: every claim has a study or a test, every check its golden cases, and the command writes what it says."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest
from synthetic_runs import MINATAR, SyntheticRun, write_study

from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.context import make_context
from chorus.analysis.correlation import spearman
from chorus.analysis.effects import Effect
from chorus.analysis.ledger import all_claims, evaluate, to_json, to_markdown
from chorus.analysis.ledger.checks import AtLeast, Contrast, Differs, NoGain, Outcome, combine
from chorus.analysis.ledger.evidence import Evidence
from chorus.analysis.ledger.table import CHECKS, TESTS
from chorus.analysis.loading import load_runs
from chorus.analysis.variants import MEMBERS
from chorus.cli.main import main
from chorus.studies.table import STUDIES

ROOT = Path(__file__).parents[2]


def nobody_settles(*_: object) -> tuple[str, str]:
    return "chorus reproduce figure2", "an hour"


def test_every_claim_is_judged_by_runs_or_shown_by_tests() -> None:
    claims = all_claims()
    assert [claim.number for claim in claims] == list(range(1, 45))
    assert set(CHECKS) | set(TESTS) == set(range(1, 45)) and not set(CHECKS) & set(TESTS)
    for claim in claims:
        assert bool(claim.studies) == (claim.number in CHECKS)
        assert set(claim.studies) <= set(STUDIES)


@pytest.mark.parametrize("node", [node for nodes in TESTS.values() for node in nodes])
def test_the_tests_of_structural_claims_exist(node: str) -> None:
    file, _, name = node.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {part.name for part in tree.body if isinstance(part, ast.FunctionDef)}


CASES = {
    "above": IntervalEstimate(3.0, 1.0, 5.0, 5),
    "below": IntervalEstimate(-3.0, -5.0, -1.0, 5),
    "around": IntervalEstimate(1.0, -2.0, 4.0, 5),
    "level": IntervalEstimate(0.0, -0.4, 0.4, 5),  # within 5 % of 10
}


@pytest.mark.parametrize(
    ("kind", "statuses"),
    [
        (Contrast, ("agrees", "disagrees", "unsettled", "negligible")),
        (NoGain, ("disagrees", "agrees", "unsettled", "agrees")),
        (AtLeast, ("agrees", "disagrees", "unsettled", "agrees")),
        (Differs, ("agrees", "agrees", "unsettled", "disagrees")),
    ],
)
def test_what_each_check_makes_of_an_interval(kind: type[Contrast], statuses: tuple[str, ...]) -> None:
    check = kind(what="", terms=None)
    found = [check.status(Effect((), ("env",), one, 0.01, "return", "mean", (), 10.0)) for one in CASES.values()]
    assert tuple(found) == statuses


@pytest.mark.parametrize(
    ("statuses", "whole"),
    [
        (("agrees", "agrees"), "agrees"),
        (("agrees", "negligible"), "negligible"),
        (("agrees", "unsettled"), "unsettled"),
        (("agrees", "missing"), "unsettled"),
        (("missing", "missing"), "missing"),
        (("agrees", "disagrees"), "disagrees"),
    ],
)
def test_a_claim_agrees_only_if_all_its_checks_do(statuses: tuple[str, ...], whole: str) -> None:
    assert combine([Outcome("", status) for status in statuses]) == whole


def test_a_disagreement_must_hold_for_the_number_of_checks() -> None:
    """0.02 is below 0.05 for one check; for three checks it is 0.06."""
    against = Outcome("", "disagrees", p_value=0.02)
    assert combine([against]) == "disagrees"
    assert combine([against, Outcome("", "agrees"), Outcome("", "agrees")]) == "unsettled"


def test_rank_correlation_has_fishers_interval() -> None:
    # ranks 1 2 3 4 5 6 against 2 1 3 4 5 6: 1 - 6 x 2 / (6 x 35) = 0.942857
    found = spearman([1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 5, 6])
    assert found.value == pytest.approx(0.942857)
    # z = atanh(0.942857) = 1.7634; error sqrt((1 + 0.4445) / 3) = 0.6939; 1.7634 - 1.96 x 0.6939 = 0.4034
    assert found.low == pytest.approx(np.tanh(0.4034), abs=1e-3) and found.high < 1
    assert not spearman([1, 2, 3], [1, 2, 3]).has_interval


def test_runs_of_a_sweep_are_found_by_their_setting(tmp_path: Path) -> None:
    for seed in range(3):
        SyntheticRun(seed=seed).write(tmp_path)
        for size in (2, 10):
            name = f"{size}-{seed}"
            SyntheticRun(preset="bootstrapped-dqn", seed=seed, options={"members": size}, name=name).write(tmp_path)
    evidence = Evidence(make_context(load_runs([tmp_path])), "dqn")
    assert [v.members for v in evidence.line("bootstrapped-dqn", MEMBERS)] == [2, 10]
    assert evidence.line("cerl", MEMBERS) == () and evidence.role("cerl") is None
    ensemble = evidence.role("ensemble")
    assert ensemble is not None and ensemble.variant.members == 10


def test_training_times_are_compared_as_ratios(tmp_path: Path) -> None:
    """Ensembles at 100 steps per second cost 2.5 times as much as a single agent at 250."""
    rates = {"double-dqn": 250.0, "bootstrapped-dqn": 100.0, "cerl": 98.0}
    for preset, rate in rates.items():
        for seed in range(3):
            path = SyntheticRun(preset=preset, seed=seed).write(tmp_path)
            rows = [{"iteration": n, "metric": "charts/SPS", "value": rate + seed} for n in (1, 2, 3)]
            (path / "timings.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    entries = {entry.claim.number: entry for entry in evaluate(load_runs([tmp_path]), nobody_settles)}
    cerl, ensemble = entries[23].outcomes[0], entries[24].outcomes[0]
    assert (
        cerl.status == "agrees" and cerl.estimate is not None and cerl.estimate.value == pytest.approx(1.02, abs=0.01)
    )
    assert ensemble.status == "disagrees" and ensemble.estimate is not None  # 2.5 instead of 1.75
    assert ensemble.estimate.value == pytest.approx(2.5, abs=0.02)


def test_smoke_runs_answer_nothing(tmp_path: Path) -> None:
    write_study(tmp_path, scale="smoke", iteration_steps=2_000, seeds=2)
    entries = evaluate(load_runs([tmp_path]), nobody_settles)
    assert {entry.words for entry in entries} == {"not run", "shown by tests"}


def test_shortened_runs_count_only_where_there_are_no_others(tmp_path: Path) -> None:
    """5 iterations of 20,000 steps are less than the laptop scale's 500,000."""
    write_study(tmp_path / "short", iteration_steps=20_000, iterations=5)
    assert evaluate(load_runs([tmp_path / "short"]), nobody_settles)[0].scale == "laptop, shortened runs"
    write_study(tmp_path / "long")
    both = evaluate(load_runs([tmp_path]), nobody_settles)[0]
    assert both.scale == "laptop" and both.outcomes[0].estimate is not None and both.outcomes[0].estimate.runs == 5


def test_what_is_open_has_a_command_and_its_cost(tmp_path: Path) -> None:
    write_study(tmp_path)
    entries = evaluate(load_runs([tmp_path]), nobody_settles)
    assert all(bool(entry.command) == (entry.words in ("not run", "not settled")) for entry in entries)
    assert entries[0].words == "agrees" and entries[0].scale == "laptop"
    content = json.loads(to_json(entries))
    assert len(content) == 44 and content[0]["checks"][0]["environments"] == list(MINATAR)
    page = to_markdown(entries, "chorus claims runs")
    assert page.count("\n| ") == 45 and "`chorus reproduce figure2` (an hour)" in page


def test_the_command_writes_two_files_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_study(tmp_path / "runs", presets=("double-dqn", "bootstrapped-dqn"), envs=MINATAR[:1])
    assert main(["claims", str(tmp_path / "runs"), "-o", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["claims.json", "claims.md"]
    assert f"claims: {tmp_path / 'out' / 'claims.md'} and claims.json" in said
    assert "44 claims: " in said and said.splitlines()[-1].startswith("next: chorus reproduce ")


def test_a_folder_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", str(tmp_path / "nowhere"), "-o", str(tmp_path / "out")]) == 2
    assert "nowhere is not a folder" in capsys.readouterr().err and not (tmp_path / "out").exists()
