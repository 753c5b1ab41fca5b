"""The folder of a run: it appears whole, belongs to one process, and nothing is written through links."""

import fcntl
import os
import platform
import subprocess
import sys
import threading

import pytest

from chorus.errors import ChorusError
from chorus.files import discard_unfinished
from chorus.runs.run_directory import RunDirectory
from running import listing


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_run_appears_with_all_its_files_at_once(tmp_path, monkeypatch):
    seen = []
    rename = os.rename

    def look(old, new):
        seen.append(((tmp_path / "run").exists(), sorted(path.name for path in old.iterdir())))
        return rename(old, new)

    monkeypatch.setattr("pathlib.Path.rename", look)
    RunDirectory(tmp_path / "run").create({"seed": 1}, {})
    assert seen == [(False, ["config.json", "meta.json", "status.json"])]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_what_killed_processes_left_is_cleared_and_what_living_ones_write_is_not(tmp_path):
    host = platform.node()
    abandoned = tmp_path / f".run.{host}.{dead_process()}.new"
    under_way = [tmp_path / f".run.{host}.{os.getppid()}.new", tmp_path / ".run.another-machine.1.new"]
    for folder in (abandoned, *under_way):
        folder.mkdir()
        (folder / "config.json").touch()
    # Earlier versions made the folder first and its files later.
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".config.json.writing").touch()
    RunDirectory(tmp_path / "run").create({"seed": 1}, {})
    assert RunDirectory(tmp_path / "run").read_config() == {"seed": 1}
    assert not abandoned.exists() and all(folder.exists() for folder in under_way)


@pytest.mark.parametrize(
    "what", ["a run", "a folder with something in it", "a folder with something hidden", "a file", "a dangling link"]
)
def test_what_is_there_already_stays(tmp_path, what):
    path = tmp_path / "run"
    if what == "a run":
        RunDirectory(path).create({"seed": 1}, {})
    elif what == "a folder with something in it":
        path.mkdir()
        (path / "thesis.tex").write_text("years of work")
    elif what == "a folder with something hidden":
        path.mkdir()
        (path / ".thesis.tex").write_text("years of work")
    elif what == "a file":
        path.write_text("years of work")
    else:
        path.symlink_to(tmp_path / "nowhere")
    before = listing(tmp_path) if what != "a dangling link" else None
    with pytest.raises(ChorusError, match=r"exists already.*choose another --out"):
        RunDirectory(path).create({"seed": 2}, {})
    assert path.is_symlink() if before is None else listing(tmp_path) == before


@pytest.mark.parametrize("name", ["metrics.jsonl", "status.json", "replay", "replay/reward.bin"])
def test_resuming_refuses_symbolic_links(tmp_path, name):
    directory = RunDirectory(tmp_path / "run")
    directory.create({}, {})
    directory.replay.mkdir()
    directory.check_links()
    path, outside = directory.path / name, tmp_path / "outside"
    outside.mkdir()
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    path.symlink_to(outside)
    with pytest.raises(ChorusError, match=f"{name} is a link to {outside}; put a copy"):
        directory.check_links()


@pytest.mark.parametrize("name", ["episodes.jsonl", "replay/reward.bin"])
def test_resuming_refuses_files_with_a_second_name(tmp_path, name):
    directory = RunDirectory(tmp_path / "run")
    directory.create({}, {})
    directory.replay.mkdir()
    (directory.path / name).write_text("one file")
    (tmp_path / "backup").hardlink_to(directory.path / name)
    with pytest.raises(ChorusError, match=rf"{name} has 2 names \(hard links\)"):
        directory.check_links()


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path, monkeypatch):
    """Root may write anywhere, so the refusal of a read-only disk is imitated."""
    directory = RunDirectory(tmp_path / "run")
    directory.create({}, {})

    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(ChorusError, match=r"cannot be written \(Read-only file system\); copy the run"):
        directory.lock()


def test_a_look_at_a_run_does_not_keep_a_process_from_resuming_it(tmp_path):
    """`chorus list runs` holds the lock for an instant."""
    RunDirectory(tmp_path / "run").create({}, {})
    looking = (tmp_path / "run" / "config.json").open()
    fcntl.flock(looking, fcntl.LOCK_SH)
    threading.Timer(0.3, looking.close).start()
    directory = RunDirectory(tmp_path / "run")
    directory.lock()
    assert looking.closed and RunDirectory(tmp_path / "run").current_state() == "running"
    directory.close()
    assert RunDirectory(tmp_path / "run").current_state() == "stopped"


@pytest.mark.parametrize("name", ["status.json", "visits.json", "timings.jsonl", "episodes.jsonl", ".stop"])
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_resuming_refuses_folders_and_pipes_in_place_of_files(tmp_path, name, make):
    directory = RunDirectory(tmp_path / "run")
    directory.create({}, {})
    directory.check_places()
    path = directory.path / name
    path.unlink(missing_ok=True)
    make(path)
    with pytest.raises(ChorusError, match=rf"{name} is a (folder|pipe or a device), and a run has a file there"):
        directory.check_places()
    assert directory.read_status()["state"] == "running"


@pytest.mark.parametrize("name", ["checkpoints", "replay"])
def test_resuming_refuses_files_in_place_of_folders(tmp_path, name):
    directory = RunDirectory(tmp_path / "run")
    directory.create({}, {})
    (directory.path / name).touch()
    with pytest.raises(ChorusError, match=f"{name} is a file, and a run has a folder there"):
        directory.check_places()


def test_folders_are_not_taken_for_files_that_were_being_written(tmp_path):
    (tmp_path / ".status.json.1.writing").touch()
    (tmp_path / ".thesis.writing").mkdir()
    discard_unfinished(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".thesis.writing"]
