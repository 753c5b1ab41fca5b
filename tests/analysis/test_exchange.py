"""Exports that other tools read, imports of published curves, and the round trip between them."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from synthetic_runs import SyntheticRun, write_study

from chorus.analysis.exchange import dopamine_name, export_all, export_rliable, file_stem, load_curves
from chorus.analysis.grouping import find_comparison_groups
from chorus.analysis.loading import Dataset, load_runs, merge
from chorus.analysis.results import Results
from chorus.errors import ChorusError


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    write_study(
        tmp_path / "runs",
        presets=("double-dqn", "bootstrapped-dqn"),
        envs=("ALE/SpaceInvaders-v5", "ALE/Breakout-v5"),
        seeds=3,
        action_repeat=4,
    )
    return load_runs([tmp_path / "runs"])


def read(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def test_long_csv_has_every_row(dataset: Dataset, tmp_path: Path) -> None:
    export_all(dataset, tmp_path / "out")
    rows = read(tmp_path / "out" / "long.csv")
    assert len(rows) == dataset.table.count
    assert sum(float(row["value"]) for row in rows) == pytest.approx(dataset.table.value.sum())
    assert {row["algorithm"] for row in rows} == {"Double DQN", "Bootstrapped DQN"}


def test_final_scores_and_rliable_matrices_agree(dataset: Dataset, tmp_path: Path) -> None:
    export_all(dataset, tmp_path / "out")
    rows = read(tmp_path / "out" / "final_scores.csv")
    with np.load(tmp_path / "out" / "scores.npz", allow_pickle=False) as stored:
        matrices = {name: stored[name] for name in stored.files}
    environments = matrices.pop("environments").tolist()
    assert environments == ["ALE/Breakout-v5", "ALE/SpaceInvaders-v5"]
    assert set(matrices) == {"Double DQN", "Bootstrapped DQN (indiv.)", "Bootstrapped DQN (agg.)"}
    assert all(matrix.shape == (3, 2) for matrix in matrices.values())
    votes = [float(r["score"]) for r in rows if r["policy"] == "aggregate" and r["env"] == environments[0]]
    assert matrices["Bootstrapped DQN (agg.)"][:, 0] == pytest.approx(votes, rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "members", "name"),
    [
        ("eval/individual/episodic_return", 1, "Eval/AverageReturns"),
        ("eval/individual/episodic_return", 10, "Eval/Random/AverageReturns"),
        ("eval/aggregate/episodic_return", 10, "Eval/Vote/AverageReturns"),
        ("eval/passive/episodic_return", 2, "Eval/Passive/AverageReturns"),
        ("diversity/vote_entropy/aggregate", 10, "Eval/Vote/Entropy"),
        ("charts/episodic_return", 10, "Train/AverageReturns"),
        ("eval/member_3/episodic_return", 10, None),
    ],
)
def test_dopamine_names(metric: str, members: int, name: str | None) -> None:
    assert dopamine_name(metric, members) == name


def test_dopamine_metrics_are_a_list_an_iteration(dataset: Dataset, tmp_path: Path) -> None:
    export_all(dataset, tmp_path / "out")
    content = json.loads((tmp_path / "out" / "dopamine_metrics.json").read_text())
    assert len(content) == len(dataset.runs)
    run = content["ALE-Breakout-v5__double-dqn__s0"]
    assert [entry["iteration"] for entry in run] == list(range(1, 13)) and "Eval/AverageReturns" in run[0]


def test_dopamine_baselines_come_back_as_they_went(dataset: Dataset, tmp_path: Path) -> None:
    export_all(dataset, tmp_path / "out")
    path = tmp_path / "out" / "dopamine" / "spaceinvaders.json"
    published = load_curves([path], dataset.envs)
    assert published.envs == ("ALE/SpaceInvaders-v5",)
    assert len(published.runs) == 3 * 3  # three series, three seeds each
    ours, theirs = Results(dataset), Results(published)
    for series in ours.series:
        (twin,) = [s for s in theirs.series if s.label == f"{series.label}, published"]
        values = theirs.curve(twin, "ALE/SpaceInvaders-v5").values
        assert values == pytest.approx(ours.curve(series, "ALE/SpaceInvaders-v5").values)


def test_published_curves_are_drawn_and_never_the_reference(dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "breakout.json"
    records = [{"Iteration": i, "Value": 5.0 + i, "Agent": "DQN"} for run in range(2) for i in range(4)]
    path.write_text(json.dumps(records))
    both = merge(dataset, load_curves([path], dataset.envs))
    results = Results(both)
    (published,) = [s for s in results.series if s.variant.role == "published"]
    assert published.label == "DQN, published"
    curve = results.curve(published, "ALE/Breakout-v5")
    assert curve.values.shape == (2, 4)
    assert curve.steps.tolist() == [250_000, 500_000, 750_000, 1_000_000]
    assert curve.frames.tolist() == [1e6, 2e6, 3e6, 4e6]
    (group,) = find_comparison_groups(results)
    assert group.single.label == "Double DQN"


def test_plain_csv_curves(tmp_path: Path) -> None:
    path = tmp_path / "curves.csv"
    path.write_text("env,algorithm,seed,step,return\nAnt-v4,TD3,0,2000,7\nAnt-v4,TD3,0,1000,5\nAnt-v4,TD3,1,1000,6\n")
    results = Results(load_curves([path]))
    curve = results.curve(results.series[0], "Ant-v4")
    assert curve.steps.tolist() == [1000, 2000]
    assert curve.values[0].tolist() == [5, 7] and curve.values[1][0] == 6


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("x.csv", "env,algorithm\na,b\n", "lacks the column return"),
        ("x.csv", "env,algorithm,return\na,b,1\n", "lacks the column step"),
        ("x.csv", "env,algorithm,step,return\na,b,1,much\n", "line 2"),
        ("x.csv", "env,algorithm,step,return\na,b,1,nan\n", "not finite"),
        ("x.json", '{"Agent": 1}', "not a Dopamine baseline file"),
        ("x.json", "[]", "holds no curve"),
    ],
)
def test_files_that_hold_something_else_are_refused(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ChorusError, match=sentence):
        load_curves([path])


def test_absent_files_and_unwritable_folders_are_refused(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(ChorusError, match="could not be read"):
        load_curves([tmp_path / "absent.json"])
    (tmp_path / "file").write_text("")
    with pytest.raises(ChorusError, match="could not be written"):
        export_all(dataset, tmp_path / "file")


def test_file_names() -> None:
    assert file_stem("ALE/SpaceInvaders-v5") == "spaceinvaders"
    assert file_stem("MinAtar/Breakout-v1") == "minatarbreakoutv1"


def test_single_runs_still_export(tmp_path: Path) -> None:
    SyntheticRun(iterations=1, state="running").write(tmp_path / "runs")
    files = export_all(load_runs([tmp_path / "runs"]), tmp_path / "out")
    assert all(path.stat().st_size for path in files)


@pytest.mark.parametrize("title", ["file", "args", "allow_pickle", "environments"])
def test_algorithms_named_like_arguments_of_numpy_keep_their_matrices(tmp_path: Path, title: str) -> None:
    SyntheticRun(preset="double-dqn", env="CartPole-v1", identity={"title": title}).write(tmp_path / "runs")
    path = export_rliable(load_runs([tmp_path / "runs"]), tmp_path / "scores.npz")
    with np.load(path, allow_pickle=False) as stored:
        assert stored["environments"].tolist() == ["CartPole-v1"]
        assert stored[f"{title}_"].shape == (1, 1)
