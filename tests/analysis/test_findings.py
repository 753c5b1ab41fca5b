"""The plain-language answers: right where the truth is known, cautious where it is not."""

from pathlib import Path

import numpy as np
import pytest
from synthetic_runs import MINATAR, SyntheticRun, write_study

from chorus.analysis.advice import advise
from chorus.analysis.bootstrap import IntervalEstimate
from chorus.analysis.context import make_context
from chorus.analysis.effects import Effect, Verdict, measure, minus
from chorus.analysis.findings import Finding, Summary, correct, find_findings, summarise
from chorus.analysis.grouping import find_comparison_groups
from chorus.analysis.loading import load_runs
from chorus.analysis.normalisation import Reference
from chorus.analysis.questions import MAIN
from chorus.analysis.warnings import coverage_warnings


def findings(folder: Path) -> dict[str, Finding]:
    """Of runs whose random score is 0, so that scores are shares of the single agent's return."""
    dataset = load_runs([folder])
    references = {env: Reference(0.0, None) for env in dataset.envs}
    summary = summarise(make_context(dataset, references=references))
    return {finding.question: finding for finding in summary.findings}


CURSE, TOGETHER, VOTE, TANDEM, CERL, CERL_VOTE, *_ = (pair.text for pair in MAIN)


def test_a_study_shaped_like_the_paper_gives_its_answers(tmp_path: Path) -> None:
    write_study(tmp_path, noise=0.3)  # levels: single 1, members 0.7, votes 1.2, CERL 0.95 and 1.5, tandem 0.97, 0.5
    answers = findings(tmp_path)
    main = {question: finding.verdict for question, finding in answers.items() if finding.main}
    assert main == dict.fromkeys((CURSE, TOGETHER, VOTE, TANDEM, CERL, CERL_VOTE), "yes")
    assert "Bootstrapped DQN (indiv.) scores 3" in answers[CURSE].answer  # 30 % below, give or take the noise
    assert "Above zero in 0 of 3 environments" in answers[CURSE].details[0]
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
    assert "(95 % interval -0.30 to -0.30, 5 seeds)" in answer


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
    assert answer.verdict == "unsettled" and answer.answer.startswith("Not settled")


def test_a_better_ensemble_is_a_clear_no(tmp_path: Path) -> None:
    for seed in range(5):
        SyntheticRun(seed=seed, level={"individual": 10.0 + 0.1 * seed}).write(tmp_path)
        SyntheticRun(preset="bootstrapped-dqn", seed=seed, level={"individual": 15.0 + 0.1 * seed}).write(tmp_path)
    assert findings(tmp_path)[CURSE].verdict == "no"


def test_few_seeds_are_a_hint_and_one_is_none(tmp_path: Path) -> None:
    write_study(tmp_path / "two", seeds=2, presets=("double-dqn", "bootstrapped-dqn"))
    two = findings(tmp_path / "two")[CURSE]
    assert two.verdict == "unsettled" and "2 seeds, and it takes at least 3" in two.answer
    write_study(tmp_path / "three", seeds=3, presets=("double-dqn", "bootstrapped-dqn"))
    three = findings(tmp_path / "three")[CURSE]
    assert three.verdict == "yes" and any("take this as a hint" in detail for detail in three.details)
    write_study(tmp_path / "one", seeds=1, presets=("double-dqn", "bootstrapped-dqn"))
    alone = findings(tmp_path / "one")[CURSE]
    assert alone.verdict == "unsettled" and "1 seed, so no interval" in alone.answer


