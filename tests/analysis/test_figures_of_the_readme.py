"""Scripts make the README's figures and results; the demo's from whatever runs there are."""

import re

import pytest
from synthetic_runs import LEVELS, MINATAR, SyntheticRun

from builders import load_example

drawing = load_example("draw_figures")
results = load_example("readme_results")


def write_runs(folder, presets):
    for preset in presets:
        for seed in range(3):
            level = {policy: 20 * share for policy, share in LEVELS[preset].items()}
            SyntheticRun(preset, "MinAtar/SpaceInvaders-v1", seed, level).write(folder)


@pytest.mark.slow
def test_the_demos_figure_comes_from_its_runs(tmp_path):
    write_runs(tmp_path / "runs", ("double-dqn", "bootstrapped-dqn", "cerl", "tandem"))
    drawing.main(tmp_path, tmp_path / "runs")
    written = (tmp_path / "demo.svg").read_text(encoding="utf-8")
    assert all(title in written for title in ("Members and their vote", "Active and passive", "Members with CERL"))
    drawing.main(tmp_path, tmp_path / "runs")
    assert (tmp_path / "demo.svg").read_text(encoding="utf-8") == written


def test_questions_without_runs_have_no_panel(tmp_path):
    write_runs(tmp_path / "runs", ("tandem",))
    found = drawing.demo(tmp_path / "runs")["demo"]
    assert [axes.get_title("left") for axes in found.figure.axes] == ["Active and passive"]


@pytest.mark.slow
def test_the_diagrams_have_a_background_so_that_they_can_be_read_on_dark_pages(tmp_path):
    drawing.main(tmp_path)
    halves = {"curse": ("Single agent", "Ensemble with 4 members"), "cerl": ("Ensemble", "Ensemble with CERL")}
    for name, titles in halves.items():
        written = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
        assert all(title in written for title in titles)
        assert re.search(r'id="patch_1">\s*<path [^>]*style="fill: #ffffff"', written)


def test_the_results_of_other_runs_are_theirs(tmp_path):
    """Levels are shares of 20 that a run keeps; 0.7 is that of a member, and of each seed everything is one higher."""
    for seed in range(3):
        for preset in ("double-dqn", "bootstrapped-dqn"):
            level = {policy: 20 * share + seed for policy, share in LEVELS[preset].items()}
            SyntheticRun(preset, "MinAtar/SpaceInvaders-v1", seed, level).write(tmp_path / "results" / "games")
    for env in MINATAR:
        SyntheticRun(env=env).write(tmp_path / "results" / "one-seed")
    page = tmp_path / "README.md"
    page.write_text("before\n<!-- results:begin -->\nold\n<!-- results:end -->\nafter\n", encoding="utf-8")
    results.write(page, tmp_path / "results")
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "before" and lines[-1] == "after" and "old" not in lines
    assert "one-seed" not in page.read_text(encoding="utf-8")
    assert (
        "| [games](results/games): 6 runs, 3 seeds, laptop scale, other settings | MinAtar/SpaceInvaders-v1 |" in lines
    )
    # 4.30 is Student's t with two degrees of freedom, and 0.577 the standard error of 0, 1 and 2.
    assert "| Double DQN | 21.0 ± 2.5 |" in lines
    (row,) = (line for line in lines if line.startswith("| Bootstrapped DQN |"))
    assert row.startswith("| Bootstrapped DQN | 15.0 ± 2.5 / ")
    assert any(line.startswith("- *games: Is there a curse of diversity?* Yes") for line in lines)
