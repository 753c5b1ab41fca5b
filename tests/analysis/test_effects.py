"""Effects: differences, differences of gaps and trends with the arithmetic shown, and the one rule of verdicts."""

from pathlib import Path

import numpy as np
import pytest
from synthetic_runs import MINATAR, SyntheticRun, write_study

from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.effects import Effect, Term, holm, measure, minus, ratio, trend
from chorus.analysis.loading import load_runs
from chorus.analysis.normalisation import Reference
from chorus.analysis.results import Series
from chorus.analysis.variants import Variant
from chorus.analysis.warnings import find_warnings


def context_of(folder: Path, random: float = 0.0) -> AnalysisContext:
    dataset = load_runs([folder])
    return make_context(dataset, references={env: Reference(random, None) for env in dataset.envs})


def variant(context: AnalysisContext, label: str) -> Variant:
    return next(v for v in context.results.dataset.variants if v.label == label)


def study(folder: Path, env: str = MINATAR[0]) -> AnalysisContext:
    """Single agents 9, 10, 11; members 6, 7, 8; active 8, 9, 10; passive 4, 5, 6."""
    for seed, away in enumerate((-1.0, 0.0, 1.0)):
        for preset, levels in {
            "double-dqn": {"individual": 10.0},
            "bootstrapped-dqn": {"individual": 7.0, "aggregate": 12.0},
            "tandem": {"active": 9.0, "passive": 5.0},
        }.items():
            level = {policy: value + away for policy, value in levels.items()}
            SyntheticRun(preset=preset, env=env, seed=seed, level=level).write(folder)
    return context_of(folder)


def test_a_difference_in_one_environment_is_in_returns(tmp_path: Path) -> None:
    context = study(tmp_path)
    members, single = Series(variant(context, "Bootstrapped DQN"), "individual"), variant(context, "Double DQN")
    effect = measure(context, minus(members, Series(single, "individual")))
    # means 7 and 10; each variance is 1, so the error is sqrt(1/3 + 1/3) = 0.8165 with 4 degrees of freedom, where
    # Student's t at 97.5 % is 2.7764: -3 -+ 2.267
    assert effect is not None and effect.unit == "return"
    assert effect.estimate.value == pytest.approx(-3.0)
    assert (effect.estimate.low, effect.estimate.high) == pytest.approx((-5.267, -0.733), abs=1e-3)
    assert effect.levels == pytest.approx((7.0, 10.0)) and effect.reference == pytest.approx(10.0)


def test_shares_count_from_a_random_policy(tmp_path: Path) -> None:
    study(tmp_path)
    context = context_of(tmp_path, random=4.0)
    members, single = Series(variant(context, "Bootstrapped DQN"), "individual"), variant(context, "Double DQN")
    effect = measure(context, minus(members, Series(single, "individual")))
    # the single agent is 10 - 4 = 6 above random, so 3 less is 50 %, and 5 % of 6 is 0.3
    assert effect is not None and effect.estimate.value == pytest.approx(-3.0)
    assert effect.reference == pytest.approx(6.0) and effect.margin == pytest.approx(0.3)
    assert "scores 50 % below Double DQN: mean return 7.00 against 10.0" in effect.sentence()


def test_policies_of_the_same_runs_are_paired(tmp_path: Path) -> None:
    context = study(tmp_path)
    ensemble = variant(context, "Bootstrapped DQN")
    effect = measure(context, minus(Series(ensemble, "aggregate"), Series(ensemble, "individual")))
    # 12 - 7 = 5 in each run, so there is no spread
    assert effect is not None
    assert (effect.estimate.low, effect.estimate.value, effect.estimate.high) == pytest.approx((5.0, 5.0, 5.0))


def test_a_difference_of_gaps(tmp_path: Path) -> None:
    context = study(tmp_path)
    tandem, single = variant(context, "10%-tandem"), Series(variant(context, "Double DQN"), "individual")
    members = Series(variant(context, "Bootstrapped DQN"), "individual")
    gap = minus(Series(tandem, "active"), Series(tandem, "passive"))
    effect = measure(context, (*gap, *minus(members, single)), reference=3)
    # (9 - 5) - (10 - 7) = 1; the tandem's gap is 4 in every run, so the spread is that of members minus single
    assert effect is not None and effect.estimate.value == pytest.approx(1.0)
    assert effect.estimate.high - effect.estimate.value == pytest.approx(2.267, abs=1e-3)


def test_a_trend_is_the_change_along_the_fitted_line() -> None:
    series = [Series(None, str(n)) for n in range(3)]  # type: ignore[arg-type]
    terms = trend([2, 4, 8], [(Term(1.0, one),) for one in series], log=True)
    # log2 of the values is 1, 2, 3: away from their mean -1, 0, 1; slope = sum(away x score) / 2, over a range of 2
    assert [term.weight for term in terms] == pytest.approx([-1.0, 0.0, 1.0])
    linear = trend([0, 1, 3], [(Term(1.0, one),) for one in series], log=False)
    # away -4/3, -1/3, 5/3; squares 16/9 + 1/9 + 25/9 = 14/3; range 3: weights -4/3 x 3 / (14/3) = -6/7, -3/14, 15/14
    assert [term.weight for term in linear] == pytest.approx([-6 / 7, -3 / 14, 15 / 14])


