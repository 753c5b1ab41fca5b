"""Final scores: the window comes from the run, leaves out the learning phase, and is stated wherever it is used."""

import json
from pathlib import Path

import pytest
from synthetic_runs import ATARI4, SyntheticRun, write_study

from chorus.analysis.context import describe_windows, make_context
from chorus.analysis.drawings import smoothing
from chorus.analysis.loading import load_runs
from chorus.analysis.report.sections import make_sections
from chorus.analysis.report.tables import final_table
from chorus.analysis.results import Results
from chorus.analysis.warnings import find_warnings, window_warnings
from chorus.config.resolution import Request, resolve
from chorus.config.scales import SCALE_ROWS
from chorus.runs.logs import FinalWindow

ENV = "MinAtar/Breakout-v1"
RETURN = "eval/individual/episodic_return"


def write_returns(path: Path, values: list[float], final_evaluations: int | None) -> Results:
    """A run with these returns; None leaves the field out, as older versions did."""
    run = SyntheticRun(iterations=len(values)).write(path)
    rows = [
        {"iteration": i, "step": i * 40_000, "frames": i * 40_000, "metric": RETURN, "value": value}
        for i, value in enumerate(values, start=1)
    ]
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = json.loads((run / "config.json").read_text())
    del config["evaluation"]["final_evaluations"]
    if final_evaluations is not None:
        config["evaluation"]["final_evaluations"] = final_evaluations
    (run / "config.json").write_text(json.dumps(config))
    return Results(load_runs([path]))


def test_a_run_that_learns_late_has_a_final_score_without_its_learning_phase(tmp_path: Path) -> None:
    late = [0.0] * 20 + [50.0] * 5
    new = write_returns(tmp_path / "new", late, 5)
    assert new.final(new.series[0], ENV).values == pytest.approx([50.0])
    assert new.final(new.series[0], ENV).windows == (FinalWindow(5, 25),)
    old = write_returns(tmp_path / "old", late, None)
    assert old.final(old.series[0], ENV).values == pytest.approx([25.0])  # ten of them, as before


def test_the_window_is_read_from_each_run_and_not_from_the_environment(tmp_path: Path) -> None:
    SyntheticRun(preset="sac", env="Hopper-v4", options={"final_evaluations": 2, "iteration_steps": 4_000}).write(
        tmp_path
    )
    results = Results(load_runs([tmp_path]))
    assert results.final(results.series[0], "Hopper-v4").windows == (FinalWindow(2, 12),)


@pytest.mark.parametrize(
    ("last", "of", "parts"),
    [
        (5, 25, []),
        (5, 15, []),  # exactly a third
        (10, 200, []),
        (5, 14, ["more than a third of a run (last 5 of 14 evaluations)"]),
        (10, 10, ["more than a third of a run (last 10 of 10 evaluations)"]),
        (4, 25, ["fewer than 5 evaluations (last 4 of 25 evaluations)"]),
        (1, 2, ["more than a third", "fewer than 5"]),
    ],
)
def test_a_warning_appears_where_the_window_misleads_and_nowhere_else(
    tmp_path: Path, last: int, of: int, parts: list[str]
) -> None:
    results = write_returns(tmp_path, [1.0] * of, last)
    found = window_warnings(results)
    assert len(found) == len(parts)
    assert all(part in sentence and ENV in sentence for part, sentence in zip(parts, found, strict=True))
    assert set(found) <= set(find_warnings(make_context(results.dataset)))


@pytest.mark.slow
def test_every_figure_of_final_scores_and_the_table_state_the_window(tmp_path: Path) -> None:
    write_study(tmp_path, envs=ATARI4, iterations=25)
    SyntheticRun(
        preset="bootstrapped-dqn", env=ATARI4[0], iterations=25, seed=7, level={"individual": 5.0, "aggregate": 6.0},
        options={"buffer_size": 400_000},
    ).write(tmp_path)  # fmt: skip
    context = make_context(load_runs([tmp_path]), normalisation="single")
    drawn = {panel.name: panel.drawing for section in make_sections(context) for panel in section.panels}
    expected = {name for name in drawn if name.startswith(("gains", "gaps", "sweep"))}
    expected |= {"aggregate-curves", "profiles", "final-scores", "probabilities", "vote-entropy"}
    assert expected <= drawn.keys() and len(expected) > 8
    for name in expected:
        assert "mean of the last 5 of 25 evaluations" in drawn[name].caption, name
    table = final_table(context.results)
    column = table.columns.index("Mean of the")
    assert {row.cells[column].text for row in table.rows} == {"last 5 of 25 evaluations"}


def test_unequal_windows_are_all_named() -> None:
    windows = [FinalWindow(5, 25), FinalWindow(5, 20), FinalWindow(10, 200)]
    assert describe_windows(windows) == "last 5 of 20 to 25 or last 10 of 200 evaluations"


def test_final_scores_of_a_scale_are_the_papers_or_the_last_fifth_of_25() -> None:
    found = {key: (row.final_evaluations, -(-row.total // row.iteration)) for key, row in SCALE_ROWS.items()}
    assert found["atari", "paper"] == found["image", "paper"] == (10, 200)
    assert found["control", "paper"] == (5, 50)
    assert {found[family, "laptop"] for family, _ in SCALE_ROWS if family != "deep_sea"} == {(5, 25)}
    # A sea is solved or not: what happens before its last quarter does not blur a final score.
    assert found["deep_sea", "laptop"] == (5, 20)


@pytest.mark.parametrize("env", [ENV, "CartPole-v1", "MountainCar-v0", "Acrobot-v1", "ALE/Pong-v5", "HalfCheetah-v4"])
def test_laptop_configurations_have_25_evaluations(env: str) -> None:
    config = resolve(Request(preset="sac" if env == "HalfCheetah-v4" else "double-dqn", env=env, scale="laptop")).config
    assert (config.evaluation.final_evaluations, config.schedule.iterations) == (5, 25)


@pytest.mark.parametrize(("env", "window"), [("MinAtar/Breakout-v1", 5), ("ALE/Breakout-v5", 5), ("Hopper-v4", 1)])
def test_only_curves_of_games_are_smoothed(env: str, window: int, tmp_path: Path) -> None:
    preset = "sac" if env == "Hopper-v4" else "double-dqn"
    SyntheticRun(preset=preset, env=env, iterations=60, iteration_steps=40_000).write(tmp_path)
    context = make_context(load_runs([tmp_path]))
    assert smoothing(context, context.results.series, env) == window
