"""The tables of docs/demo.md come from the runs in results/demo, and the script survives blocks in progress."""

import re
from collections.abc import Iterable
from pathlib import Path

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
    assert f"<!-- choice:begin -->\n{audit.choice()}<!-- choice:end -->" in page, "run the script"


def test_the_readme_says_what_one_demo_shows() -> None:
    readme = " ".join((audit.ROOT / "README.md").read_text(encoding="utf-8").split())
    assert all(audit.expected()[question] in readme for question in audit.SHOWN)
    every, alone = (
        audit.percent(audit.chances_to_settle(audit.comparisons(runs))[audit.ALL])
        for runs in (audit.runs_of_demos(), audit.whole_demos())
    )
    numbers = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten"}
    whole = sum(map(audit.is_whole, audit.blocks().values()))
    assert (
        f"Estimated from all {numbers[len(audit.blocks())]} demos, a demo settles all three with a chance of {every}; "
        f"estimated from those {numbers[whole]} alone, {alone}."
    ) in readme
    # The table of the page has an older processor with AVX2.
    slowest = re.search(r"AVX2\) \| \d+ \| \d+ to (\d+) \|", audit.PAGE.read_text(encoding="utf-8"))
    assert slowest and f"older AVX2 processors: up to {slowest[1]}" in readme


def test_at_least_three_whole_demos_settle_all_that_the_demo_is_there_to_show(tmp_path) -> None:
    """The demo's seeds begin at its first, those of a block at its own. One demo may leave a question open."""
    jobs = jobs_of(DEMO, "laptop", tmp_path)
    demo = {(job.name.rsplit("__s", 1)[0], str(job.config.seed - FIRST_SEED)) for job in jobs}
    blocks = {first: runs for first, runs in audit.blocks().items() if audit.is_whole(runs)}
    settled = 0
    for first, runs in blocks.items():
        assert {(name, str(int(seed) - first)) for name, seed in (run.name.rsplit("__s", 1) for run in runs)} == demo
        verdicts = {question: answer.verdict for question, answer in audit.answers_of(runs).items()}
        assert "no" not in {verdicts[question] for question in audit.SHOWN}
        settled += all(verdicts[question] == "yes" for question in audit.SHOWN)
    assert settled >= 3


def test_each_question_is_settled_with_the_chance_on_the_page() -> None:
    """The chance is an estimate, which moves with every block; well below POWER the demo would need more seeds."""
    page = audit.PAGE.read_text(encoding="utf-8")
    chances = audit.chances_to_settle(audit.comparisons(audit.runs_of_demos()))
    for question in audit.SHOWN:
        assert chances[question] >= POWER - 0.1
        (row,) = (line for line in page.splitlines() if line.startswith(f"| {question} |"))
        assert f"| {audit.percent(chances[question])} (" in row


def linked(folder: Path, runs: Iterable[Path]) -> Path:
    """A folder with some of the published runs."""
    folder.mkdir()
    for run in runs:
        (folder / run.name).symlink_to(run)
    return folder


def of_preset(runs: Iterable[Path], preset: str) -> list[Path]:
    return [run for run in runs if audit.presets()[audit.name_and_seed(run)[0]] == preset]


def test_a_block_in_progress_has_no_row(tmp_path) -> None:
    """One run of seed 1700 and all but one of the former numbers of seeds; whole demos are as they were."""
    started, *_ = of_preset(audit.whole_demos(), "double-dqn")
    folder = linked(tmp_path / "demo", audit.whole_demos())
    (folder / f"{audit.name_and_seed(started)[0]}__s1700").symlink_to(started)
    for run in audit.within(audit.blocks()[1000], audit.former_seeds())[1:]:
        (folder / run.name).symlink_to(run)
    assert list(audit.blocks(folder)) == [first for first, runs in audit.blocks().items() if audit.is_whole(runs)]
    assert len(audit.whole_demos(folder)) == len(audit.whole_demos())
    text = audit.audit(folder)
    assert "| 1400 |" in text and "| 1000 |" not in text and "| 1700 |" not in text


def test_runs_of_other_configurations_do_not_count(tmp_path) -> None:
    other = next(iter(sorted((audit.RESULTS / "short").glob("*cerl*__s1000"))))
    runs = audit.blocks()[1400]
    folder = linked(tmp_path / "demo", [*runs, other])
    assert other.name not in {run.name for run in audit.runs_of_demos(folder)}
    assert audit.within([*runs, other], audit.demo_seeds()) == runs
    assert audit.comparisons([other]) == {}
    assert audit.chances_to_settle(audit.comparisons([*runs, other])) == audit.chances_to_settle(
        audit.comparisons(runs)
    )


def test_without_a_whole_demo_nothing_is_said_of_one(tmp_path) -> None:
    folder = linked(tmp_path / "demo", audit.blocks()[1000])
    assert audit.whole_demos(folder) == [] and set(audit.expected(folder).values()) == {""}
    rows = [line for line in audit.audit(folder).splitlines() if line.startswith(f"| {audit.ALL} |")]
    assert len(rows) == 1 and rows[0].endswith(") |  |")
    # Without an ensemble there is one question to answer, and no chance of all three.
    few = of_preset(audit.blocks()[1000], "tandem")
    assert audit.ALL not in audit.chances_to_settle(audit.comparisons(few))


@pytest.mark.parametrize("block", ["-100", "0", "1750", "2000"])
def test_a_block_that_cannot_be_is_refused(block, capsys) -> None:
    assert audit.main(["--block", block]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"--block is {block}; blocks begin at multiples of 100 from 1000 to 1900: smaller seeds")


def test_the_chance_of_a_difference_of_means_by_hand() -> None:
    """(1, 3) and (-2, 2): means 2 apart, variances 2 and 8, for 4 seeds each.

    Welch: error² = 2 / 4 + 8 / 4 = 2.5, degrees of freedom 2.5² / (0.5² / 3 + 2² / 3) = 75 / 17. Paired: the
    differences (3, 1) have variance 2, so error² = 2 / 4 with 3 degrees of freedom.
    """
    scores = [np.array([1.0, 3.0]), np.array([-2.0, 2.0])]
    welch, paired = (audit.chance_to_settle(audit.Comparison(scores, names, [4, 4])) for names in ("ab", "aa"))
    assert welch == pytest.approx(chance_to_exclude(2.0, 2.5**0.5, 75 / 17))
    assert paired == pytest.approx(chance_to_exclude(2.0, 0.5**0.5, 3))
