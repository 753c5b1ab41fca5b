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
from chorus.analysis.ledger import Entry, all_claims, evaluate, to_json, to_markdown
from chorus.analysis.ledger.checks import AtLeast, Contrast, Differs, NoEffect, NoGain, Outcome, combine
from chorus.analysis.ledger.evidence import Evidence
from chorus.analysis.ledger.table import CHECKS, TESTS
from chorus.analysis.ledger.writing import excluded
from chorus.analysis.loading import load_runs
from chorus.analysis.variants import MEMBERS
from chorus.cli.claims import settle_command
from chorus.cli.main import main
from chorus.envs.atari_games import games, named_sets, reference_scores
from chorus.studies.study import Study
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


def levels(parent: Path, single: dict[str, float], ensemble: dict[str, dict[str, float]]) -> None:
    """Runs of five seeds with these levels of single agent and ensemble in each environment."""
    for env, level in single.items():
        for seed in range(5):
            noise = 0.1 * (seed - 2)
            SyntheticRun(env=env, seed=seed, level={"individual": level + noise}).write(parent)
            own = {policy: value + noise for policy, value in ensemble[env].items()}
            SyntheticRun(preset="bootstrapped-dqn", env=env, seed=seed, level=own).write(parent)


def judged(parent: Path, number: int) -> Entry:
    return evaluate(load_runs([parent]), nobody_settles)[number - 1]


def test_environments_that_disagree_settle_a_claim_about_most_of_them(tmp_path: Path) -> None:
    """Where the vote is better, the members are so too in two of two games, although over all games it is even."""
    better, worse = {"individual": 15.0, "aggregate": 16.0}, {"individual": 5.0, "aggregate": 6.0}
    single = dict.fromkeys((*MINATAR, "MinAtar/Freeway-v1"), 10.0)
    levels(tmp_path, single, {env: better if number % 2 else worse for number, env in enumerate(single)})
    found = judged(tmp_path, 4)
    assert found.outcomes[0].note == "in 0 of 2 environments where it applies"
    assert found.words == "disagrees"


def test_settings_that_change_nothing_contradict_that_they_matter(tmp_path: Path) -> None:
    """Claim 44: the curse is the same with every value, so that its change has no small p-value."""
    options = ({}, {"epsilon_decay": 16_000}, {"optimizer_epsilon": 1.5e-2})
    for number, option in enumerate(options):
        for seed in range(5):
            wiggle = 0.02 * ((seed * (number + 2)) % 5)
            name = f"{number}-{seed}"
            level = {"individual": 10.0 + wiggle}
            SyntheticRun(seed=seed, level=level, options=option, name=f"single-{name}").write(tmp_path)
            SyntheticRun(
                preset="bootstrapped-dqn", seed=seed, level=level, options=option, name=f"ensemble-{name}"
            ).write(tmp_path)
    assert judged(tmp_path, 44).words == "disagrees"


def test_a_gap_that_never_was_is_not_given_back(tmp_path: Path) -> None:
    """Claim 18: members with CERL are the best of all, but plain members did not lose anything."""
    for preset, level in (("sac", 10.0), ("ensemble-sac", 11.0), ("ensemble-sac-cerl", 15.0)):
        for seed in range(5):
            one = SyntheticRun(preset=preset, env="Hopper-v4", seed=seed, level={"individual": level + 0.1 * seed})
            one.write(tmp_path)
    assert judged(tmp_path, 18).words == "disagrees"


@pytest.mark.slow
def test_gaps_are_ranked_in_multiples_of_the_single_agent(tmp_path: Path) -> None:
    """The gaps rise together from 0.1 to 0.6 of scores between 10 and 1,000; the last passive member scores nothing."""
    envs = [f"Custom/Game{number}-v0" for number in range(1, 7)]
    for number, env in enumerate(envs, 1):
        top = (10.0, 1_000.0)[number % 2]
        low = top * (1 - number / 10)
        for seed in range(3):
            for preset, level in (
                ("double-dqn", {"individual": top}),
                ("bootstrapped-dqn", {"individual": low}),
                ("tandem", {"active": top, "passive": low if number < 6 else -top}),
            ):
                SyntheticRun(preset=preset, env=env, seed=seed, level=level).write(tmp_path)
    found = judged(tmp_path, 8)
    assert found.words == "agrees" and found.outcomes[0].estimate is not None
    assert found.outcomes[0].estimate.value == pytest.approx(1.0)


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


