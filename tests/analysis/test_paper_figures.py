"""Every data figure of the paper can be drawn from the runs it needs, and says what it needs otherwise."""

from pathlib import Path

import pytest
from synthetic_runs import ATARI4, SyntheticRun, write_study

from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.grouping import find_sweep_axes
from chorus.analysis.loading import load_runs
from chorus.analysis.paper import PAPER_FIGURES, draw_paper_figure
from chorus.errors import ChorusError


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


def test_all_data_figures_are_there() -> None:
    assert sorted(PAPER_FIGURES) == [2, 3, 4, 5, *range(7, 29)]


@pytest.mark.parametrize("number", [2, 3, 4, 5, 7, 8, 12, 13, 18, 19, 21, 22])
def test_figures_are_drawn(context: AnalysisContext, number: int) -> None:
    panels = draw_paper_figure(context, number)
    for drawing in panels.values():
        assert drawing.rows and drawing.caption
        assert "seed" in drawing.caption
        kinds = ("95 % Student-t intervals over seeds (measured coverage", "percentile bootstrap", "correlation")
        assert any(kind in drawing.caption for kind in kinds)


@pytest.mark.slow
@pytest.mark.parametrize("number", sorted(set(PAPER_FIGURES) - {2, 3, 4, 5, 7, 8, 12, 13, 18, 19, 21, 22}))
def test_the_other_figures_are_drawn(context: AnalysisContext, number: int) -> None:
    assert all(drawing.rows for drawing in draw_paper_figure(context, number).values())


def test_panels_are_the_papers(context: AnalysisContext) -> None:
    assert set(draw_paper_figure(context, 2)) == {"curves", "gains", "environments"}
    assert set(draw_paper_figure(context, 5)) == {"sweep-members", "sweep-shared_layers"}
    rows = draw_paper_figure(context, 5)["sweep-members"]
    assert [axes.get_ylabel() for axes in rows.figure.axes][-1] == "vote entropy (nats)"
    assert rows.figure.axes[0].get_ylabel() == "score (Double DQN = 1)"
    assert context.normalisation.kind == "human"
    sizes = sorted({row[2] for row in rows.rows if row[2] is not None})
    assert sizes == [2.0, 5.0, 10.0]


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
    (sizes,) = find_sweep_axes(make_context(load_runs([tmp_path])).results)
    assert [[variant.members for variant in line] for line in sizes.lines] == [[2, 5], [2, 5]]
    assert [sizes.line_label(line) for line in sizes.lines] == [
        "Bootstrapped DQN, learning_rate=0.0001",
        "Bootstrapped DQN, learning_rate=0.001",
    ]


def test_unknown_and_undrawable_figures_are_refused(context: AnalysisContext, tmp_path: Path) -> None:
    with pytest.raises(ChorusError, match="no data figure 6"):
        draw_paper_figure(context, 6)
    SyntheticRun().write(tmp_path)
    alone = make_context(load_runs([tmp_path]))
    with pytest.raises(ChorusError, match="needs runs with several replay capacities"):
        draw_paper_figure(alone, 4)
