"""A full disk: one sentence, a status that says so, nothing lost, and the same bytes once there is room again."""

import contextlib
import errno
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.cli.main import main
from chorus.replay.ring import Ring
from killing import newest_checkpoint, wait_for
from running import RUNS, heard, logs, status

SPACE = "size=12m"


@contextlib.contextmanager
def small_disk(folder: Path, options: str) -> Iterator[Path]:
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here ({mounted.stderr.strip()}); it takes root's permission")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill_space(disk: Path) -> list[Path]:
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"x" * 4_096):
            pass
    return [ballast]


def fill_inodes(disk: Path) -> list[Path]:
    made = []
    with contextlib.suppress(OSError):
        while True:
            made.append(disk / f"ballast-{len(made)}")
            made[-1].touch(exist_ok=False)
    return [path for path in made if path.exists()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "fill"), [(SPACE, fill_space), (f"{SPACE},nr_inodes=60", fill_inodes)], ids=["space", "inodes"]
)
def test_a_disk_that_fills_up_stops_a_run_with_a_sentence_and_loses_nothing(undisturbed, tmp_path, options, fill):
    expected = undisturbed["probe"]
    with small_disk(tmp_path / "disk", options) as disk:
        run = disk / expected.name
        process = heard("train", *RUNS["probe"], "--seed", "3", "--out", disk, "--quiet")
        wait_for(lambda: newest_checkpoint(run) >= 2, 300)
        process.send_signal(signal.SIGSTOP)
        ballast = fill(disk)
        process.send_signal(signal.SIGCONT)
        _, said = process.communicate(timeout=300)
        assert process.returncode == 2, said
        assert len(said.splitlines()) == 1 and said.startswith(f"chorus: the disk of {run} is full (")
        assert f"make room, and resume it with `chorus resume {run}`" in said
        stood = status(run)
        assert (stood["state"], stood["reason"]) == ("failed", "disk full") and stood["iteration"] >= 1
        for path in ballast:
            path.unlink()
        assert main(["resume", str(run), "--quiet"]) == 0
        assert logs(run) == logs(expected)
        assert not list(run.glob(".*")) and not list((run / "checkpoints").glob(".*"))


def test_no_room_for_a_new_run_leaves_no_folder(tmp_path, capsys):
    with small_disk(tmp_path / "disk", f"{SPACE},nr_inodes=2") as disk:
        assert main(["train", *RUNS["probe"], "--out", str(disk), "--quiet"]) == 2
        said = capsys.readouterr().err
        assert len(said.splitlines()) == 1 and "cannot be written (No space left on device); make room" in said
        assert not list(disk.iterdir())


def test_room_for_every_row_is_reserved_before_the_first_step(tmp_path, undisturbed):
    """Without it the process would be killed by a signal at the first row that finds no space."""
    from chorus.envs.registry import describe
    from chorus.runs.lifecycle import stored_config
    from chorus.runs.resources import ring_layout
    from chorus.runs.run_directory import RunDirectory

    config = stored_config(RunDirectory(undisturbed["probe"]))
    layout = ring_layout(config, describe(config.env.id, config.env.max_episode_steps))
    with small_disk(tmp_path / "disk", "size=8k") as disk:
        ring = Ring(layout, disk / "replay")
        with pytest.raises(OSError) as full:
            ring.columns.reserve()
        assert full.value.errno == errno.ENOSPC


@pytest.mark.slow
def test_a_report_that_finds_no_room_leaves_the_old_one(tmp_path, undisturbed, capsys):
    with small_disk(tmp_path / "disk", "size=1m") as disk:
        page = disk / "report.html"
        page.write_text("the old one")
        fill_space(disk)
        assert main(["report", str(undisturbed["probe"]), "-o", str(page)]) == 2
        said = capsys.readouterr().err.splitlines()
        assert len(said) == 1 and f"{page} could not be written (No space left on device)" in said[0]
        assert page.read_text() == "the old one"
        assert sorted(path.name for path in disk.iterdir()) == ["ballast", "report.html"]
