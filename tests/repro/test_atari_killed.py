"""Exact resume of a real game: a ring that wraps several times, five kills at random instants, the same bytes."""

import random
import time
from pathlib import Path

import pytest

from killing import PATIENCE_SECONDS, lines_since_checkpoint, wait_for
from running import RUNS, background, chorus, logs, records, status

KILLS = 5


def rows_written(run: Path) -> int:
    """Transitions and final observations; every episode has one of the latter."""
    return sum(record["length"] + 1 for record in records(run / "episodes.jsonl"))


@pytest.mark.slow
def test_a_game_killed_five_times_at_random_instants_writes_the_same_bytes(undisturbed, tmp_path):
    expected = undisturbed["atari"]
    run, chance = tmp_path / expected.name, random.Random(20_240_507)
    process = background("train", *RUNS["atari"], "--seed", "3", "--out", tmp_path)
    kills = 0
    while kills < KILLS:
        # Training has begun, or the run is over before it could be killed often enough.
        wait_for(lambda p=process: lines_since_checkpoint(run) > 0 or p.poll() is not None, PATIENCE_SECONDS)
        assert process.poll() is None, f"the run ended after {kills} kills: it is too short for this test"
        time.sleep(chance.uniform(0.0, 1.2))
        process.kill()
        process.wait()
        kills += 1
        process = background("resume", run)
    assert process.wait(PATIENCE_SECONDS) == 0
    assert status(run)["state"] == "finished"
    assert logs(run) == logs(expected)


@pytest.mark.slow
def test_the_ring_of_that_game_wraps_and_a_checkpoint_writes_only_what_is_new(undisturbed):
    run = undisturbed["atari"]
    # A final row for every transition, three frames before the first stack, two more to the start of a block of three,
    # two iterations of up to 60 + 45 steps.
    rows = (60 + 60 + 1) + 3 + 2 + 2 * (105 + 105 + 1)
    assert rows_written(run) > 2 * rows
    steps = sorted({record["step"] for record in records(run / "metrics.jsonl")})
    assert steps[0] == 90 and len(steps) == 12, "iterations of 60 planned steps end with the second episode of 45"
    timings = records(run / "timings.jsonl")
    wrote, disk = (
        [record["value"] for record in timings if record["metric"] == name]
        for name in ("system/checkpoint_megabytes", "system/disk_megabytes")
    )
    print(f"each checkpoint wrote {max(wrote):.2f} MB at most, the run took {max(disk):.2f} MB of disk at most")
    state = max((run / "checkpoints").glob("*/state.safetensors"), key=lambda path: path.stat().st_mtime).stat().st_size
    row = 84 * 84 + 11
    # 90 transitions and two final observations.
    assert wrote == pytest.approx([(state + 92 * row) / 1e6] * len(wrote), rel=1e-3)
    assert max(disk) < (3 * state + rows * row) / 1e6 + 1


@pytest.mark.slow
def test_resume_after_the_end_says_so(undisturbed):
    done = chorus("resume", undisturbed["atari"])
    assert done.returncode == 0 and "has ended already" in done.stdout
    assert "MB at most; each checkpoint wrote" in done.stdout
