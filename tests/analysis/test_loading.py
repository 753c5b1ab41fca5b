"""Run directories in every state: finished, running, failed, duplicated, damaged."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from synthetic_runs import SyntheticRun, write_study

from chorus.analysis.loading import find_run_directories, load_runs, merge
from chorus.analysis.results import Results
from chorus.analysis.warnings import coverage_warnings
from chorus.errors import ChorusError
from chorus.runs.logs import FinalWindow


def test_a_study_becomes_one_long_table(tmp_path: Path) -> None:
    write_study(tmp_path / "runs", envs=("MinAtar/Breakout-v1",), seeds=2, presets=("double-dqn", "bootstrapped-dqn"))
    dataset = load_runs([tmp_path / "runs"])
    assert len(dataset.runs) == 4 and not dataset.unusable and dataset.damaged_lines == 0
    # per evaluation: Double DQN 1 return + 1 loss; Bootstrapped DQN 2 returns + 2 entropies + 1 loss; 12
    # each, 2 seeds
    assert dataset.table.count == 12 * 2 * (2 + 5)
    assert [v.label for v in dataset.variants] == ["Double DQN", "Bootstrapped DQN"]
    assert dataset.policies(dataset.variants[1]) == ("individual", "aggregate")


def test_half_a_line_and_rubbish_are_skipped_and_counted(tmp_path: Path) -> None:
    run = SyntheticRun().write(tmp_path)
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"iteration": 13, "step": 1, "metric": "a", "value": NaN}\n')
        file.write('{"iteration": "13", "step": 1, "metric": "a", "value": 1}\n')
        file.write('{"iteration": 13, "step": -1, "metric": "a", "value": 1}\n')
        file.write('[1, 2]\n\n"text"\n')
        file.write('{"iteration": 13, "step": 1, "metric": "a", "value": 1e999}\n')
        file.write('{"iteration": 13, "step": 520000, "metr')
    dataset = load_runs([tmp_path])
    assert dataset.damaged_lines == 7
    assert dataset.table.count == 24
    assert dataset.runs[0].last_step == 12 * 40_000


def test_the_last_of_repeated_lines_counts(tmp_path: Path) -> None:
    run = SyntheticRun(level={"individual": 4.0}).write(tmp_path)
    line = {"iteration": 12, "step": 480_000, "metric": "eval/individual/episodic_return", "value": 14.0}
    with (run / "metrics.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    dataset = load_runs([run])
    assert dataset.runs[0].repeated_lines == 1
    results = Results(dataset)
    # four evaluations of 4 and the repeated one of 14: (4 * 4 + 14) / 5 = 6
    assert results.final(results.series[0], dataset.envs[0]).values == pytest.approx([6.0])


def test_running_and_failed_runs_show_in_curves_but_not_in_final_scores(tmp_path: Path) -> None:
    for seed in range(3):
        SyntheticRun(seed=seed, level={"individual": 10.0 + seed}).write(tmp_path)
    common = {"level": {"individual": 99.0}, "iterations": 4, "planned_iterations": 12}
    SyntheticRun(seed=3, state="running", **common).write(tmp_path)
    SyntheticRun(seed=4, state="failed", reason="disk full", **common).write(tmp_path)
    SyntheticRun(seed=5, state="diverged", reason="member 2", level={"individual": 0.0}).write(tmp_path)
    results = Results(load_runs([tmp_path]))
    series, env = results.series[0], results.envs[0]
    curve, final = results.curve(series, env), results.final(series, env)
    assert curve.values.shape == (6, 12)
    assert np.isnan(curve.values[3:5, 4:]).all()
    assert sorted(final.values) == pytest.approx([0.0, 10.0, 11.0, 12.0])  # divergence is an outcome
    assert final.left_out == 2 and final.finished


def test_with_nothing_finished_the_scores_so_far_are_used_and_said(tmp_path: Path) -> None:
    SyntheticRun(state="running", iterations=3, planned_iterations=12, level={"individual": 8.0}).write(tmp_path)
    results = Results(load_runs([tmp_path]))
    final = results.final(results.series[0], results.envs[0])
    assert not final.finished and final.last_step == 3 * 40_000 and final.windows == (FinalWindow(3, 3),)


def test_runs_without_evaluations_or_configuration_are_named(tmp_path: Path) -> None:
    SyntheticRun().write(tmp_path)
    empty = SyntheticRun(seed=1, iterations=0, state="failed", reason="out of memory").write(tmp_path)
    broken = SyntheticRun(seed=2).write(tmp_path)
    (broken / "config.json").write_text("{")
    bare = SyntheticRun(seed=3).write(tmp_path)
    (bare / "config.json").unlink()
    listed = SyntheticRun(seed=4).write(tmp_path)
    (listed / "status.json").write_text("[1]")
    dataset = load_runs([tmp_path])
    reasons = {u.path.name: u.reason for u in dataset.unusable}
    assert "out of memory" in reasons[empty.name]
    assert "config.json could not be read" in reasons[broken.name]
    assert "config.json is missing" in reasons[bare.name]
    assert [run.state for run in dataset.runs] == ["finished", "unknown"]
    assert "object was expected" in dataset.runs[1].problems[0]


def test_missing_seeds_environments_and_doubles_are_said(tmp_path: Path) -> None:
    for env in ("MinAtar/Asterix-v1", "MinAtar/Breakout-v1"):
        for seed in range(3):
            if (env, seed) != ("MinAtar/Breakout-v1", 1):
                SyntheticRun(env=env, seed=seed).write(tmp_path)
    SyntheticRun(preset="cerl", env="MinAtar/Asterix-v1").write(tmp_path)
    SyntheticRun(preset="cerl", env="MinAtar/Asterix-v1").write(tmp_path / "copy")
    assert coverage_warnings(load_runs([tmp_path])) == [
        "Double DQN on MinAtar/Breakout-v1 lacks seed 1, which it has elsewhere.",
        "Bootstrapped DQN + CERL has no run on MinAtar/Breakout-v1.",
        "Bootstrapped DQN + CERL on MinAtar/Asterix-v1 has seed 0 more than once; each run counts.",
    ]


def test_paths_that_hold_no_runs_are_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(ChorusError, match="is not a folder"):
        load_runs([tmp_path / "absent"])
    with pytest.raises(ChorusError, match="No run directory under"):
        load_runs([tmp_path])
    SyntheticRun(iterations=0).write(tmp_path)
    with pytest.raises(ChorusError, match="has an evaluation yet"):
        load_runs([tmp_path])


def test_a_run_found_twice_is_loaded_once(tmp_path: Path) -> None:
    run = SyntheticRun().write(tmp_path / "deep" / "runs")
    assert find_run_directories([run, tmp_path, tmp_path / "deep"]) == [run]


def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    run = SyntheticRun().write(tmp_path / "elsewhere")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "link").symlink_to(run)
    (tmp_path / "runs" / "circle").symlink_to(tmp_path / "runs")
    assert find_run_directories([tmp_path / "runs"]) == [tmp_path / "runs" / "link"]


def test_datasets_can_be_merged(tmp_path: Path) -> None:
    first = load_runs([SyntheticRun().write(tmp_path)])
    second = load_runs([SyntheticRun(preset="cerl", level={"aggregate": 3.0}).write(tmp_path)])
    both = merge(first, second)
    assert both.table.count == first.table.count + second.table.count
    results = Results(both)
    assert [s.label for s in results.series] == ["Double DQN", "Bootstrapped DQN + CERL (agg.)"]
    assert results.final(results.series[1], results.envs[0]).values == pytest.approx([3.0])


@pytest.mark.slow
def test_the_analysis_never_imports_jax() -> None:
    program = (
        "import sys; sys.modules['jax'] = None\n"
        "import chorus.analysis, chorus.analysis.report, chorus.cli.report\n"
        "assert not any(name == 'flax' or name.startswith('jaxlib') for name in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
