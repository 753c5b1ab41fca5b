"""Which runs solved an environment: shares with intervals, medians with runs that never did, published runs."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from synthetic_runs import SyntheticRun

from chorus.analysis.context import make_context
from chorus.analysis.loading import load_runs
from chorus.analysis.solved import Outcome, in_natural_order, solved, wilson
from chorus.errors import ChorusError
from chorus.runs.logs import last_step
from chorus.runs.published import main, publish, read_log, without_members

ENVS = ("DeepSea-10-v0", "DeepSea-5-v0")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Both algorithms solve the small sea; in the large one the ensemble does so with two of three seeds."""
    episodes = {
        ("double-dqn", "DeepSea-5-v0"): (100, 120, 140),
        ("double-dqn", "DeepSea-10-v0"): (None, None, None),
        ("bootstrapped-dqn", "DeepSea-5-v0"): (50, 60, 70),
        ("bootstrapped-dqn", "DeepSea-10-v0"): (300, None, 500),
    }
    for (preset, env), solved_at in episodes.items():
        for seed, episode in enumerate(solved_at):
            metrics = {"exploration/states_visited": 15.0}
            metrics |= {} if episode is None else {"exploration/solved_episode": float(episode)}
            if preset == "double-dqn":
                metrics["charts/episodic_length"] = 5.0
            elif episode and env == "DeepSea-5-v0":
                metrics["exploration/solved_step"] = 5.0 * episode + 1.0
            run = SyntheticRun(preset=preset, env=env, seed=seed, iteration_steps=1_000, metrics=metrics)
            (run.write(tmp_path) / "timings.jsonl").write_text("")
    return tmp_path


def test_shares_and_medians_of_every_algorithm(folder: Path) -> None:
    drawing = solved(make_context(load_runs([folder])))
    assert drawing is not None
    found = {(series, env): (share, *others) for series, env, share, _, _, *others in drawing.rows}
    assert found == {
        # Runs that do not tell the step have episodes of 5 steps.
        ("Double DQN", "DeepSea-5-v0"): (1.0, 3, 120.0, 600.0),
        ("Double DQN", "DeepSea-10-v0"): (0.0, 3, None, None),
        ("Bootstrapped DQN", "DeepSea-5-v0"): (1.0, 3, 60.0, 301.0),
        # The middle of 300, 500 and never; without a length, the step is not known.
        ("Bootstrapped DQN", "DeepSea-10-v0"): (2 / 3, 3, 500.0, None),
    }
    assert [row[1] for row in drawing.rows[:2]] == ["DeepSea-5-v0", "DeepSea-10-v0"], "5 comes before 10"
    assert "3 seeds" in drawing.caption


def test_half_of_the_runs_without_a_solution_have_no_median() -> None:
    never, once = np.array([10.0, np.nan]), np.array([10.0, 30.0, np.nan])
    assert Outcome(never, 5 * never).median == Outcome(never, 5 * never).median_steps == np.inf
    assert Outcome(once, 5 * once).median == 30.0 and Outcome(once, 5 * once).median_steps == 150.0
    assert Outcome(once, np.array([50.0, np.nan, np.nan])).median_steps == np.inf


def test_wilsons_interval_of_a_share() -> None:
    """4 of 5, z = 1.96: centre (0.8 + 0.768 / 2) / 1.768 = 0.670, half 1.960 / 1.768 sqrt(0.032 + 0.0384) = 0.294."""
    found = wilson(4, 5)
    assert (found.value, found.runs) == (0.8, 5)
    assert (found.low, found.high) == (pytest.approx(0.376, abs=1e-3), pytest.approx(0.964, abs=1e-3))
    # 0 of 5: centre and half are both z² / 5 / 2 / 1.768 = 0.217.
    assert (wilson(0, 5).low, wilson(0, 5).high) == pytest.approx((0.0, 0.434), abs=1e-3)


def test_numbers_within_names_are_sorted_by_size() -> None:
    assert sorted(("a-10-v0", "a-5-v0", "a-v0"), key=in_natural_order) == ["a-5-v0", "a-10-v0", "a-v0"]


def test_runs_that_count_no_states_have_no_figure(tmp_path: Path) -> None:
    SyntheticRun(env=ENVS[0], iteration_steps=1_000).write(tmp_path)
    assert solved(make_context(load_runs([tmp_path]))) is None


def test_runs_that_have_not_ended_and_environments_without_a_threshold_do_not_count(folder: Path) -> None:
    stopped = next(path for path in folder.iterdir() if "DeepSea-5" in path.name and "bootstrapped" in path.name)
    (stopped / "status.json").write_text(json.dumps({"state": "stopped"}))
    metrics = {"exploration/states_visited": 15.0}
    SyntheticRun(preset="double-dqn", env="CartPole-v1", iteration_steps=20_000, metrics=metrics).write(folder)
    drawing = solved(make_context(load_runs([folder])))
    assert drawing is not None
    found = {(series, env): runs for series, env, _, _, _, runs, *_ in drawing.rows}
    assert found["Bootstrapped DQN", "DeepSea-5-v0"] == 2 and found["Double DQN", "DeepSea-5-v0"] == 3
    assert {env for _, env in found} == set(ENVS)


