"""Which figures a page has, in which order, and what their captions promise."""

import json
from pathlib import Path

import numpy as np
import pytest
from synthetic_runs import MINATAR, SyntheticRun, write_study

from chorus.analysis import contrasts, drawings
from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.grouping import find_comparison_groups, find_sweep_axes
from chorus.analysis.loading import load_runs
from chorus.analysis.report.document import hover_data, render_drawing
from chorus.analysis.report.panels import Section
from chorus.analysis.report.sections import main_series, make_sections

MUJOCO = ("Ant-v4", "Hopper-v4")
SAC = {
    "sac": {"individual": 1.0, "individual-mode": 1.1},
    "ensemble-sac": {"individual": 0.6, "aggregate": 0.8, "individual-mode": 0.7, "aggregate-mode": 0.9},
}


def context_of(folder: Path) -> AnalysisContext:
    return make_context(load_runs([folder]))


def panels_of(sections: list[Section]) -> dict[str, list[str]]:
    return {section.name: [panel.name for panel in section.panels] for section in sections}


@pytest.fixture(scope="module")
def one_environment(tmp_path_factory: pytest.TempPathFactory) -> AnalysisContext:
    return context_of(write_study(tmp_path_factory.mktemp("one"), envs=MINATAR[:1], seeds=3))


@pytest.fixture(scope="module")
def sections(one_environment: AnalysisContext) -> list[Section]:
    return make_sections(one_environment)


@pytest.fixture(scope="module")
def capacity_sweep(tmp_path_factory: pytest.TempPathFactory) -> AnalysisContext:
    """SAC and its ensemble on two tasks with two replay capacities; tasks differ in the effect of the capacity."""
    folder = tmp_path_factory.mktemp("sweep")
    for env, gain in zip(MUJOCO, (0.0, 0.3), strict=True):
        for preset, levels in SAC.items():
            for capacity in (50_000, 200_000):
                for seed in range(3):
                    more = gain if capacity == 200_000 and preset == "ensemble-sac" else 0.0
                    SyntheticRun(
                        preset=preset,
                        env=env,
                        seed=seed,
                        level={policy: 1_000 * (level + more) for policy, level in levels.items()},
                        noise=20.0,
                        options={"buffer_size": capacity},
                        swept=("replay.capacity",),
                        name=f"{env}-{preset}-{capacity}-{seed}",
                    ).write(folder)
    return context_of(folder)


@pytest.mark.slow
def test_one_environment_starts_with_its_learning_curves_and_has_no_chart_of_a_single_bar(
    sections: list[Section],
) -> None:
    panels = panels_of(sections)
    assert panels["learning"] == ["questions-0", "curves-0", "final-scores"]
    assert next(iter(panels)) == "learning"
    every = [name for names in panels.values() for name in names]
    assert "profiles" not in every and not any(name.startswith("gains") for name in every)
    drawn = {panel.name: panel.drawing for section in sections for panel in section.panels}
    assert len(drawn["final-scores"].figure.axes) == 1  # the mean; in one environment the median is the same
    assert len(drawn["vote-entropy"].rows) == 2
    captions = [drawn[name].caption for name in drawn]
    assert not any("averaged over environments" in caption or "1 environments" in caption for caption in captions)


def test_the_three_panels_answer_the_three_questions(one_environment: AnalysisContext) -> None:
    (group,) = find_comparison_groups(one_environment.results)
    questions = drawings.question_curves(one_environment, group, MINATAR[0])
    labels = {title: [line.label for line in lines] for title, lines in questions.panels.items()}
    assert labels == {
        "Members and their vote": ["Double DQN", "Bootstrapped DQN (indiv.)", "Bootstrapped DQN (agg.)"],
        "Active and passive": ["10%-tandem (active)", "10%-tandem (passive)"],
        "Members with CERL": ["Double DQN", "Bootstrapped DQN (indiv.)", "Bootstrapped DQN + CERL (indiv.)"],
    }
    # The same series has the same band in both panels.
    assert questions.panels["Members and their vote"][0] is questions.panels["Members with CERL"][0]
    wide, narrow = questions.draw(columns=3), questions.draw(columns=1, legend=False)
    assert len({axes.get_ylim() for axes in wide.figure.axes}) == 1
    assert wide.rows == narrow.rows and wide.figure.legends and not narrow.figure.legends
    assert narrow.figure.get_figwidth() < 5 < wide.figure.get_figwidth()


def test_without_cerl_its_panel_would_repeat_the_first(tmp_path: Path) -> None:
    write_study(tmp_path, envs=MINATAR[:1], seeds=2, presets=("double-dqn", "bootstrapped-dqn"))
    context = context_of(tmp_path)
    (group,) = find_comparison_groups(context.results)
    assert list(drawings.question_curves(context, group, MINATAR[0]).panels) == ["Members and their vote"]
    panels = panels_of(make_sections(context))
    assert panels["learning"] == ["questions-0", "final-scores"]  # every curve is in the first figure
    assert "inside" not in panels  # one ensemble: one bar


@pytest.mark.slow
@pytest.mark.parametrize("envs", [1, 2])
def test_a_single_seed_promises_no_intervals(tmp_path: Path, envs: int) -> None:
    write_study(tmp_path, envs=MINATAR[:envs], seeds=1)
    captions = [panel.drawing.caption for section in make_sections(context_of(tmp_path)) for panel in section.panels]
    assert captions and not any("bands" in text or "Lines" in text or "bars:" in text for text in captions)


