"""A replay that does not fit is refused before anything is written, with the numbers and what would fit."""

import re
from dataclasses import replace

import numpy as np
import pytest

from chorus.cli.main import main
from chorus.errors import ChorusError
from chorus.replay.layout import RingLayout
from chorus.runs import resources
from chorus.runs.resources import Demand, allocated_bytes, check_resources

ATARI = RingLayout(1, 1_000_000, 277_000, (4, 84, 84), np.dtype(np.uint8), frame_stack=4)
STATE = Demand(learner=200_000_000)


@pytest.fixture
def machine(monkeypatch):
    """A machine with so many gigabytes of memory and disk."""

    def have(memory, disk):
        monkeypatch.setattr(resources, "free_memory_bytes", lambda: None if memory is None else int(memory * 1e9))
        monkeypatch.setattr(resources, "free_disk_bytes", lambda path: int(disk * 1e9))

    return have


def test_what_fits_is_let_through(machine, tmp_path):
    machine(memory=8, disk=20)
    check_resources(ATARI, STATE, tmp_path / "not-yet-there")


def test_four_million_transitions_fit_a_machine_of_24_gigabytes(machine, tmp_path):
    machine(memory=22, disk=60)
    four = RingLayout(1, 4_000_000, 277_000, (4, 84, 84), np.dtype(np.uint8), frame_stack=4)
    assert four.total_bytes > 22e9
    check_resources(four, STATE, tmp_path)


@pytest.mark.parametrize(("memory", "disk", "words"), [(32, 10, "GB on disk"), (2, 50, "GB of memory")])
def test_the_sentence_has_the_numbers_and_a_size_that_fits(machine, tmp_path, memory, disk, words):
    machine(memory, disk)
    with pytest.raises(ChorusError, match=words) as refused:
        check_resources(ATARI, STATE, tmp_path)
    sentence = str(refused.value)
    assert "1,000,000 transitions" in sentence
    assert f"{min(memory, disk):.1f} GB" in sentence
    fits = int(re.search(r"--buffer-size (\d+)", sentence)[1])
    assert 100_000 < fits < 1_000_000
    check_resources(RingLayout(1, fits, 277_000, (4, 84, 84), np.dtype(np.uint8), frame_stack=4), STATE, tmp_path)


@pytest.mark.parametrize(
    ("part", "option"),
    [
        ("learner", "--members"),
        ("batch", "--batch-size"),
        ("environments", "--num-envs"),
        ("evaluation", "--eval-envs"),
    ],
)
def test_what_does_not_fit_beside_the_replay_is_named_by_its_option(machine, tmp_path, part, option):
    machine(memory=16, disk=500)
    with pytest.raises(ChorusError, match=rf"take 5\d\.\d GB of memory, and 16.0 GB are free; use .*{option}"):
        check_resources(ATARI, Demand(**{"learner": 1_000_000, part: 50_000_000_000}), tmp_path)


def test_a_run_that_is_resumed_gets_no_advice_about_options_that_resume_lacks(machine, tmp_path):
    machine(memory=0.1, disk=0.1)
    with pytest.raises(ChorusError) as refused:
        check_resources(ATARI, STATE, tmp_path, 10**6, resumed=True)
    said = str(refused.value)
    assert "--" not in said and said.count("make room there") == said.count("end other programs") == 1


def test_a_device_with_memory_of_its_own_is_checked_too(machine, tmp_path):
    machine(memory=100, disk=500)
    check_resources(ATARI, STATE, tmp_path, device_bytes=10**9)
    with pytest.raises(ChorusError, match=r"the replay of 1,000,000 .* GB of the device's memory, and 1.0 GB are free"):
        check_resources(ATARI, replace(STATE, replay_on_device=True), tmp_path, device_bytes=10**9)
    with pytest.raises(ChorusError, match="use fewer --members or a smaller network"):
        check_resources(ATARI, Demand(learner=2 * 10**9), tmp_path, device_bytes=10**9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--members", "60000"), "--members is 60000; it must be at least 1 and at most 1,000"),
        (("--eval-envs", "1000000000"), "use a smaller --eval-envs"),
        (("--batch-size", "1000000000", "--buffer-size", "1000000000"), "GB"),
    ],
)
def test_sizes_that_no_machine_has_are_refused_before_anything_is_written(tmp_path, capsys, given, words):
    asked = ["train", "cerl", "--env", "Probe/Discount-v0", "--scale", "smoke", *given, "--out", str(tmp_path / "runs")]
    assert main(asked) == 2
    said = capsys.readouterr().err
    assert words in said and len(said.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_both_problems_are_told_at_once_and_where_nothing_fits_that_is_said(machine, tmp_path):
    machine(memory=0.003, disk=0.1)
    with pytest.raises(ChorusError) as refused:
        check_resources(ATARI, Demand(learner=1_000_000), tmp_path)
    assert str(refused.value).count("not even a small one fits") == 2


def test_what_a_run_has_written_already_counts_as_room_for_it(machine, tmp_path):
    (tmp_path / "replay.bin").write_bytes(b"x" * 30_000_000)
    assert allocated_bytes(tmp_path) >= 30_000_000
    small = RingLayout(1, 2_000, 100, (4, 84, 84), np.dtype(np.uint8), frame_stack=4)
    machine(memory=None, disk=0.01)
    check_resources(small, Demand(learner=0), tmp_path)
    with pytest.raises(ChorusError, match="on disk"):
        check_resources(small, Demand(learner=0), tmp_path / "elsewhere")


def test_memory_left_is_what_every_control_group_above_still_allows(monkeypatch, tmp_path):
    """Limit 1,000, taken 900 of which 400 are pages of files: 500 are left; the group above leaves 450."""
    inner = tmp_path / "groups" / "outer" / "inner"
    inner.mkdir(parents=True)
    own = tmp_path / "own"
    own.write_text("1:name=systemd:/elsewhere\n0::/outer/inner\n")
    monkeypatch.setattr(resources, "_OWN_GROUP", own)
    monkeypatch.setattr(resources, "_ALL_GROUPS", tmp_path / "groups")
    assert resources.free_memory_bytes() > 10**6, "no limits yet: the machine's memory"
    for group, limit, taken, files in ((inner, 1_000, 900, 400), (inner.parent, 1_500, 1_050, 0)):
        (group / "memory.max").write_text(f"{limit}\n")
        (group / "memory.current").write_text(f"{taken}\n")
        (group / "memory.stat").write_text(f"anon 1\ninactive_file {files}\nactive_file 0\n")
    assert resources.free_memory_bytes() == 450
    (inner.parent / "memory.max").write_text("max\n")
    assert resources.free_memory_bytes() == 500


def test_the_command_line_refuses_before_it_writes(machine, tmp_path, capsys):
    machine(memory=8, disk=1)
    given = ["train", "double-dqn", "--env", "ALE/Pong-v5", "--scale", "laptop", "--num-envs", "1", "--threads", "1"]
    assert main([*given, "--out", str(tmp_path / "runs")]) == 2
    assert "GB on disk" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
