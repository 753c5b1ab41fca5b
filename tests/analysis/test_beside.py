"""Other runs beside one's own: which are shown, that nothing is compared with them, and what they say."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_runs import SyntheticRun, write_study

from chorus.analysis.beside import put_beside
from chorus.analysis.context import make_context
from chorus.analysis.findings import find_findings
from chorus.analysis.loading import load_runs
from chorus.analysis.questions import MAIN
from chorus.analysis.report import write_dataset_report
from chorus.analysis.shipped import DEMO_SETTING, Answer, Shipped, find_answers, shipped, to_json
from chorus.cli.main import main
from chorus.errors import ChorusError
from chorus.studies.demo import GAME
from chorus.studies.evidence import FIRST_GAME

# As the laptop scale has them, so that runs have their presets' default settings.
USUAL = {"iterations": 25, "iteration_steps": 20_000}
ENVS = ("MinAtar/Breakout-v1", "MinAtar/Asterix-v1")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """One's own runs of two algorithms and a sweep in one game, and a folder like results/ in two."""
    folder = tmp_path_factory.mktemp("beside")
    own, other = folder / "mine", folder / "evidence"
    write_study(own, presets=("double-dqn", "bootstrapped-dqn"), envs=ENVS[:1], seeds=3, **USUAL)
    both = {"individual": 7.0, "aggregate": 9.0}
    SyntheticRun("bootstrapped-dqn", ENVS[0], 0, both, options={"members": 5}, name="five", **USUAL).write(own)
    write_study(other / "quantiles", presets=("qr-dqn", "bootstrapped-qr-dqn"), envs=ENVS[:1], seeds=2, **USUAL)
    write_study(other / "main", envs=ENVS, seeds=5, **USUAL)
    for members in (2, 5):
        size = {"options": {"members": members}, "name": f"{members}"}
        SyntheticRun("bootstrapped-dqn", ENVS[0], 0, both, **size, **USUAL).write(other / "sizes")
    return own, other


def test_the_main_algorithms_and_what_one_has_run_are_shown_in_ones_own_environments(folders) -> None:
    own, other = folders
    merged, *_ = put_beside(load_runs([own]), [other])
    beside = [variant for variant in merged.variants if variant.role == "published"]
    assert {variant.title for variant in beside} == {
        "Double DQN, evidence",
        "Bootstrapped DQN, evidence",
        "Bootstrapped DQN + CERL, evidence",
        "10%-tandem, evidence",
    }
    assert {v.members for v in beside if v.title == "Bootstrapped DQN, evidence"} == {5, 10}
    assert merged.envs == ENVS[:1]


def test_the_findings_about_ones_own_runs_stay_what_they_were(folders) -> None:
    own, other = folders
    alone = load_runs([own])
    merged, *_ = put_beside(alone, [other])
    before, after = (find_findings(make_context(dataset)) for dataset in (alone, merged))
    assert [(f.question, f.answer) for f in before] == [(f.question, f.answer) for f in after]


def test_the_other_runs_answer_by_themselves(folders) -> None:
    own, other = folders
    _, beside, warnings = put_beside(load_runs([own]), [other])
    assert beside is not None and str(other) in beside.title
    answers = {answer.question: answer for answer in beside.answers}
    assert answers["Is there a curse of diversity?"].verdict == "yes" and len(answers) == len(beside.answers)
    assert answers["Does CERL help the members?"].envs == ENVS[:1]
    assert answers["Does CERL help the members?"].estimate.runs == 5
    assert warnings == []


def test_a_folder_without_a_common_environment_is_refused(folders, tmp_path) -> None:
    _, other = folders
    SyntheticRun(env="CartPole-v1").write(tmp_path / "mine")
    with pytest.raises(ChorusError, match=r"has no runs in CartPole-v1, only in MinAtar/.*; leave it out"):
        put_beside(load_runs([tmp_path / "mine"]), [other])


@pytest.mark.slow
def test_environments_that_the_other_folder_lacks_are_named_on_page_and_terminal(folders, tmp_path, capsys) -> None:
    """One's own runs are counted apart and are the only ones that commands, cost and other warnings speak of."""
    own, other = tmp_path / "mine", tmp_path / "shipped"
    write_study(own, presets=("double-dqn", "bootstrapped-dqn"), envs=ENVS, seeds=2, **USUAL)
    write_study(other, envs=ENVS[:1], seeds=5, state="diverged", **USUAL)
    page = tmp_path / "report.html"
    assert main(["report", str(own), "--beside", str(other), "-o", str(page)]) == 0
    text, said = (" ".join(words.split()) for words in (page.read_text(), capsys.readouterr().out))
    warning = f"Nothing of {other} is shown beside your runs in {ENVS[1]}:"
    assert warning in text and f"Note: {warning}" in said
    assert "8 runs of yours (2 algorithms in 2 environments, 2 seeds each), 20 beside them." in text
    assert "Yours were made by <code>chorus train</code>. Cost of yours: 4M agent steps" in text
    assert "diverged; the last" not in said and "lacks seed" not in said and "has no run on" not in said