@pytest.mark.parametrize(
    ("presets", "sentence"),
    [
        (("bootstrapped-dqn",), "No single agent was run beside Bootstrapped DQN"),
        (("double-dqn",), "No plain ensemble was run beside Double DQN"),
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
    asked = [f.question for f in summary.findings if f.question.startswith(CURSE)]
    assert asked == [f"{CURSE} (Bootstrapped DQN)", f"{CURSE} (Ensemble SAC)"]


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
        "1 stopped, 1 failed",
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
    # (10 + 10 + 10 + 10 + 20) / 5 = 12
    assert "scores level with Double DQN: mean return 12.0 against 12.0, difference +0.00" in answer.answer
    assert "5 seeds" in answer.answer and not any("environments" in detail for detail in answer.details)


def test_a_share_of_the_worst_run_is_not_said(tmp_path: Path) -> None:
    """Without a single agent zero is the worst run, whatever its return."""
    write_study(tmp_path, presets=("bootstrapped-dqn", "cerl"), envs=MINATAR[:1])
    answer = findings(tmp_path)[CERL].answer
    assert "scores above Bootstrapped DQN (indiv.): mean return" in answer and "%" not in answer.split("(95 %")[0]


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
    assert "difference -3.00" in answers[CURSE].answer  # 7 against 10: N = 10 is the default
    better = {q: f for q, f in answers.items() if q.startswith("Is ")}
    # 9 against 10 for N = 2; 9.5 against 9 for CERL with N = 2; for N = 5 there is no CERL
    small = better["Is Bootstrapped DQN, N=2 (indiv.) better than Double DQN?"]
    assert small.verdict == "no" and "difference -1.00" in small.answer
    cerl = better["Is Bootstrapped DQN + CERL, N=2 (indiv.) better than Bootstrapped DQN, N=2 (indiv.)?"]
    assert cerl.verdict == "yes" and "difference +0.50" in cerl.answer
    assert not any("CERL, N=5" in question for question in better)


@pytest.mark.parametrize(("spread", "verdict"), [(1.0, "unsettled"), (0.1, "negligible")])
def test_environments_that_disagree_are_named(tmp_path: Path, spread: float, verdict: str) -> None:
    """Members 5 below the single agent in one game and 5 above it in another: 10 -> 5 and 10 -> 15."""
    for env, level in zip(MINATAR[:2], (5.0, 15.0), strict=True):
        for seed in range(5):
            away = spread * (seed - 2)
            SyntheticRun(env=env, seed=seed, level={"individual": 10.0 + away}).write(tmp_path)
            SyntheticRun(preset="bootstrapped-dqn", env=env, seed=seed, level={"individual": level + away}).write(
                tmp_path
            )
    curse = findings(tmp_path)[CURSE]
    assert curse.verdict == verdict
    assert f"settled above zero in {MINATAR[1]}; below zero in {MINATAR[0]}" in curse.answer


def test_the_number_of_questions_is_said_and_corrected_for(tmp_path: Path) -> None:
    write_study(tmp_path, presets=("double-dqn", "bootstrapped-dqn", "wide"), envs=MINATAR[:1])
    summary = summarise(make_context(load_runs([tmp_path])))
    effects = [f for f in summary.findings if f.effect]
    # curse, together, vote; the wider ensemble against members, vote and twice the single agent
    assert len(effects) == 7 and summary.asked.startswith("7 questions asked of the same runs")
    assert "about 0.4 would be settled by chance" in summary.asked  # 7 x 0.05 = 0.35
    assert all(f.adjusted_p >= f.effect.p_value for f in effects)


def test_main_questions_are_corrected_apart_from_further_comparisons() -> None:
    """Of p-values 0.03 and 0.01, 0.03 stays 0.03 and 0.01 becomes 0.02; a comparison of its own stays 0.04."""

    def finding(question: str, p: float, family: str, verdict: Verdict = "yes") -> Finding:
        effect = Effect((), (), IntervalEstimate(1.0, 0.5, 1.5, 5), p, (), None, "", "")
        return Finding(question, verdict, "", main=bool(family), effect=effect, family=family)

    main, further = [("curse", 0.03, "DQN"), ("vote", 0.01, "DQN")], [("wide", 0.04, "")]
    found = {f.question: f for f in correct([finding(*one) for one in (*main, *further, ("sac", 0.04, "SAC"))])}
    assert {question: f.adjusted_p for question, f in found.items()} == pytest.approx(
        {"curse": 0.03, "vote": 0.02, "wide": 0.04, "sac": 0.04}
    )
    assert not any(f.details for f in found.values())
    # 0.04 and 0.03 of one family: 2 x 0.03 = 0.06 for both.
    curse, vote = correct([finding("curse", 0.04, "DQN"), finding("vote", 0.03, "DQN", "unsettled")])
    assert curse.details == ("Not significant after Holm's correction for 2 main questions (p = 0.06).",)
    assert curse.adjusted_p == pytest.approx(0.06) and vote.details == ()


@pytest.mark.slow
def test_details_hold_no_other_comparison(tmp_path: Path) -> None:
    write_study(tmp_path)
    for finding in find_findings(make_context(load_runs([tmp_path]))):
        assert not any("difference" in detail and "P-value" not in detail for detail in finding.details)


def test_every_ablation_is_compared_with_ensemble_and_single_agent(tmp_path: Path) -> None:
    write_study(tmp_path, presets=("double-dqn", "bootstrapped-dqn", "per-step", "double-dqn-mh"), envs=MINATAR[:1])
    asked = {f.question for f in find_findings(make_context(load_runs([tmp_path])))}
    name = "Bootstrapped DQN, switching each step"
    for first, second in (
        (f"{name} (indiv.)", "Bootstrapped DQN (indiv.)"),
        (f"{name} (agg.)", "Bootstrapped DQN (agg.)"),
        (f"{name} (indiv.)", "Double DQN"),
        (f"{name} (agg.)", "Double DQN"),
        ("Double DQN + MH", "Double DQN"),
    ):
        assert f"Is {first} better than {second}?" in asked


def test_smoke_runs_beside_others_do_not_take_part_in_the_advice(tmp_path: Path) -> None:
    """The smoke runs have the defaults and more seeds, but they learnt nothing."""
    write_study(tmp_path / "laptop", envs=MINATAR[:1], options={"learning_rate": 1e-3})
    write_study(tmp_path / "smoke", envs=MINATAR[:1], scale="smoke", iteration_steps=2_000, seeds=8)
    context = make_context(load_runs([tmp_path]))
    group = find_comparison_groups(context.results)[0]
    assert group.ensemble and group.ensemble.settings["scale"] == "laptop"
    assert "laptop scale" in context.normalisation.meaning
    advice = advise(context)
    assert advice.use is not None and advice.use.variant.preset == "cerl"
    assert advise(make_context(load_runs([tmp_path / "smoke"]))).use is None


def test_leads_in_returns_and_in_scores_are_not_compared(tmp_path: Path) -> None:
    """CERL was run in one game only, where its lead of 5 is in returns."""
    write_study(tmp_path, presets=("double-dqn", "bootstrapped-dqn"))
    write_study(tmp_path, presets=("cerl",), envs=MINATAR[:1])
    use = advise(make_context(load_runs([tmp_path]))).use
    assert use is not None and use.variant.preset == "bootstrapped-dqn"


def test_games_and_tasks_of_one_study_are_not_missed_by_each_other(tmp_path: Path) -> None:
    """SAC cannot play games; a game that only the single agent played is missed by the ensemble."""
    write_study(tmp_path, presets=("double-dqn",), envs=MINATAR)
    write_study(tmp_path, presets=("bootstrapped-dqn",), envs=MINATAR[:1])
    write_study(tmp_path, presets=("sac", "ensemble-sac"), envs=("Hopper-v4",))
    assert coverage_warnings(load_runs([tmp_path])) == [f"Bootstrapped DQN has no run on {MINATAR[1]}, {MINATAR[2]}."]


def test_an_ensemble_of_agents_is_compared_with_an_ensemble_of_critics(tmp_path: Path) -> None:
    """Members are worse than one policy with many critics, and together they are better."""
    levels = {
        "sac": {"individual": 10.0},
        "sac-critics": {"individual": 14.0},
        "ensemble-sac": {"individual": 8.0, "aggregate": 18.0},
    }
    for preset, level in levels.items():
        for seed in range(4):
            SyntheticRun(preset=preset, env="Pendulum-v1", seed=seed, level=level, noise=0.01).write(tmp_path)
    verdicts = {question: finding.verdict for question, finding in findings(tmp_path).items()}
    assert verdicts["Is SAC, 5 critics better than SAC?"] == "yes"
    assert verdicts["Is Ensemble SAC (indiv.) better than SAC, 5 critics?"] == "no"
    assert verdicts["Is Ensemble SAC (agg.) better than SAC, 5 critics?"] == "yes"


@pytest.mark.slow
def test_advice_is_the_best_of_all_ensembles_and_not_a_lead_that_is_too_small_to_see():
    """The runs that ship: without priors ensembles lead by less than a hundredth of the range of scores."""
    context = make_context(load_runs([Path(__file__).parents[2] / "results" / "exploration"]))
    advice = advise(context)
    assert advice.use is not None and advice.use.label == "CERL + priors (agg.)"
    together = [series for series in context.results.series if series.policy in ("individual", "aggregate")]
    single, plain = (
        next(series for series in together if series.label == label)
        for label in ("Double DQN", "Bootstrapped DQN (agg.)")
    )
    effect = measure(context, minus(plain, single))
    assert effect is not None and effect.reference is None and abs(effect.estimate.value) < 0.01
    assert effect.verdict(1) == "negligible"
