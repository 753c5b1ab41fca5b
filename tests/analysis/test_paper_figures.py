"""The panels of every study can be drawn from the runs it needs, and a sentence says so otherwise."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from synthetic_runs import ATARI4, SyntheticRun, write_study

from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.grouping import find_sweep_axes
from chorus.analysis.loading import load_runs
from chorus.analysis.paper import draw_panels
from chorus.errors import ChorusError
from chorus.studies.panels import Curves, Panel, Sweep, TrainingTime
from chorus.studies.table import STUDIES, find_study


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> AnalysisContext:
    """All roles on four Atari games, and sweeps over size, layers, buffer and share on one of them."""
    folder = tmp_path_factory.mktemp("runs")
    presets = ("double-dqn", "bootstrapped-dqn", "cerl", "tandem")
    write_study(folder, presets=presets, envs=ATARI4, seeds=2, base=lambda env: 3_000.0, noise=40.0, action_repeat=4)
    both = {"individual": 2_000.0, "aggregate": 3_000.0}
    for option, values in {"members": (2, 5), "shared_layers": (3,), "buffer_size": (400_000,)}.items():
        for value in values:
            for seed in range(2):
                SyntheticRun(
                    preset="bootstrapped-dqn",
                    env=ATARI4[0],
                    seed=seed,
                    options={option: value},
                    level=both,
                    noise=40.0,
                    name=f"{option}-{value}-{seed}",
                    entropy=0.4,
                    action_repeat=4,
                ).write(folder)
    for seed in range(2):
        SyntheticRun(
            preset="tandem",
            env=ATARI4[0],
            seed=seed,
            options={"passive_share": 0.5},
            level={"active": 2_000.0, "passive": 1_900.0},
            noise=40.0,
            name=f"half-{seed}",
            action_repeat=4,
        ).write(folder)
    return make_context(load_runs([folder]))


QUICK = [f"figure{number}" for number in (2, 3, 4, 5, 7, 8, 12, 13, 18, 19, 21, 22)]
# Drawn from runs of their own: a policy, settings and timings that the runs above do not have.
OTHER_RUNS = ("diverging-member", "hyperparameters", "cost")


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_figures_are_drawn(context: AnalysisContext, name: str) -> None:
    panels = draw_panels(context, find_study(name).panels)
    for drawing in panels.values():
        assert drawing.rows and drawing.caption
        assert "seed" in drawing.caption
        kinds = ("95 % Student-t intervals over seeds (measured coverage", "percentile bootstrap", "correlation")
        assert any(kind in drawing.caption for kind in kinds)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(STUDIES) - {*QUICK, *OTHER_RUNS}))
def test_the_other_figures_are_drawn(context: AnalysisContext, name: str) -> None:
    assert all(drawing.rows for drawing in draw_panels(context, find_study(name).panels).values())


def test_panels_are_the_papers(context: AnalysisContext) -> None:
    assert set(draw_panels(context, find_study("figure2").panels)) == {"curves", "gains-over-single", "environments"}
    sweeps = draw_panels(context, find_study("figure5").panels)
    assert set(sweeps) == {"sweep-agent-members", "sweep-agent-shared_layers"}
    rows = sweeps["sweep-agent-members"]
    assert [axes.get_ylabel() for axes in rows.figure.axes][-1] == "vote entropy (nats)"
    assert rows.figure.axes[0].get_ylabel() == "score (Double DQN = 1)"
    assert context.normalisation.kind == "human"
    sizes = sorted({row[2] for row in rows.rows if row[2] is not None})
    assert sizes == [2.0, 5.0, 10.0]


def test_single_agents_stand_beside_any_policy_and_a_policy_of_the_study_has_its_own_curve(tmp_path: Path) -> None:
    for seed in range(2):
        SyntheticRun(seed=seed, level={"individual": 10.0}, noise=0.5).write(tmp_path)
        levels = {"individual": 5.0, "aggregate": 6.0, "bystander": 7.0}
        SyntheticRun(preset="cerl", seed=seed, level=levels, noise=0.5).write(tmp_path)
    context = make_context(load_runs([tmp_path]))
    (curves,) = draw_panels(context, [Curves(policies=("bystander",))]).items()
    assert curves[0] == "curves-bystander"
    assert {row[0] for row in curves[1].rows} == {"Double DQN", "Bootstrapped DQN + CERL (bystander)"}


def write_timings(run: Path, seconds: Sequence[float], steps: int = 1_000) -> None:
    """One iteration of `steps` steps for each number of seconds of training."""
    rows = [
        {"iteration": number, "step": number * steps, "metric": "charts/SPS", "value": steps / spent}
        for number, spent in enumerate(seconds, 1)
    ]
    (run / "timings.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_training_time_is_drawn_in_milliseconds_per_step_without_the_first_iteration(tmp_path: Path) -> None:
    for preset, spent in (("double-dqn", 2.0), ("bootstrapped-dqn", 3.5)):
        for seed in range(2):
            level = {"individual": 1.0} if preset == "double-dqn" else {"individual": 1.0, "aggregate": 1.0}
            run = SyntheticRun(preset=preset, seed=seed, level=level).write(tmp_path)
            write_timings(run, [60.0, spent, spent + seed, spent])
    context = make_context(load_runs([tmp_path]))
    drawing = draw_panels(context, [TrainingTime()])["training-time"]
    assert {row[0]: row[1] for row in drawing.rows} == pytest.approx({"Double DQN": 2.0, "Bootstrapped DQN": 3.5})
    assert "2 seeds each" in drawing.caption and "without evaluation" in drawing.caption


def test_a_sweep_over_two_settings_has_a_line_for_each_value_of_the_other(tmp_path: Path) -> None:
    for members in (2, 5):
        for rate in (1e-4, 1e-3):
            for seed in range(2):
                SyntheticRun(
                    preset="bootstrapped-dqn",
                    seed=seed,
                    options={"members": members, "learning_rate": rate},
                    level={"individual": 1.0, "aggregate": 1.0},
                    name=f"{members}-{rate}-{seed}",
                ).write(tmp_path)
    axes = {axis.path: axis for axis in find_sweep_axes(make_context(load_runs([tmp_path])).results)}
    assert set(axes) == {"agent.members", "agent.optimizer.learning_rate"}
    sizes = axes["agent.members"]
    assert [[variant.members for variant in line] for line in sizes.lines] == [[2, 5], [2, 5]]
    assert [sizes.line_label(line) for line in sizes.lines] == [
        "Bootstrapped DQN, learning_rate=0.0001",
        "Bootstrapped DQN, learning_rate=0.001",
    ]


def test_panels_that_the_runs_do_not_allow_are_refused(tmp_path: Path) -> None:
    SyntheticRun().write(tmp_path)
    alone = make_context(load_runs([tmp_path]))
    with pytest.raises(ChorusError, match=r"nothing for the panels Sweep, TrainingTime; .* --dry-run"):
        draw_panels(alone, [Sweep(path="replay.capacity"), TrainingTime()])


def test_a_panel_that_nobody_draws_is_an_error(context: AnalysisContext) -> None:
    with pytest.raises(TypeError, match="no function draws Panel"):
        draw_panels(context, [Panel()])