def test_a_folder_in_which_nothing_fits_is_named(folders, tmp_path) -> None:
    SyntheticRun("cerl", ENVS[0], options={"members": 5}, **USUAL).write(tmp_path / "others")
    own = load_runs([folders[0]])
    merged, beside, (warning,) = put_beside(own, [tmp_path / "others"])
    assert merged is own and beside is None and f"in {ENVS[0]}: it has no run there" in warning


@pytest.mark.slow
def test_the_command_draws_and_says_both(folders, tmp_path, capsys) -> None:
    own, other = folders
    page = tmp_path / "report.html"
    assert main(["report", str(own), "--beside", str(other), "-o", str(page)]) == 0
    text = page.read_text()
    assert "Double DQN, evidence" in text and f"What {other} says" in text and 'id="beside-table"' in text
    assert f"What {other} says" in " ".join(capsys.readouterr().out.split())


def test_answers_survive_their_file_and_name_all_games_and_the_given_one(folders) -> None:
    answers = tuple(find_answers(make_context(load_runs([folders[1]]))))
    again = json.loads(json.dumps([to_json(answer) for answer in answers], allow_nan=False))
    assert [(one["question"], one["verdict"]) for one in again] == [(a.question, a.verdict) for a in answers]
    found = Shipped(seeds={"a": (0, 2)}, answers=answers)
    assert found.names == {"a__s0", "a__s2"}
    beside = found.beside(ENVS[:1])
    assert beside is not None and {answer.envs for answer in beside.answers} == {tuple(sorted(ENVS)), ENVS[:1]}
    assert {"2 environments", ENVS[0]} == {answer.where for answer in beside.answers}
    assert found.beside(ENVS, group="sac") is None


def test_answers_in_the_readers_setting_come_first_and_are_marked(folders) -> None:
    answers = find_answers(make_context(load_runs([folders[1]])))
    whole = tuple(answer for answer in answers if answer.group == "dqn")
    short = tuple(replace(answer, setting=DEMO_SETTING) for answer in whole if answer.envs == ENVS[:1])
    assert short and {to_json(answer).get("setting") for answer in whole} == {None}
    assert {to_json(answer)["setting"] for answer in short} == {DEMO_SETTING}
    found = Shipped(seeds={}, answers=(*whole, *short))
    same, other = found.beside(ENVS, setting=DEMO_SETTING), found.beside(ENVS)
    assert same is not None and {answer.where for answer in same.answers[: len(short)]} == {"the same setting"}
    assert same.answers[len(short) :] == whole
    assert "not from yours: the same setting with other seeds (docs/demo.md); then the laptop scale" in same.intro
    assert other is not None and other.answers == (*short, *whole)
    assert {answer.where for answer in other.answers[: len(short)]} == {f"{ENVS[0]}, the setting of chorus demo"}


def test_what_ships_in_the_demos_setting_is_shown_whatever_it_says() -> None:
    """In the demo's setting CERL does not help, and in Asterix it does."""
    beside = shipped().beside((GAME, FIRST_GAME), setting=DEMO_SETTING)
    assert beside is not None
    found = {(answer.question, answer.where): answer for answer in beside.answers}
    members, vote = (pair.text for pair in MAIN if pair.first[0] == "cerl")
    assert found[members, "the same setting"].verdict != "yes" and found[vote, "the same setting"].verdict == "no"
    assert found[members, FIRST_GAME].verdict == "yes"
    own = [answer for answer in beside.answers if answer.where == "the same setting"]
    assert [answer.question for answer in own] == [pair.text for pair in MAIN[: len(own)]]
    assert any("0%-tandem" in answer.compared for answer in own) and beside.answers[: len(own)] == tuple(own)


@pytest.mark.slow
def test_a_page_marks_what_ships_as_such(folders, tmp_path) -> None:
    own, other = folders
    answers = tuple(find_answers(make_context(load_runs([other]))))
    beside = Shipped(seeds={}, answers=answers).beside(ENVS[:1])
    summary = write_dataset_report(load_runs([own]), tmp_path / "page.html", beside=beside)
    assert summary.beside is beside
    text = (tmp_path / "page.html").read_text()
    assert "What the shipped results say" in text and "not from yours" in text
    assert text.count("Does CERL help the members?") > 1


def test_what_ships_is_part_of_the_package() -> None:
    found = shipped()
    assert all(isinstance(answer, Answer) for answer in found.answers)
    assert all(seeds == tuple(sorted(seeds)) for seeds in found.seeds.values())