def test_over_several_environments_scores_are_normalised(tmp_path: Path) -> None:
    for env, base in zip(MINATAR[:2], (10.0, 100.0), strict=True):
        for seed in range(3):
            SyntheticRun(env=env, seed=seed, level={"individual": base}).write(tmp_path)
            level = {"individual": 0.7 * base, "aggregate": base}
            SyntheticRun(preset="bootstrapped-dqn", env=env, seed=seed, level=level).write(tmp_path)
    context = context_of(tmp_path)
    members = Series(variant(context, "Bootstrapped DQN"), "individual")
    effect = measure(context, minus(members, Series(variant(context, "Double DQN"), "individual")))
    assert effect is not None and effect.unit == "score (Double DQN = 1)" and effect.centre == "IQM"
    assert effect.estimate.value == pytest.approx(-0.3)


@pytest.mark.parametrize(
    ("found", "reference", "verdict"),
    [
        (IntervalEstimate(-3.0, -5.0, -1.0, 5), 10.0, "yes"),
        (IntervalEstimate(3.0, 1.0, 5.0, 5), 10.0, "no"),
        (IntervalEstimate(-1.0, -3.0, 1.0, 5), 10.0, "unsettled"),
        (IntervalEstimate(-0.1, -0.4, 0.2, 5), 10.0, "negligible"),  # within 5 % of 10
        (IntervalEstimate(-0.3, -0.4, -0.2, 5), 10.0, "negligible"),  # settled, and still within 5 %
        (IntervalEstimate(-0.1, -0.4, 0.2, 4), 10.0, "unsettled"),  # too few seeds to call it negligible
        (IntervalEstimate(-0.3, -0.4, -0.2, 5), None, "yes"),  # no reference, so nothing is negligible
        (IntervalEstimate(-3.0, -5.0, -1.0, 2), 10.0, "unsettled"),
        (IntervalEstimate(-3.0, np.nan, np.nan, 1), 10.0, "unsettled"),
    ],
)
def test_the_rule_of_verdicts(found: IntervalEstimate, reference: float | None, verdict: str) -> None:
    effect = Effect((), ("env",), found, 0.01, "return", "mean", (), reference)
    assert effect.verdict(-1) == verdict


def test_holm_corrects_for_the_number_of_questions() -> None:
    # sorted 0.01, 0.02, 0.04: times 3, 2, 1 = 0.03, 0.04, 0.04, each at least the one before
    assert holm([0.04, 0.01, np.nan, 0.02]) == pytest.approx([0.04, 0.03, np.nan, 0.04], nan_ok=True)
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])  # never above 1


def test_a_ratio_has_fiellers_interval(tmp_path: Path) -> None:
    """Gains of 4 within the tandem's runs over a loss of 3 with the error 0.8165: 4 / 3, and 4 / (3 -+ 2.267)."""
    context = study(tmp_path)
    tandem, single = variant(context, "10%-tandem"), Series(variant(context, "Double DQN"), "individual")
    members = Series(variant(context, "Bootstrapped DQN"), "individual")
    found = ratio(context, minus(Series(tandem, "active"), Series(tandem, "passive")), minus(single, members))
    assert (found.value, found.low, found.high) == pytest.approx((4 / 3, 4 / 5.267, 4 / 0.733), rel=1e-2)


def test_a_first_seed_in_a_second_game_hides_no_answer(tmp_path: Path) -> None:
    write_study(tmp_path / "first", presets=("double-dqn", "bootstrapped-dqn"), envs=MINATAR[:1], seeds=5)
    write_study(tmp_path / "second", presets=("double-dqn", "bootstrapped-dqn"), envs=MINATAR[1:2], seeds=1)
    context = make_context(load_runs([tmp_path]))
    (single,), (members,) = context.results.find("single", "individual"), context.results.find("ensemble", "individual")
    effect = measure(context, minus(members, single))
    assert effect is not None and effect.envs == MINATAR[:1] and effect.verdict(-1) == "yes"
    both = measure(context, minus(members, single), envs=MINATAR[:2])
    assert both is not None and both.envs == MINATAR[:2] and both.verdict(-1) == "unsettled"
    (said,) = [text for text in find_warnings(context) if "leave out" in text]
    assert said.startswith(f"Answers leave out {MINATAR[1]}: an algorithm has fewer than 3 seeds there")


def test_a_game_with_many_seeds_does_not_decide_for_games_with_few(tmp_path: Path) -> None:
    """Ten seeds of the first game at +5 and three of each other one at -5: two of three games are worse."""
    for env, seeds, change in ((MINATAR[0], 10, 5.0), (MINATAR[1], 3, -5.0), (MINATAR[2], 3, -5.0)):
        for seed in range(seeds):
            wiggle = 0.1 * (seed % 3)
            SyntheticRun(env=env, seed=seed, level={"individual": 10.0 + wiggle}).write(tmp_path)
            level = {"individual": 10.0 + change + wiggle, "aggregate": 10.0}
            SyntheticRun("bootstrapped-dqn", env, seed, level).write(tmp_path)
    context = make_context(load_runs([tmp_path]))
    (single,), (members,) = context.results.find("single", "individual"), context.results.find("ensemble", "individual")
    effect = measure(context, minus(members, single))
    assert effect is not None and effect.estimate.value < 0
    assert (effect.estimate.runs, effect.estimate.most_runs) == (3, 10)
