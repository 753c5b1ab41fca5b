"""The figures of runs that were made for many questions."""

from pathlib import Path

from synthetic_runs import MINATAR, SyntheticRun, write_study

from chorus.analysis.loading import load_runs
from chorus.analysis.overview import find_figures, find_variant_figures


def test_each_group_of_algorithms_has_figures_of_its_own(tmp_path: Path) -> None:
    for decay in (2_000, 10_000):
        for preset in ("qr-dqn", "bootstrapped-qr-dqn"):
            name = f"{preset}-{decay}"
            SyntheticRun(preset, options={"epsilon_decay": decay}, entropy=0.5, name=name).write(tmp_path)
    titles = {figure.name: figure.title for figure in find_variant_figures(load_runs([tmp_path]))}
    assert titles["qr-dqn-exploration-decay_steps"] == "Quantile regression: decay of epsilon (agent steps)"


def test_games_and_tasks_have_figures_of_their_own(tmp_path: Path) -> None:
    """Both sweep the replay, in which they have neither environments nor algorithms in common."""
    for preset, env in (("bootstrapped-dqn", MINATAR[0]), ("ensemble-sac", "Hopper-v4")):
        for size in (4_000, 16_000):
            SyntheticRun(preset, env, options={"buffer_size": size}, name=f"{preset}-{size}").write(tmp_path)
    found = {figure.name: figure.drawing for figure in find_variant_figures(load_runs([tmp_path]))}
    assert {"dqn-replay-capacity", "sac-replay-capacity"} <= set(found)
    assert "SAC" not in found["dqn-replay-capacity"].caption and "DQN" not in found["sac-replay-capacity"].caption


def test_curves_over_all_environments_take_two(tmp_path: Path) -> None:
    write_study(tmp_path / "first", envs=MINATAR[:1], seeds=2, iterations=25, iteration_steps=20_000)
    names = {figure.name for figure in find_figures(load_runs([tmp_path]))}
    assert "dqn-environments" in names and "dqn-together" not in names
    write_study(tmp_path / "second", envs=MINATAR[1:2], seeds=2, iterations=25, iteration_steps=20_000)
    assert "dqn-together" in {figure.name for figure in find_figures(load_runs([tmp_path]))}
