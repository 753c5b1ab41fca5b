"""What a diagnosis concludes, and what it does not: golden cases with the arithmetic shown."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from synthetic_runs import SyntheticRun

from chorus.analysis.context import make_context
from chorus.analysis.diagnosis import Diagnosis, diagnose
from chorus.analysis.diagnosis.answers import DIVERSITY
from chorus.analysis.diagnosis.budgets import with_one_budget
from chorus.analysis.findings import how_many_asked
from chorus.analysis.loading import load_runs
from chorus.analysis.normalisation import Reference
from chorus.analysis.questions import MAIN
from chorus.analysis.wording import number

ENV = "CartPole-v1"
CURSE, TOGETHER, VOTE, TANDEM, CERL, CERL_VOTE, LARGER, LARGER_VOTE = (pair.text for pair in MAIN)
DIFFERENCES = (CURSE, TOGETHER, VOTE, TANDEM, CERL, CERL_VOTE, LARGER, LARGER_VOTE)

Levels = Mapping[str, Mapping[str, Sequence[float]]]


def diagnosis(folder: Path, levels: Levels, entropy: float = 0.5, actions: int | None = 2, **more: object) -> Diagnosis:
    """`levels` gives the final returns of each algorithm and policy, one per seed."""
    for name, policies in levels.items():
        preset, _, larger = name.partition("+")
        options = {"buffer_size": 400_000} if larger else {}
        for seed in range(len(next(iter(policies.values())))):
            SyntheticRun(
                preset=preset,
                env=ENV,
                seed=seed,
                level={policy: values[seed] for policy, values in policies.items()},
                options=options,
                name=f"{name}-{seed}",
                entropy=None if preset == "double-dqn" else entropy,
                **more,
            ).write(folder)
    context = make_context(with_one_budget(load_runs([folder]), ENV), references={ENV: Reference(0.0, None)})
    return diagnose(context, ENV, actions=actions)


def verdicts(found: Diagnosis) -> dict[str, str]:
    return {finding.question: finding.verdict for finding in found.findings if finding.main}


def answer(found: Diagnosis, question: str) -> str:
    return next(finding.answer for finding in found.findings if finding.question == question)


def around(level: float, *shifts: float) -> list[float]:
    return [level + shift for shift in shifts]


CLOSE = (-1.0, 0.0, 1.0, -1.0, 1.0)  # mean 0
PRESENT: Levels = {
    "double-dqn": {"individual": around(100, *CLOSE)},
    "bootstrapped-dqn": {"individual": around(70, *CLOSE), "aggregate": around(110, *CLOSE)},
    "bootstrapped-dqn+larger": {"individual": around(80, *CLOSE), "aggregate": around(112, *CLOSE)},
    "tandem": {"active": around(98, *CLOSE), "passive": around(50, *CLOSE)},
    "cerl": {"individual": around(94, *CLOSE), "aggregate": around(130, *CLOSE)},
}


def test_curse_present(tmp_path: Path) -> None:
    found = diagnosis(tmp_path, PRESENT)
    # together 112 with the larger replay, 110 without: within 5 %
    assert verdicts(found) == dict.fromkeys(DIFFERENCES, "yes") | {DIVERSITY: "no", LARGER_VOTE: "negligible"}
    # members 70 against 100: 30 below, 30 % of 100
    assert answer(found, CURSE).startswith("Yes: a member of the ensemble is worse than an agent on its own.")
    assert "30 % below Double DQN: mean return 70.0 against 100.0, difference -30.0" in answer(found, CURSE)
    assert "5 seeds" in answer(found, CURSE)
    # the tandem's members come from the same runs: 50 - 98 = -48 for every seed, so the interval has no width
    assert "difference -48.0 (95 % interval -48.0 to -48.0, 5 seeds)" in answer(found, TANDEM)
    curse = next(finding for finding in found.findings if finding.question == CURSE)
    assert curse.details[0] == "It comes from learning from others' data and not from lack of diversity."
    # CERL's members gain 94 - 70 = 24 of the 30 that were lost: 80 %
    cerl = next(finding for finding in found.findings if finding.question == CERL)
    assert cerl.details[0].startswith("It gives back 80 % of what members had lost (95 % interval ")
    # the most entropy that two actions allow is ln 2 = 0.693 nats; 0.5 of it is 72 %
    assert "0.5000 nats (95 % interval 0.5000 to 0.5000, 5 seeds), 72 % of the most" in answer(found, DIVERSITY)
    # The number beside the verdict is what the verdict is about: 0.5 - 0.1 ln 2, and no p-value for Holm to count.
    diversity = next(finding for finding in found.findings if finding.question == DIVERSITY)
    assert diversity.difference is not None and diversity.difference.value == pytest.approx(0.5 - 0.1 * np.log(2))
    others = [finding for finding in found.findings if finding.effect and finding is not diversity]
    assert how_many_asked(found.findings).startswith(f"{len(others)} questions asked")
    assert "Bootstrapped DQN, 400k buffer (indiv.) scores 14 % above" in answer(found, LARGER)  # 80 against 70
    assert found.advice.settled and found.advice.headline == "Use Bootstrapped DQN + CERL (agg.)."
    assert "30 % above Double DQN" in found.advice.reasons[0]  # 130 against 100
    assert "more than the plain ensemble gives" in found.advice.reasons[1]
    assert "the best of 3 ensembles" in found.advice.reasons[2]


@pytest.mark.parametrize("level", [around(71, -30, 30, -20, 20, 0), around(60, *CLOSE)], ids=["unsettled", "worse"])
def test_nothing_is_given_back_by_a_gain_in_doubt_or_a_loss(tmp_path: Path, level: list[float]) -> None:
    found = diagnosis(tmp_path, PRESENT | {"cerl": {"individual": level, "aggregate": level}})
    cerl = next(finding for finding in found.findings if finding.question == CERL)
    assert cerl.verdict != "yes"
    assert not any("of what members had lost" in detail for detail in cerl.details)


def test_curse_absent(tmp_path: Path) -> None:
    found = diagnosis(
        tmp_path,
        {
            "double-dqn": {"individual": around(50, *CLOSE)},
            "bootstrapped-dqn": {"individual": around(80, *CLOSE), "aggregate": around(70, *CLOSE)},
            "tandem": {"active": around(50, *CLOSE), "passive": around(55, *CLOSE)},
            "cerl": {"individual": around(60, *CLOSE), "aggregate": around(60, *CLOSE)},
        },
        entropy=0.01,
    )
    # together 70 against 50 of the single agent
    expected = dict.fromkeys((CURSE, TANDEM, TOGETHER, CERL, CERL_VOTE), "no") | {
        VOTE: "yes",
        DIVERSITY: "yes",
        LARGER: "missing",
    }
    assert verdicts(found) == expected
    assert "difference +30.0" in answer(found, CURSE)  # 80 - 50
    assert "1 % of the most there could be (0.69)" in answer(found, DIVERSITY)  # 0.01 / ln 2
    assert found.advice.settled and found.advice.headline == "Use Bootstrapped DQN (agg.)."


def test_undecided_is_an_answer(tmp_path: Path) -> None:
    wide = (-30.0, 30.0, 0.0, -20.0, 20.0)
    found = diagnosis(
        tmp_path,
        {
            "double-dqn": {"individual": around(100, *wide)},
            "bootstrapped-dqn": {"individual": around(95, *wide), "aggregate": around(102, *wide[::-1])},
            "bootstrapped-dqn+larger": {"individual": around(97, *wide[::-1]), "aggregate": around(99, *wide)},
            "tandem": {"active": around(100, *wide), "passive": around(98, *wide[::-1])},
            "cerl": {"individual": around(99, *wide), "aggregate": around(103, *wide[::-1])},
        },
    )
    assert verdicts(found) == dict.fromkeys(DIFFERENCES, "unsettled") | {DIVERSITY: "no"}
    for question in DIFFERENCES:
        assert answer(found, question).startswith("Not settled: the interval includes zero")
        assert "95 % interval -" in answer(found, question) and "to +" in answer(found, question)
    assert not found.advice.settled and found.advice.use is not None
    assert "until there are more, Double DQN, because it costs least" in found.advice.headline
    assert "Bootstrapped DQN + CERL (agg.) scores 3 % above" in found.advice.reasons[0]  # 103 against 100, the best


def test_buffers_of_two_sizes_are_compared_seed_by_seed(tmp_path: Path) -> None:
    """Apart, returns that differ by 60 would hide a gain of 2; seed by seed it is 2 each time."""
    wide = (-30.0, 30.0, 0.0, -20.0, 20.0)
    plain = {"individual": around(95, *wide), "aggregate": around(95, *wide)}
    larger = {"individual": around(97, *wide), "aggregate": around(97, *wide)}
    found = diagnosis(tmp_path, {"bootstrapped-dqn": plain, "bootstrapped-dqn+larger": larger, "cerl": larger})
    assert verdicts(found)[LARGER] == "yes" and verdicts(found)[CERL] == "unsettled"
    assert "difference +2.00 (95 % interval +2.00 to +2.00, 5 seeds)" in answer(found, LARGER)


def test_members_that_differ_by_few_seeds_are_a_hint(tmp_path: Path) -> None:
    found = diagnosis(tmp_path, {name: {p: v[:3] for p, v in policies.items()} for name, policies in PRESENT.items()})
    diversity = next(finding for finding in found.findings if finding.question == DIVERSITY)
    assert diversity.verdict == "no" and diversity.details[-1].endswith("take this as a hint.")


LEVEL: Levels = {
    "double-dqn": {"individual": around(100, *CLOSE)},
    "bootstrapped-dqn": {"individual": around(100.5, *CLOSE), "aggregate": around(100, *CLOSE[::-1])},
    "bootstrapped-dqn+larger": {"individual": around(100.5, *CLOSE), "aggregate": around(99.5, *CLOSE)},
    "tandem": {"active": around(100, *CLOSE), "passive": around(100, *CLOSE[::-1])},
    "cerl": {"individual": around(100, *CLOSE), "aggregate": around(100.5, *CLOSE)},
}


def test_differences_too_small_to_matter_are_settled(tmp_path: Path) -> None:
    """Returns of 99 to 101.5: no resampled difference is larger than 2.5, and 5 % of 99.5 are 4.975."""
    found = diagnosis(tmp_path, LEVEL)
    assert verdicts(found) == dict.fromkeys(DIFFERENCES, "negligible") | {DIVERSITY: "no"}
    assert answer(found, CURSE).startswith("A member of the ensemble is as good as an agent on its own, within 5 %.")
    assert "difference +0.50 (95 % interval -" in answer(found, CURSE)
    assert found.advice.settled
    assert found.advice.headline == "Use Double DQN: every ensemble tried is no better, and costs more."


def test_small_differences_of_few_seeds_or_of_negative_returns_are_not_settled(tmp_path: Path) -> None:
    few = {name: {p: v[:4] for p, v in policies.items()} for name, policies in LEVEL.items()}
    negative = {name: {p: [x - 200 for x in v] for p, v in policies.items()} for name, policies in LEVEL.items()}
    for name, levels in {"few": few, "negative": negative}.items():
        found = diagnosis(tmp_path / name, levels)
        assert verdicts(found)[CURSE] == "unsettled" and not found.advice.settled


def test_a_single_seed_settles_nothing(tmp_path: Path) -> None:
    found = diagnosis(tmp_path, {name: {p: v[:1] for p, v in policies.items()} for name, policies in PRESENT.items()})
    assert verdicts(found) == dict.fromkeys((*DIFFERENCES, DIVERSITY), "unsettled")
    assert answer(found, CURSE).startswith("Not settled: 1 seed, and it takes at least 3.")
    assert "difference -30.0 (1 seed, so no interval)" in answer(found, CURSE)  # 69 - 99
    assert not found.advice.settled


def test_two_seeds_have_an_interval_that_settles_nothing(tmp_path: Path) -> None:
    found = diagnosis(tmp_path, {name: {p: v[:2] for p, v in policies.items()} for name, policies in PRESENT.items()})
    assert set(verdicts(found).values()) == {"unsettled"}


def test_the_single_agent_is_advised_where_all_ensembles_are_worse(tmp_path: Path) -> None:
    found = diagnosis(
        tmp_path,
        {
            "double-dqn": {"individual": around(100, *CLOSE)},
            "bootstrapped-dqn": {"individual": around(60, *CLOSE), "aggregate": around(80, *CLOSE)},
            "cerl": {"individual": around(70, *CLOSE), "aggregate": around(90, *CLOSE)},
        },
    )
    assert found.advice.settled and found.advice.headline.startswith("Use Double DQN: every ensemble tried is worse")
    assert TANDEM not in verdicts(found)


def test_three_seeds_are_a_hint(tmp_path: Path) -> None:
    found = diagnosis(tmp_path, {name: {p: v[:3] for p, v in policies.items()} for name, policies in PRESENT.items()})
    hint = "With fewer than 5 seeds the coverage of intervals was not measured: take this as a hint."
    assert verdicts(found)[CURSE] == "yes" and hint in found.findings[0].details
    assert not found.advice.settled and found.advice.reasons[-1] == hint
    assert found.advice.headline == "A hint, no more: use Bootstrapped DQN + CERL (agg.)."


def test_a_sure_lead_is_advised_before_a_larger_one_that_may_be_chance(tmp_path: Path) -> None:
    found = diagnosis(
        tmp_path,
        {
            "double-dqn": {"individual": around(100, *CLOSE)},
            "bootstrapped-dqn": {"individual": around(90, *CLOSE), "aggregate": around(110, *CLOSE)},
            "cerl": {"individual": around(90, *CLOSE), "aggregate": around(120, -80, 80, 0, -60, 60)},
        },
    )
    assert found.advice.settled and found.advice.headline == "Use Bootstrapped DQN (agg.)."


def test_with_one_action_there_is_nothing_to_vote_about(tmp_path: Path) -> None:
    found = diagnosis(tmp_path, PRESENT, actions=1)
    assert verdicts(found)[DIVERSITY] == "missing" and verdicts(found)[CURSE] == "yes"


def test_negative_returns_have_differences_but_no_percentages(tmp_path: Path) -> None:
    found = diagnosis(
        tmp_path,
        {
            "double-dqn": {"individual": around(-100, *CLOSE)},
            "bootstrapped-dqn": {"individual": around(-150, *CLOSE), "aggregate": around(-90, *CLOSE)},
        },
    )
    assert "scores below Double DQN: mean return -150.0 against -100.0, difference -50.0" in answer(found, CURSE)
    assert "%" not in answer(found, CURSE).replace("95 %", "")


@pytest.mark.slow
def test_a_recorded_share_of_own_data_is_reported(tmp_path: Path) -> None:
    found = diagnosis(tmp_path / "none", PRESENT)
    (detail,) = (f.details[0] for f in found.findings if f.question == TANDEM)
    assert "generate 1/10 of the data each" in detail
    found = diagnosis(tmp_path / "some", PRESENT, metrics={"replay/own_sampled/mean": 0.2})
    (detail,) = (f.details[0] for f in found.findings if f.question == TANDEM)
    assert "generated 20 % of what it learnt from (95 % interval 20 % to 20 %, 5 seeds)" in detail


def test_without_a_single_agent_there_is_no_advice(tmp_path: Path) -> None:
    found = diagnosis(tmp_path, {"bootstrapped-dqn": PRESENT["bootstrapped-dqn"]})
    assert verdicts(found)[CURSE] == "missing" and found.advice.use is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(12345.6, "12,346"), (123.45, "123.5"), (-12.34, "-12.3"), (1.234, "1.23"), (0.0, "0.00"), (0.01234, "0.0123")],
)
def test_numbers_are_short_and_plain(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(("distance", "verdict"), [(0.002, "yes"), (0.3, "no")])
def test_diversity_of_continuous_actions_is_the_distance_of_actions(
    tmp_path: Path, distance: float, verdict: str
) -> None:
    levels = {"sac": {"individual": 100.0}, "ensemble-sac": {"individual": 80.0, "aggregate": 90.0}}
    for preset, level in levels.items():
        for seed in range(5):
            recorded = {} if preset == "sac" else {"diversity/action_distance/individual": distance}
            SyntheticRun(preset=preset, env=ENV, seed=seed, level=level, metrics=recorded, noise=1.0).write(tmp_path)
    found = diagnose(make_context(load_runs([tmp_path])), ENV)
    assert verdicts(found)[DIVERSITY] == verdict
    assert f"Action distance of Ensemble SAC: {distance:.4f} (95 % interval" in answer(found, DIVERSITY)
    # Ten members, five at +1 and five at -1: a sample variance of 10 / 9.
    assert "of the most there could be (1.11); below 1 % counts as little" in answer(found, DIVERSITY)


@pytest.mark.slow
def test_runs_of_another_budget_play_no_part(tmp_path: Path) -> None:
    """Smoke runs of the single agent and the ensemble lie beside a whole diagnosis."""
    for seed in range(3):
        for preset in ("double-dqn", "bootstrapped-dqn"):
            SyntheticRun(
                preset=preset, env=ENV, seed=seed, iteration_steps=2_000, scale="smoke", name=f"{preset}-smoke-{seed}"
            ).write(tmp_path)
    found = diagnosis(tmp_path, PRESENT)
    assert "difference -30.0" in answer(found, CURSE)  # 70 - 100, and not 70 - 10
    assert verdicts(found)[LARGER] == verdicts(diagnosis(tmp_path / "alone", PRESENT))[LARGER]


@pytest.mark.slow
def test_runs_of_another_environment_play_no_part(tmp_path: Path) -> None:
    """The same presets elsewhere, and for longer, which must not pass for the budget here."""
    alone = diagnosis(tmp_path / "alone", PRESENT)
    for preset in ("double-dqn", "bootstrapped-dqn"):
        for seed in range(9):
            SyntheticRun(preset=preset, env="Acrobot-v1", seed=seed, iteration_steps=8_000).write(tmp_path / "both")
    found = diagnosis(tmp_path / "both", PRESENT)
    assert verdicts(found) == verdicts(alone)
    assert answer(found, LARGER) == answer(alone, LARGER)


def test_a_buffer_that_holds_everything_needs_no_larger_one(tmp_path: Path) -> None:
    """100,000 transitions, 12 iterations of 8,000 steps."""
    levels = {name: PRESENT[name] for name in ("double-dqn", "bootstrapped-dqn")}
    found = diagnosis(tmp_path, levels, iteration_steps=8_000)
    assert verdicts(found)[LARGER] == "no"
    assert answer(found, LARGER) == "No: the usual replay, 100k transitions, holds all of a run's 96,000 steps."


def test_the_example_of_the_documentation_runs(tmp_path: Path, monkeypatch, capsys) -> None:
    page = (Path(__file__).parents[2] / "docs" / "diagnose.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```py\n(.*?)```", page, flags=re.DOTALL)
    for seed in range(3):
        SyntheticRun(env="CartPole-v1", seed=seed).write(tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "diagnose.md", "exec"), {})
    assert "Is there a curse of diversity? missing" in capsys.readouterr().out
