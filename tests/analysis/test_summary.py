"""The plain-language answers: right where the truth is known, cautious where it is not."""

from pathlib import Path

import numpy as np
import pytest
from synthetic_runs import MINATAR, SyntheticRun, write_study

from chorus.analysis.context import make_context
from chorus.analysis.findings import Finding, Summary, summarise
from chorus.analysis.loading import load_runs
from chorus.analysis.normalisation import Reference


def findings(folder: Path) -> dict[str, Finding]:
    """Of runs whose random score is 0, so that scores are shares of the single agent's return."""
    dataset = load_runs([folder])
    references = {env: Reference(0.0, None) for env in dataset.envs}
    summary = summarise(make_context(dataset, references=references))
    return {finding.question: finding for finding in summary.findings}


CURSE, VOTING = "Is there a curse of diversity?", "Does acting together help?"
CERL, TANDEM = "Does CERL help?", "Does a passive member fall behind on the same data?"


def test_a_study_shaped_like_the_paper_gives_its_answers(tmp_path: Path) -> None:
    write_study(tmp_path, noise=0.3)  # levels: single 1, members 0.7, votes 1.2, CERL 0.95 and 1.5, tandem 0.97, 0.5
    answers = findings(tmp_path)
    assert {q: f.verdict for q, f in answers.items()} == dict.fromkeys((CURSE, VOTING, CERL, TANDEM), "yes")
    assert "Bootstrapped DQN (indiv.) scores 3" in answers[CURSE].answer  # 30 % below, give or take the noise
    assert "higher in 0 of 3 environments" in answers[CURSE].details[0]
    assert any("gives back" in detail for detail in answers[CERL].details)


def test_a_gain_in_doubt_gives_nothing_back(tmp_path: Path) -> None:
    write_study(tmp_path, presets=("double-dqn", "bootstrapped-dqn"), envs=MINATAR[:1], noise=0.1)
    for seed, offset in enumerate((-4.0, 4.0, -3.0, 3.0, 0.5)):
        level = dict.fromkeys(("individual", "aggregate"), 7.0 + offset)
        SyntheticRun(preset="cerl", env=MINATAR[0], seed=seed, level=level).write(tmp_path)
    answers = findings(tmp_path)
    assert (answers[CURSE].verdict, answers[CERL].verdict) == ("yes", "unsettled")
    assert not any("gives back" in detail for detail in answers[CERL].details)


def test_numbers_are_exact_without_noise(tmp_path: Path) -> None:
    write_study(tmp_path, noise=0.0, presets=("double-dqn", "bootstrapped-dqn"))
    answer = findings(tmp_path)[CURSE].answer
    # every member scores 0.7 of the single agent: 30 % below, -0.30 without any spread
    assert "30 % below Double DQN: IQM 0.70 against 1.00, difference -0.30" in answer
    assert "(95 % interval -0.30 to -0.30)" in answer