def test_published_runs_say_the_same_in_fewer_bytes(folder: Path, tmp_path: Path) -> None:
    published = tmp_path / "published"
    runs = sorted(path for path in folder.iterdir() if path.is_dir())
    for run in runs:
        publish(run, published)
    first = (published / runs[0].name / "metrics.jsonl.gz").read_bytes()
    publish(runs[0], published)
    assert (published / runs[0].name / "metrics.jsonl.gz").read_bytes() == first
    drawings = [solved(make_context(load_runs(paths))) for paths in (runs, [published])]
    assert drawings[0].rows == drawings[1].rows
    assert not (published / runs[0].name / "metrics.jsonl").exists()


def test_joined_parts_of_a_published_log_are_read_one_after_the_other(tmp_path: Path) -> None:
    log, lines = tmp_path / "metrics.jsonl", [b'{"step": 1}\n', b'{"step": 22}\n']
    packed = b"".join(map(gzip.compress, lines))
    (tmp_path / "metrics.jsonl.gz").write_bytes(packed)
    assert read_log(log) == b"".join(lines) and last_step(log) == 22
    for damaged in (packed[:-3], packed + b"no gzip"):
        (tmp_path / "metrics.jsonl.gz").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"metrics\.jsonl\.gz is"):
            read_log(log)
        assert last_step(log) == 0


def test_a_log_that_unpacks_to_more_than_is_read_is_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("chorus.runs.published._LARGEST_LOG_BYTES", 20)
    log, packed = tmp_path / "metrics.jsonl", tmp_path / "metrics.jsonl.gz"
    packed.write_bytes(gzip.compress(b"x" * 10) * 2)
    assert read_log(log) == b"x" * 20
    for too_long in (gzip.compress(b"x" * 21), gzip.compress(b"x" * 10) * 3):
        packed.write_bytes(too_long)
        with pytest.raises(ValueError, match="longer than 20 bytes"):
            read_log(log)


def test_of_single_members_only_the_means_are_published_and_what_has_no_mean_stays() -> None:
    names = ["rank/member_0", "rank/member_2", "rank/mean", "own/member_0", "eval/member_1/episodic_return"]
    lines = [json.dumps({"iteration": 1, "metric": name, "value": 0.5}).encode() + b"\n" for name in names]
    assert without_members(b"".join(lines)) == b"".join(lines[2:])
    assert without_members(b'{"half a li') == b'{"half a li'
    tandem = b"".join(lines[:1] + lines[2:])
    assert without_members(tandem) == tandem


@pytest.mark.parametrize("damage", [lambda c: c[: len(c) // 2], lambda c: b"no gzip", lambda c: c[:-20] + b"x" * 20])
def test_damaged_published_metrics_are_a_problem_of_the_run_and_not_of_the_reader(folder, tmp_path, damage) -> None:
    published = tmp_path / "published"
    runs = sorted(path for path in folder.iterdir() if path.is_dir())[:2]
    for run in runs:
        publish(run, published)
    log = published / runs[0].name / "metrics.jsonl.gz"
    log.write_bytes(damage(log.read_bytes()))
    dataset = load_runs([published])
    assert [run.name for run in dataset.runs] == [runs[1].name]
    assert ["metrics.jsonl.gz" in run.reason for run in dataset.unusable] == [True]


def test_an_unfinished_run_is_not_published(tmp_path: Path) -> None:
    run = SyntheticRun(env=ENVS[0], iteration_steps=1_000).write(tmp_path)
    (run / "status.json").write_text(json.dumps({"state": "failed"}))
    with pytest.raises(ChorusError, match="is failed; only runs that have ended are published"):
        publish(run, tmp_path / "published")


@pytest.mark.parametrize("content", ["[]", "3", "{", "[" * 100_000])
def test_a_status_that_is_no_object_is_one_sentence_of_publishing(tmp_path: Path, capsys, content) -> None:
    run = SyntheticRun(env=ENVS[0], iteration_steps=1_000).write(tmp_path)
    (run / "status.json").write_text(content)
    assert main([str(run), str(tmp_path / "published")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1 and not (tmp_path / "published").exists()


@pytest.mark.parametrize("given", [[], ["one"], ["--help"], ["/no/such/run", "published"]])
def test_mistakes_on_the_command_line_of_publishing_are_one_sentence(given, capsys) -> None:
    assert main(given) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and len(shown.err.splitlines()) == 1
