"""The ledger: every claim has a study or a test, every check its golden cases, and the command writes what it says."""

import ast
import json
import re
from pathlib import Path

import numpy as np
import pytest
from ledger_entries import judged, nobody_settles
from synthetic_runs import MINATAR, SyntheticRun, write_study

from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.context import make_context
from chorus.analysis.correlation import spearman
from chorus.analysis.effects import Effect
from chorus.analysis.ledger import all_claims, evaluate, to_json, to_markdown
from chorus.analysis.ledger.checks import AtLeast, Contrast, Differs, NoEffect, NoGain, Outcome, combine
from chorus.analysis.ledger.evidence import Evidence
from chorus.analysis.ledger.table import CHECKS, TESTS
from chorus.analysis.ledger.writing import excluded, in_short
from chorus.analysis.loading import load_runs
from chorus.analysis.variants import MEMBERS
from chorus.cli.claims import settle_command
from chorus.cli.main import main
from chorus.many_runs import claims
from chorus.runs.published import publish
from chorus.studies.study import Study
from chorus.studies.table import STUDIES

ROOT = Path(__file__).parents[2]


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
    "no gain": IntervalEstimate(-1.0, -2.4, 0.4, 5),
    "within": IntervalEstimate(0.3, 0.1, 0.7, 5),
}