@pytest.mark.slow
def test_several_environments_start_with_their_aggregate(tmp_path: Path) -> None:
    write_study(tmp_path, envs=MINATAR[:2], seeds=2)
    context = context_of(tmp_path)
    panels = panels_of(make_sections(context))
    assert list(panels)[:2] == ["overall", "environments"]
    assert panels["overall"] == ["aggregate-curves", "profiles", "final-scores"]
    aggregates = drawings.final_aggregates(context, context.results.series)
    assert [axes.get_title("left") for axes in aggregates.figure.axes if axes.get_visible()] == [
        "IQM ▲",
        "Mean ▲",
        "Optimality gap ▼",
    ]  # of two environments the median is the mean


@pytest.mark.slow
def test_a_sweep_shows_all_environments_and_each(capacity_sweep: AnalysisContext) -> None:
    (axis,) = find_sweep_axes(capacity_sweep.results)
    drawing = contrasts.sweep(capacity_sweep, axis)
    titles = [axes.get_title("left") for axes in drawing.figure.axes if axes.get_title("left")]
    assert titles == ["All 2: IQM", *MUJOCO]
    column = drawing.columns.index("replay capacity (transitions)")
    scores = {(row[-1], row[column]): row[column + 1] for row in drawing.rows if row[1] == "Ensemble SAC (indiv.)"}
    # Only Hopper gains from the larger replay.
    assert abs(scores["Ant-v4", 200_000.0] - scores["Ant-v4", 50_000.0]) < 0.1
    assert scores["Hopper-v4", 200_000.0] - scores["Hopper-v4", 50_000.0] > 0.2
    assert "in the same normalisation" in drawing.caption
    narrow = contrasts.sweep(capacity_sweep, axis, most_columns=2)
    assert narrow.rows == drawing.rows and narrow.figure.get_figwidth() < 5


def test_sweeps_draw_modes_only_on_request(capacity_sweep: AnalysisContext) -> None:
    (axis,) = find_sweep_axes(capacity_sweep.results)

    def series(**options: bool) -> set[str]:
        return {str(row[1]) for row in contrasts.sweep(capacity_sweep, axis, **options).rows}

    assert series() == {"SAC", "Ensemble SAC (indiv.)", "Ensemble SAC (agg.)"}
    assert series(modes=True) - series() == {
        "SAC (indiv., modes)",
        "Ensemble SAC (indiv., modes)",
        "Ensemble SAC (agg., modes)",
    }
    assert not any("modes" in s.label for s in main_series(capacity_sweep))


@pytest.mark.slow
def test_curves_leave_other_values_of_a_sweep_to_its_figure(capacity_sweep: AnalysisContext) -> None:
    assert len({s.variant for s in main_series(capacity_sweep)}) == 2 < len(capacity_sweep.results.dataset.variants)
    (overall, settings, *_) = make_sections(capacity_sweep)
    assert "2 other values of swept settings are in the figures of settings" in overall.panels[0].drawing.caption
    assert [panel.name for panel in settings.panels] == ["sweep-replay-capacity"]
    assert settings.panels[0].full and settings.panels[0].narrow is not None


def test_curves_show_every_value_of_a_sweep_that_no_comparison_is_made_with(tmp_path: Path) -> None:
    for fraction in (0.2, 0.6):
        for seed in range(2):
            SyntheticRun(
                preset="self-oversampled",
                seed=seed,
                options={"own_probability": fraction},
                level={"individual": 1.0, "aggregate": 1.0},
                name=f"{fraction}-{seed}",
            ).write(tmp_path)
    context = context_of(tmp_path)
    assert len({s.variant for s in main_series(context)}) == len(context.results.dataset.variants) == 2


def test_games_are_smoothed_and_mujoco_tasks_beside_them_are_not(tmp_path: Path) -> None:
    for env, preset in ((MINATAR[0], "double-dqn"), ("Walker2d-v4", "sac")):
        SyntheticRun(preset=preset, env=env, iterations=60, iteration_steps=20_000).write(tmp_path)
    context = context_of(tmp_path)
    drawing = drawings.learning_curve_grid(context, context.results.series)
    assert f"Each run in {MINATAR[0]} smoothed over 5 evaluations." in drawing.caption
    for env, points in (("Walker2d-v4", slice(1, 2)), (MINATAR[0], slice(0, 2))):
        (raw,) = [curve.values[0] for s in context.results.series if (curve := context.results.curve(s, env))]
        second = [row for row in drawing.rows if row[0] == env][1]
        assert second[3] == pytest.approx(raw[points].mean())


def test_diagrams_show_the_single_agent_and_the_plain_ensemble(sections: list[Section]) -> None:
    (diagrams,) = [section for section in sections if section.name == "diagrams"]
    drawn = {panel.name: panel.drawing for panel in diagrams.panels}
    assert [axes.get_title("left") for axes in drawn["data"].figure.axes] == [
        "Double DQN",
        "Bootstrapped DQN",
        "10%-tandem",
    ]
    assert [axes.get_title("left") for axes in drawn["heads"].figure.axes] == [
        "Bootstrapped DQN",
        "Bootstrapped DQN + CERL",
    ]


@pytest.mark.slow
def test_marks_are_where_the_page_draws_them(one_environment: AnalysisContext) -> None:
    """Constrained layouts are known only once a figure was drawn."""
    (group,) = find_comparison_groups(one_environment.results)
    drawing = drawings.question_curves(one_environment, group, MINATAR[0]).draw(legend=False)
    before = np.array(hover_data(drawing, {})["marks"])
    shown = np.array(json.loads(render_drawing(drawing, "name", {})["data"])["marks"])
    drawing.figure.draw_without_rendering()
    after = np.array(hover_data(drawing, {})["marks"])
    # In points; labels have slightly other sizes at the resolution of an SVG file.
    assert np.abs(shown - after).max() < 2 < np.abs(shown - before).max()