def test_smoke_runs_answer_nothing(tmp_path: Path) -> None:
    write_study(tmp_path, scale="smoke", iteration_steps=2_000, seeds=2)
    entries = evaluate(load_runs([tmp_path]), nobody_settles)
    assert {entry.words for entry in entries} == {"not run", "shown by tests"}


@pytest.mark.slow
def test_shortened_runs_count_only_where_there_are_no_others(tmp_path: Path) -> None:
    """5 iterations of 20,000 steps are less than the laptop scale's 500,000."""
    write_study(tmp_path / "short", iteration_steps=20_000, iterations=5)
    assert evaluate(load_runs([tmp_path / "short"]), nobody_settles)[0].scale == "laptop, shortened runs"
    write_study(tmp_path / "long")
    both = evaluate(load_runs([tmp_path]), nobody_settles)[0]
    assert both.scale == "laptop" and both.outcomes[0].estimate is not None and both.outcomes[0].estimate.runs == 5


@pytest.mark.slow
def test_a_single_longer_run_does_not_hide_what_shorter_ones_settled(tmp_path: Path) -> None:
    write_study(tmp_path / "short", iteration_steps=20_000, iterations=5)
    write_study(tmp_path / "long", seeds=1)
    found = evaluate(load_runs([tmp_path]), nobody_settles)[0]
    assert found.scale == "laptop, shortened runs" and found.status == "agrees"


def test_each_check_is_judged_where_it_has_enough_seeds(tmp_path: Path) -> None:
    """Claim 37: whole runs of MH, a first one of MICo, and many shortened ones of MICo."""
    usual = ("double-dqn", "bootstrapped-dqn")
    write_study(tmp_path / "whole", presets=(*usual, "bootstrapped-dqn-mh"), envs=MINATAR[:1])
    write_study(tmp_path / "first", presets=("bootstrapped-dqn-mico",), envs=MINATAR[:1], seeds=1)
    short = (*usual, "bootstrapped-dqn-mico", "bootstrapped-dqn-mh")
    write_study(tmp_path / "short", presets=short, envs=MINATAR[:1], iteration_steps=20_000, iterations=5)
    outcomes = {outcome.what: outcome for outcome in judged(tmp_path, 37).outcomes}
    assert outcomes["bootstrapped-dqn-mh − plain, members"].scale == "laptop"
    assert outcomes["bootstrapped-dqn-mico − plain, members"].scale == "laptop, shortened runs"
    assert outcomes["MICo − single agent"].status == "missing"


def test_a_first_seed_in_a_second_game_does_not_hide_what_many_settled_in_the_first(tmp_path: Path) -> None:
    usual = ("double-dqn", "bootstrapped-dqn")
    write_study(tmp_path / "first", presets=usual, envs=MINATAR[:1])
    write_study(tmp_path / "second", presets=usual, envs=MINATAR[1:2], seeds=1)
    found = judged(tmp_path, 1)
    assert found.status == "agrees" and {outcome.envs for outcome in found.outcomes} == {MINATAR[:1]}


def test_shortened_runs_do_not_say_how_many_whole_ones_are_needed(tmp_path: Path) -> None:
    """Three seeds leave the tandem open; how many would settle it follows from whole runs only."""

    def asked() -> set[int | None]:
        found: list[int | None] = []
        evaluate(load_runs([tmp_path]), lambda claim, scale, seeds: (found.append(seeds), ("", ""))[1])
        return set(found)

    for iterations, folder in ((5, "short"), (12, "whole")):
        for seed, passive in enumerate((8.0, 9.0, 10.2)):
            level = {"active": 10.0, "passive": passive}
            SyntheticRun("tandem", seed=seed, level=level, iterations=iterations).write(tmp_path / folder)
        assert (asked() == {None}) == (folder == "short")


