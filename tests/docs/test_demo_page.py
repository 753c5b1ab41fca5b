"""The tables of docs/demo.md come from the runs in results/demo, which give the same answers block by block."""

import numpy as np
import pytest

from builders import load_example
from chorus.analysis.power import POWER, chance_to_exclude
from chorus.scheduling.jobs import jobs_of
from chorus.studies.demo import DEMO, FIRST_SEED

audit = load_example("demo_audit")


def test_the_tables_are_those_of_the_runs_that_ship() -> None:
    page = audit.PAGE.read_text(encoding="utf-8")
    assert f"<!-- audit:begin -->\n{audit.audit()}<!-- audit:end -->" in page, "run the script"


def test_the_readme_says_what_one_demo_shows() -> None:
    readme = " ".join((audit.ROOT / "README.md").read_text(encoding="utf-8").split())
    assert all(audit.expected()[question] in readme for question in audit.SHOWN)
    by_all, alone = (
        audit.percent(audit.chances_to_settle(audit.comparisons(runs))[audit.ALL])
        for runs in ([audit.RUNS], audit.whole_demos())
    )
    assert f"By all of these runs {by_all} of demos settle all three, by those three alone {alone}." in readme


def test_at_least_three_blocks_are_whole_demos_with_the_same_verdicts(tmp_path) -> None:
    """The demo's seeds begin at its first, those of a block at its own."""
    jobs = jobs_of(DEMO, "laptop", tmp_path)
    demo = {(job.name.rsplit("__s", 1)[0], str(job.config.seed - FIRST_SEED)) for job in jobs}
    blocks = {first: runs for first, runs in audit.blocks().items() if audit.is_whole(runs)}
    assert len(blocks) >= 3
    for first, runs in blocks.items():
        assert {(name, str(int(seed) - first)) for name, seed in (run.name.rsplit("__s", 1) for run in runs)} == demo
        assert {question for question, answer in audit.answers_of(runs).items() if answer.verdict == "yes"} >= set(
            audit.SHOWN
        )


def test_each_question_is_settled_with_a_chance_of_nine_in_ten() -> None:
    chances = audit.chances_to_settle(audit.comparisons([audit.RUNS]))
    assert all(chances[question] >= POWER for question in audit.SHOWN)


def test_the_chance_of_a_difference_of_means_by_hand() -> None:
    """(1, 3) and (-2, 2): means 2 apart, variances 2 and 8, for 4 seeds each.

    Welch: error² = 2 / 4 + 8 / 4 = 2.5, degrees of freedom 2.5² / (0.5² / 3 + 2² / 3) = 75 / 17. Paired: the
    differences (3, 1) have variance 2, so error² = 2 / 4 with 3 degrees of freedom.
    """
    scores = [np.array([1.0, 3.0]), np.array([-2.0, 2.0])]
    welch, paired = (audit.chance_to_settle(audit.Comparison(scores, names, [4, 4])) for names in ("ab", "aa"))
    assert welch == pytest.approx(chance_to_exclude(2.0, 2.5**0.5, 75 / 17))
    assert paired == pytest.approx(chance_to_exclude(2.0, 0.5**0.5, 3))