@pytest.mark.parametrize(
    ("kind", "statuses"),
    [
        (Contrast, ("agrees", "disagrees", "unsettled", "negligible", "unsettled", "agrees")),
        (NoGain, ("disagrees", "agrees", "unsettled", "agrees", "agrees", "disagrees")),
        (NoEffect, ("disagrees", "disagrees", "unsettled", "agrees", "unsettled", "unsettled")),
        (AtLeast, ("agrees", "disagrees", "unsettled", "agrees", "unsettled", "agrees")),
        (Differs, ("agrees", "agrees", "unsettled", "disagrees", "unsettled", "agrees")),
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
        for size in (1, 2, 10):  # an ensemble of one has no vote
            name = f"{size}-{seed}"
            SyntheticRun(preset="bootstrapped-dqn", seed=seed, options={"members": size}, name=name).write(tmp_path)
    evidence = Evidence(make_context(load_runs([tmp_path])), "dqn")
    assert [v.members for v in evidence.line("bootstrapped-dqn", MEMBERS)] == [2, 10]
    assert evidence.line("cerl", MEMBERS) == () and evidence.role("cerl") is None
    ensemble = evidence.role("ensemble")
    assert ensemble is not None and ensemble.variant.members == 10
    assert evidence.single is not None and evidence.single.label == "Double DQN"


def test_what_is_open_has_a_command_and_its_cost(tmp_path: Path) -> None:
    write_study(tmp_path)
    entries = evaluate(load_runs([tmp_path]), nobody_settles)
    assert all(bool(entry.command) == (entry.words in ("not run", "not settled")) for entry in entries)
    assert entries[0].words == "agrees" and entries[0].scale == "laptop"
    content = json.loads(to_json(entries))
    assert len(content) == 44 and content[0]["checks"][0]["environments"] == list(MINATAR)
    page = to_markdown(entries, "chorus claims runs")
    assert page.count("\n| ") == 46 and "`chorus reproduce figure2` (an hour)" in page


@pytest.mark.slow
def test_an_open_claim_shows_no_settled_number(tmp_path: Path) -> None:
    """Claim 17 agrees for games; its tasks were not run."""
    write_study(tmp_path)
    found = judged(tmp_path, 17)
    assert {outcome.status for outcome in found.outcomes} == {"agrees", "missing"}
    assert found.words == "not settled" and found.deciding is not None
    assert found.deciding.estimate is None and found.deciding.note == "3 of 6 checks were not run"
    assert "3 of 6 checks were not run" in to_markdown([found], "")


def test_what_is_excluded_has_two_digits_and_no_exponent() -> None:
    assert excluded(IntervalEstimate(8.0, -97.2, 113.4, 3), "return") == "below -97 and above +110"
    assert excluded(IntervalEstimate(1.2, 0.86, 1.39, 3), "ratio of training times") == "below 0.86 and above 1.4"


@pytest.mark.long
def test_the_command_writes_two_files_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_study(tmp_path / "runs", presets=("double-dqn", "bootstrapped-dqn"), envs=MINATAR[:1])
    assert main(["claims", str(tmp_path / "runs"), "-o", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["claims.json", "claims.md"]
    assert f"claims: {tmp_path / 'out' / 'claims.md'} and claims.json" in said
    assert "44 claims: " in said and said.splitlines()[-1].startswith("next: chorus reproduce ")


@pytest.mark.slow
def test_nothing_is_written_between_published_runs_nor_proposed_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one folder of published runs and with a folder of such folders."""
    out_of: list[Path] = []
    monkeypatch.setattr("chorus.cli.claims.settle_command", lambda out: out_of.append(out) or nobody_settles)
    monkeypatch.chdir(tmp_path)
    own = write_study(tmp_path / "own", presets=("double-dqn", "bootstrapped-dqn"), envs=MINATAR[:1])
    for run in own.iterdir():
        publish(run, tmp_path / "shipped" / "minatar")
    before = sorted((tmp_path / "shipped").rglob("*"))
    for folder in ("shipped", "shipped/minatar"):
        assert main(["claims", folder]) == 0
        assert f"claims: runs/reports/claims-{Path(folder).name}/claims.md and" in capsys.readouterr().out
    assert main(["claims", "own", "shipped"]) == 0 and (tmp_path / "own" / "reports" / "claims" / "claims.md").exists()
    assert sorted((tmp_path / "shipped").rglob("*")) == before and out_of == [Path("runs"), Path("runs"), Path("own")]


@pytest.mark.long
def test_the_command_of_an_open_claim_leads_on() -> None:
    """The next study of several, then more seeds; games that only Atari has at the paper scale."""
    claims = {claim.number: claim for claim in all_claims()}
    assert claims[8].scale == claims[41].scale == "paper" and claims[1].scale is None
    entries = {entry.claim.number: entry for entry in evaluate(None, settle_command(Path("nowhere")))}
    assert entries[41].command == "chorus reproduce figure2 --scale paper --out nowhere"
    assert entries[1].command == "chorus reproduce figure2 --out nowhere"


def test_a_study_whose_runs_are_there_is_not_proposed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    present = {("figure26", None)}

    def standing(study: Study, out: Path, scale: str, device: str | None, known: object, seeds: int | None) -> object:
        return "some", "nothing" if (study.name, seeds) in present else "an hour"

    monkeypatch.setattr("chorus.cli.list.standing", standing)
    claim = all_claims()[36]
    assert settle_command(Path("runs"))(claim, "laptop", None) == ("chorus reproduce figure25", "an hour")
    present.add(("figure25", None))
    assert settle_command(Path("runs"))(claim, "laptop", None)[0] == "chorus reproduce figure26 --seeds 8"


def test_a_folder_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", str(tmp_path / "nowhere"), "-o", str(tmp_path / "out")]) == 2
    assert "nowhere is not a folder" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_commands_name_a_scale_that_is_not_the_default(tmp_path: Path) -> None:
    """Claim 41 needs more games than MinAtar has."""
    write_study(tmp_path, envs=MINATAR[:1], seeds=1)
    entries = {entry.claim.number: entry for entry in evaluate(load_runs([tmp_path]))}
    assert entries[41].command == "chorus reproduce figure2 --scale paper"
    assert entries[16].command == "chorus reproduce figure18"


def test_in_short_names_a_single_environment_and_the_range_of_seeds(tmp_path: Path) -> None:
    usual = ("double-dqn", "bootstrapped-dqn")
    write_study(tmp_path / "first", presets=usual, envs=MINATAR[:1], seeds=3)
    line = in_short(evaluate(load_runs([tmp_path])))
    assert re.search(rf"\*\*3\.\*\* .* \(3 seeds, {MINATAR[0]}, laptop\)", line)
    write_study(tmp_path / "second", presets=usual, envs=MINATAR[1:2], seeds=5)
    line = in_short(evaluate(load_runs([tmp_path])))
    assert re.search(
        r"\*\*3\.\*\* .*; expected sign in 2 of 2 environments \(3 to 5 seeds, 2 environments, laptop\)", line
    )


def test_in_short_says_why_a_settled_number_settles_nothing(tmp_path: Path) -> None:
    """Claim 5 is about some tasks and not all, so one task cannot settle it."""
    for preset, level in (("sac", 10.0), ("ensemble-sac", 15.0)):
        for seed in range(5):
            own = {"individual": level + 0.1 * seed, "aggregate": level + 0.1 * seed}
            SyntheticRun(preset, "Hopper-v4", seed, own).write(tmp_path)
    assert "return; it takes at least two environments (5 seeds, Hopper-v4" in in_short(evaluate(load_runs([tmp_path])))


def test_a_folder_with_nothing_but_reports_has_no_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `chorus claims` wrote about published runs must not be taken for one's own runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "reports" / "claims-results").mkdir(parents=True)
    monkeypatch.setattr("chorus.cli.claims.settle_command", lambda out: nobody_settles)
    assert main(["claims"]) == 0
    assert {entry.words for entry in claims()} == {"not run", "shown by tests"}