@pytest.mark.slow
def test_games_and_tasks_are_judged_each_where_they_were_run(tmp_path: Path) -> None:
    """Claim 17 is about both: whole runs of the games, shortened ones of a task."""
    write_study(tmp_path / "games")
    presets = ("sac", "ensemble-sac", "ensemble-sac-cerl")
    write_study(tmp_path / "tasks", presets=presets, envs=("Hopper-v4",), iteration_steps=2_000, iterations=5)
    found = judged(tmp_path, 17)
    assert found.scale == "laptop; laptop, shortened runs"
    assert len(found.outcomes) == 6 and {outcome.envs for outcome in found.outcomes} == {MINATAR, ("Hopper-v4",)}


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


def status_of(number: int, folder: Path) -> str:
    return next(entry.status for entry in evaluate(load_runs([folder]), nobody_settles) if entry.claim.number == number)


@pytest.mark.parametrize(("members", "status"), [(7.0, "agrees"), (13.0, "disagrees")])
def test_the_curse_with_lost_lives(tmp_path: Path, members: float, status: str) -> None:
    """Claim 27: the single agent at 10, members below or above it, all with a terminal at each lost life."""
    runs = {"double-dqn": {"individual": 10.0}, "life-loss": {"individual": members, "aggregate": 12.0}}
    for preset, level in runs.items():
        for seed in range(5):
            options = {"terminal_on_life_loss": True} if preset == "double-dqn" else {}
            SyntheticRun(
                preset=preset, env="ALE/Breakout-v5", seed=seed, level=level, noise=0.2, options=options
            ).write(tmp_path)
    assert status_of(27, tmp_path) == status


@pytest.mark.parametrize(("huber", "status"), [(990.0, "agrees"), (300.0, "disagrees")])
def test_a_bystander_of_a_diverging_member(tmp_path: Path, huber: float, status: str) -> None:
    """Claim 38: 1,000 without a fault, 400 with squared errors; with Huber as without a fault, or worse than both."""
    fault, squared = {"kind": "diverging_member"}, {"kind": "squared"}
    for number, (loss, level) in enumerate(
        [({}, 1_000.0), ({"agent.loss": fault}, huber), ({"agent.loss": {**fault, "auxiliary": squared}}, 400.0)]
    ):
        for seed in range(5):
            SyntheticRun(
                preset="ensemble-sac-cerl",
                env="Hopper-v4",
                seed=seed,
                level={"individual": level, "aggregate": level, "bystander": level},
                noise=5.0,
                options=loss,
                name=f"{number}-{seed}",
            ).write(tmp_path)
    SyntheticRun(preset="sac", env="Hopper-v4", level={"individual": 1_000.0}).write(tmp_path)
    assert status_of(38, tmp_path) == status


@pytest.mark.slow
@pytest.mark.parametrize(("hard", "status"), [(8, "agrees"), (30, "disagrees")])
def test_the_share_of_games_that_a_single_agent_hardly_plays(tmp_path: Path, hard: int, status: str) -> None:
    """Claim 41: a random policy's score in `hard` of the 55 games, a human's in the others."""
    for number, env in enumerate(named_sets()["atari55"]):
        random, human = reference_scores()[games()[env]]
        level = {"individual": random if number < hard else human}
        SyntheticRun(env=env, level=level).write(tmp_path)
    assert status_of(41, tmp_path) == status


def test_games_decide_where_there_are_some_and_other_environments_where_there_are_none(tmp_path: Path) -> None:
    levels = {"double-dqn": 10.0, "bootstrapped-dqn": 5.0}
    for env, sign in (("MinAtar/Breakout-v1", 1), ("CartPole-v1", -1)):
        for preset, level in levels.items():
            for seed in range(5):
                levels_of = {"individual": 10 + sign * (level - 10)}
                run = SyntheticRun(preset, env, seed, levels_of, noise=0.1, planned_iterations=25)
                run.write(tmp_path / env.partition("/")[0])
    both, alone = (evaluate(load_runs([path])) for path in (tmp_path, tmp_path / "CartPole-v1"))
    assert [(e.status, e.scale) for e in (both[0], alone[0])] == [
        ("agrees", "laptop"),
        ("disagrees", "laptop, other environments"),
    ]
    assert both[0].outcomes[0].envs == ("MinAtar/Breakout-v1",)
