"""The reader of run directories: what it makes of whole and damaged files."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chorus.errors import ChorusError
from chorus.runs.logs import (
    FinalWindow,
    MetricNames,
    final_evaluations,
    final_returns,
    last_step,
    read_metrics,
    read_records,
    read_run,
)
from chorus.runs.timings import CPU_SECONDS, disk_use, training_seconds_per_step

GOOD = b'{"iteration": 1, "step": 5, "frames": 5, "metric": "m", "value": 2.5}'


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_no_bytes_break_the_reader(lines: list[bytes]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "metrics.jsonl"
        path.write_bytes(b"\n".join([GOOD, *lines, b""]))
        columns, damaged, repeated = read_metrics(path, MetricNames(), [])
        last_step(path), list(read_records(path))
    written = sum(bool(part.strip()) for line in lines for part in line.splitlines())
    assert columns.count >= 1 and columns.value[0] == 2.5
    assert damaged + repeated + columns.count == 1 + written


def test_a_folder_without_files_is_a_run_with_problems(tmp_path: Path) -> None:
    run, columns = read_run(tmp_path, MetricNames())
    assert columns.count == 0 and run.state == "unknown" and not run.has_ended
    assert [problem.split()[0] for problem in run.problems] == [
        "config.json",
        "meta.json",
        "status.json",
        "metrics.jsonl",
        "config.json",  # no seed
    ]


@pytest.mark.parametrize(
    ("env", "count"),
    [("Humanoid-v4", 5), ("ALE/Pong-v5", 10), ("MinAtar/Breakout-v1", 10), ("HumanoidRobot-v0", 10)],
)
def test_older_runs_average_ten_evaluations_or_five_of_mujoco(env: str, count: int) -> None:
    assert final_evaluations({"env": {"id": env}}) == count
    assert final_evaluations({"env": {"id": env}, "evaluation": {"episodes": 3}}) == count


@pytest.mark.parametrize("env", ["Humanoid-v4", "ALE/Pong-v5"])
def test_a_run_records_how_many_evaluations_its_final_score_averages(env: str) -> None:
    assert final_evaluations({"env": {"id": env}, "evaluation": {"final_evaluations": 3}}) == 3


def test_the_last_step_is_that_of_the_last_whole_line(tmp_path: Path) -> None:
    log = tmp_path / "metrics.jsonl"
    log.write_text('{"step": 1}\n{"step": 2}\n[3]\nrubbish\n{"step": 9')
    assert last_step(log) == 2
    log.write_text("")
    assert last_step(log) == 0 and last_step(tmp_path / "absent.jsonl") == 0


def test_final_returns_skip_half_lines_and_need_a_run(tmp_path: Path) -> None:
    row = {"iteration": 1, "step": 5, "frames": 5, "metric": "eval/individual/episodic_return", "value": 4.0}
    (tmp_path / "metrics.jsonl").write_text(json.dumps(row) + '\n{"iteration": 2, "st')
    with pytest.raises(ChorusError, match=r"config\.json is missing"):
        final_returns(tmp_path)
    (tmp_path / "config.json").write_text('{"env": {"id": "CartPole-v1"}}')
    assert final_returns(tmp_path) == ({"individual": 4.0}, FinalWindow(1, 1))


def test_disk_use_is_the_peak_and_the_mean_checkpoint(tmp_path: Path) -> None:
    assert disk_use(tmp_path) is None
    values = [("system/disk_megabytes", 7.0), ("system/disk_megabytes", 5.0)]
    values += [("system/checkpoint_megabytes", 1.0), ("system/checkpoint_megabytes", 3.0)]
    lines = [json.dumps({"iteration": 1, "metric": metric, "value": value}) for metric, value in values]
    (tmp_path / "timings.jsonl").write_text("\n".join([*lines, '{"metric"']))
    assert disk_use(tmp_path) == (7.0, np.mean([1.0, 3.0]))


def test_training_time_is_the_median_after_the_first_iteration(tmp_path: Path) -> None:
    assert training_seconds_per_step(tmp_path) is None
    log = tmp_path / "timings.jsonl"

    def write(*rates: tuple[int, float]) -> None:
        rows = [{"iteration": iteration, "step": 1, "metric": "charts/SPS", "value": rate} for iteration, rate in rates]
        log.write_text(
            "".join(json.dumps(row) + "\n" for row in rows) + '{"metric": "time/train_seconds", "value": 9}\n'
        )

    write((1, 1.0))
    assert training_seconds_per_step(tmp_path) is None
    # The first iteration compiles, and so does the third, the first after a resumption; the second was repeated.
    write((1, 1.0), (2, 1.0), (2, 100.0), (3, 20.0), (4, 125.0))
    assert training_seconds_per_step(tmp_path) == pytest.approx(0.01)
    assert training_seconds_per_step(tmp_path, cpu=True) is None


def test_processor_time_of_training_does_not_count_waiting(tmp_path: Path) -> None:
    """100 steps in 2 s by the clock, of which the processor worked 0.5 s: 5 ms per step instead of 20."""
    rows = [
        {"iteration": n, "metric": metric, "value": value}
        for n in (1, 2, 3)
        for metric, value in (("charts/SPS", 50.0), ("time/train_seconds", 2.0), (CPU_SECONDS, 0.5))
    ]
    (tmp_path / "timings.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert training_seconds_per_step(tmp_path) == pytest.approx(0.02)
    assert training_seconds_per_step(tmp_path, cpu=True) == pytest.approx(0.005)