def test_no_difference_is_not_called_a_curse(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for preset in ("double-dqn", "bootstrapped-dqn"):
        for env in MINATAR:
            for seed in range(5):
                level = dict.fromkeys(("individual", "aggregate"), 10 + rng.normal())
                if preset == "double-dqn":
                    level.pop("aggregate")
                SyntheticRun(preset=preset, env=env, seed=seed, level=level).write(tmp_path)
    answer = findings(tmp_path)[CURSE]
    assert answer.verdict == "unsettled" and "could be chance" in answer.answer


def test_a_better_ensemble_is_a_clear_no(tmp_path: Path) -> None:
    for seed in range(5):
        SyntheticRun(seed=seed, level={"individual": 10.0 + 0.1 * seed}).write(tmp_path)
        SyntheticRun(preset="bootstrapped-dqn", seed=seed, level={"individual": 15.0 + 0.1 * seed}).write(tmp_path)
    assert findings(tmp_path)[CURSE].verdict == "no"


def test_few_seeds_are_a_hint_and_one_is_none(tmp_path: Path) -> None:
    write_study(tmp_path / "two", seeds=2, presets=("double-dqn", "bootstrapped-dqn"))
    two = findings(tmp_path / "two")[CURSE]
    assert two.verdict == "unsettled" and "take this as a hint" in two.details[-1]
    write_study(tmp_path / "one", seeds=1, presets=("double-dqn", "bootstrapped-dqn"))
    alone = findings(tmp_path / "one")[CURSE]
    assert alone.verdict == "unsettled" and "one seed: no interval" in alone.answer


@pytest.mark.parametrize(
    ("presets", "sentence"),
    [
        (("bootstrapped-dqn",), "No single agent was run beside Bootstrapped DQN"),
        (("double-dqn",), "No plain ensemble was run"),
    ],
)
def test_what_was_not_run_is_said(tmp_path: Path, presets: tuple[str, ...], sentence: str) -> None:
    write_study(tmp_path, presets=presets, seeds=2)
    answer = findings(tmp_path)[CURSE]
    assert answer.verdict == "missing" and sentence in answer.answer


def test_dqn_and_sac_are_judged_apart(tmp_path: Path) -> None:
    write_study(tmp_path, presets=("double-dqn", "bootstrapped-dqn"), seeds=3)
    write_study(tmp_path, presets=("sac", "ensemble-sac"), envs=("Ant-v4",), seeds=3)
    summary = summarise(make_context(load_runs([tmp_path])))
    asked = [f for f in summary.findings if f.question == CURSE]
    assert len(asked) == 2 and "SAC" in asked[1].answer


def test_warnings_name_everything_that_could_mislead(tmp_path: Path) -> None:
    for seed in range(3):
        SyntheticRun(seed=seed).write(tmp_path)
    common = {"planned_iterations": 12, "level": {"individual": 2.0}}
    SyntheticRun(seed=4, state="running", iterations=3, **common).write(tmp_path)
    SyntheticRun(seed=5, state="failed", iterations=3, **common).write(tmp_path)
    SyntheticRun(seed=6, state="diverged", iterations=12, level={"individual": 0.0}).write(tmp_path)
    SyntheticRun(seed=7, iterations=0).write(tmp_path)
    SyntheticRun(preset="bootstrapped-dqn", iterations=6, level={"individual": 3.0}, planned_iterations=12).write(
        tmp_path
    )
    damaged = SyntheticRun(seed=8).write(tmp_path)
    with (damaged / "metrics.jsonl").open("a") as file:
        file.write('{"iteration"')
    summary = summarise(make_context(load_runs([tmp_path])))
    text = " ".join(summary.warnings)
    for words in (
        "1 running, 1 failed",
        "1 run diverged",
        "1 run could not be used",
        "1 damaged line skipped",
        "different numbers of steps in MinAtar/Breakout-v1",
    ):
        assert words in text
    assert isinstance(summary, Summary) and summary.runs == 8


def test_in_one_environment_the_mean_of_its_runs_is_judged(tmp_path: Path) -> None:
    """Returns 10, 10, 10, 10, 20 have the mean 12 and the interquartile mean 10; the single agent has 12 everywhere."""
    for seed, level in enumerate((10.0, 10.0, 10.0, 10.0, 20.0)):
        SyntheticRun(seed=seed, level={"individual": 12.0}).write(tmp_path)
        SyntheticRun(preset="bootstrapped-dqn", seed=seed, level={"individual": level}).write(tmp_path)
    answer = findings(tmp_path)[CURSE]
    # 12 / 12
    assert "scores level with Double DQN: mean 1.00 against 1.00, difference +0.00" in answer.answer
    assert not any("By environment" in detail for detail in answer.details)
    assert answer.details[-1].endswith("5 seeds.")


def test_a_share_of_the_worst_run_is_not_said(tmp_path: Path) -> None:
    """Without a single agent zero is the worst run, whatever its return."""
    write_study(tmp_path, presets=("bootstrapped-dqn", "cerl"), envs=MINATAR[:1])
    answer = findings(tmp_path)[CERL].answer
    assert "scores above Bootstrapped DQN (indiv.): mean" in answer and "%" not in answer.split("(95 %")[0]


def test_every_value_of_a_sweep_is_answered(tmp_path: Path) -> None:
    """Members of 2, 5 and 10 at 0.9, 0.8 and 0.7 of the single agent; CERL with 2 and 10 of them 0.05 above."""
    for seed in range(5):
        SyntheticRun(seed=seed, level={"individual": 10.0}).write(tmp_path)
        for size, level in {2: 9.0, 5: 8.0, 10: 7.0}.items():
            for preset, gain in {"bootstrapped-dqn": 0.0, **({"cerl": 0.5} if size != 5 else {})}.items():
                SyntheticRun(
                    preset=preset,
                    seed=seed,
                    level={"individual": level + gain, "aggregate": 10.0 + gain},
                    options={"members": size},
                    name=f"{preset}-{size}-{seed}",
                ).write(tmp_path)
    answers = findings(tmp_path)
    assert "difference -0.30" in answers[CURSE].answer  # 7 against 10: the most members of those with as many runs
    said = " ".join(answers[CURSE].details)
    assert "difference -0.10" in said and "difference -0.20" in said
    gains = [d for d in answers[CERL].details if "(indiv.) scores" in d]
    assert len(gains) == 1 and "difference +0.05" in gains[0]  # N = 2; for N = 5 there is none
    assert sum("(agg.) scores" in detail and "(indiv.)" in detail for detail in answers[VOTING].details) == 2
