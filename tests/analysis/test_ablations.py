"""Every variant beside the algorithm that it changes."""

from pathlib import Path

import pytest
from synthetic_runs import SyntheticRun

from chorus.analysis.ablations import MEASURED, Ablation, draw_ablations, find_ablations
from chorus.analysis.context import AnalysisContext, make_context
from chorus.analysis.contrasts import sweep
from chorus.analysis.figures.style import ROLE_COLOUR
from chorus.analysis.grouping import find_sweep_axes
from chorus.analysis.loading import load_runs

SEEDS = range(4)


def written(folder: Path, preset: str, level: float, entropy: float | None = None, **options: int) -> None:
    """Four seeds around a level, with the vote 2 above the members."""
    for seed in SEEDS:
        spread = 0.1 * (seed - 1.5)
        levels = {"individual": level + spread}
        if preset != "double-dqn":
            levels["aggregate"] = level + spread + 2.0
        name = "-".join(map(str, (preset, *options.values(), seed)))
        SyntheticRun(preset, seed=seed, level=levels, entropy=entropy, options=dict(options), name=name).write(folder)


@pytest.fixture
def context(tmp_path: Path) -> AnalysisContext:
    written(tmp_path, "double-dqn", 10.0)
    written(tmp_path, "double-dqn", 11.0, buffer_size=4_000)
    written(tmp_path, "bootstrapped-dqn", 8.0, 0.7)
    written(tmp_path, "bootstrapped-dqn", 9.0, 0.7, buffer_size=4_000)
    written(tmp_path, "per-step", 8.0, 0.7)
    written(tmp_path, "cerl", 9.5, 0.6)
    return make_context(load_runs([tmp_path]))


def by_label(context: AnalysisContext) -> dict[str, Ablation]:
    return {one.variant.label: one for one in find_ablations(context)}


def test_each_variant_stands_beside_what_it_changes(context: AnalysisContext) -> None:
    found = by_label(context)
    assert {label: one.plain.label for label, one in found.items()} == {
        "Double DQN, 4k buffer": "Double DQN",
        "Bootstrapped DQN, 4k buffer": "Bootstrapped DQN",
        "Bootstrapped DQN, switching each step": "Bootstrapped DQN",
        "Bootstrapped DQN + CERL": "Bootstrapped DQN",
    }
    cerl = dict(zip(MEASURED, found["Bootstrapped DQN + CERL"].effects, strict=True))
    # 9.5 - 8 for the members, 11.5 - 10 for the vote, 0.6 - 0.7 for the entropy
    for name, value in (("members", 1.5), ("together", 1.5), ("diversity", -0.1)):
        effect = cerl[name]
        assert effect is not None and effect.estimate.value == pytest.approx(value)
    single = dict(zip(MEASURED, found["Double DQN, 4k buffer"].effects, strict=True))
    assert single["members"] is not None and single["members"].estimate.value == pytest.approx(1.0)
    assert single["together"] is None and single["diversity"] is None


def test_the_figure_has_ensembles_only_and_is_hollow_where_nothing_is_settled(context: AnalysisContext) -> None:
    drawing = draw_ablations(list(find_ablations(context)))
    assert drawing is not None
    titles = [axes.get_title("left") for axes in drawing.figure.axes]
    assert titles == ["members (return)", "together (return)", "vote entropy (nats)"]
    names = [label.get_text() for label in drawing.figure.axes[0].get_yticklabels()]
    assert len(names) == 3 and not any("Double" in name for name in names)
    dots = [line for line in drawing.figure.axes[0].lines if line.get_marker() == "o"]
    assert [dot.get_markerfacecolor() == "none" for dot in dots] == [name.endswith("each step") for name in names]


def test_no_figure_without_variants_of_the_ensemble(tmp_path: Path) -> None:
    written(tmp_path, "double-dqn", 10.0)
    written(tmp_path, "double-dqn", 11.0, buffer_size=4_000)
    context = make_context(load_runs([tmp_path]))
    assert draw_ablations(list(find_ablations(context))) is None


def test_a_sweep_shows_no_diversity_of_single_agents(tmp_path: Path) -> None:
    for decay in (2_000, 10_000):
        written(tmp_path, "double-dqn", 10.0, 0.0, epsilon_decay=decay)
        written(tmp_path, "bootstrapped-dqn", 8.0, 0.7, epsilon_decay=decay)
    context = make_context(load_runs([tmp_path]))
    (axis,) = [axis for axis in find_sweep_axes(context.results) if "decay" in axis.path]
    drawing = sweep(context, axis)
    assert drawing is not None
    rows = [dict(zip(drawing.columns, row, strict=True)) for row in drawing.rows]
    entropies = [row["series"] for row in rows if row["measure"] == "vote entropy (nats)"]
    assert entropies and not any("Double" in str(series) for series in entropies)
    scores = [row["measure"] for row in rows if "Double" in str(row["series"])]
    assert scores and set(scores) == {"score (Double DQN = 1)"}


def test_of_equally_many_changed_settings_the_most_runs_have_the_colour_of_the_role(tmp_path: Path) -> None:
    """No variant has the defaults, as in the demo's setting."""
    for buffer, seed in ((4_000, 0), (36_000, 0), (36_000, 1)):
        run = SyntheticRun("bootstrapped-dqn", seed=seed, options={"buffer_size": buffer}, name=f"{buffer}-{seed}")
        run.write(tmp_path)
    context = make_context(load_runs([tmp_path]))
    colours = {v.capacity: context.palette.style(v, "individual").colour for v in context.results.dataset.variants}
    assert colours[36_000] == ROLE_COLOUR["ensemble"] != colours[4_000]
