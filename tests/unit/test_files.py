"""Files that are never half written."""

import errno
import hashlib
import json
import os
import threading

import pytest

from chorus.files import JsonLines, LogMark, file_digest, is_alive, read_json, whole_lines, write_json, write_text
from chorus.runs.run_directory import RunDirectory


def test_a_file_is_replaced_whole_and_nothing_is_left_aside(tmp_path):
    path = tmp_path / "status.json"
    write_json(path, {"state": "running"})
    write_json(path, {"state": "finished"})
    assert read_json(path) == {"state": "finished"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["status.json"]


def test_nan_is_refused_and_the_old_file_stays(tmp_path):
    path = tmp_path / "status.json"
    write_json(path, {"value": 1.0})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"value": float("nan")})
    assert read_json(path) == {"value": 1.0}


def test_a_link_stays_a_link_to_the_new_file(tmp_path):
    (tmp_path / "real.html").write_text("old")
    (tmp_path / "link.html").symlink_to("real.html")
    write_text(tmp_path / "link.html", "new")
    assert (tmp_path / "link.html").is_symlink() and (tmp_path / "real.html").read_text() == "new"


def test_what_is_no_file_is_not_replaced_by_one(tmp_path):
    """A report to /dev/null or /dev/stdout must leave these as they are."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "text")
    reader.join(10)
    assert received == ["text"] and pipe.is_fifo()


def test_a_number_that_no_process_can_have_is_not_alive():
    assert is_alive(os.getpid()) and not is_alive(10**20)


@pytest.mark.parametrize(
    ("text", "whole"), [(b"", 0), (b"half", 0), (b"one\n", 4), (b"one\ntwo\n", 8), (b"one\ntwo\nhal", 8)]
)
def test_half_a_line_does_not_count(tmp_path, text, whole):
    path = tmp_path / "log"
    path.write_bytes(text)
    assert whole_lines(path) == whole


def test_records_are_appended_one_a_line_and_the_offset_is_the_files_length(tmp_path):
    path = tmp_path / "log.jsonl"
    offsets = []
    for value in (1, 2):
        log = JsonLines(path)
        log.write({"value": value})
        offsets.append(log.sync())
        log.close()
    assert [offset.bytes for offset in offsets] == [13, 26] and path.stat().st_size == 26
    assert [offset.sha256 for offset in offsets] == [file_digest(path, 13), file_digest(path)]
    assert file_digest(path) == hashlib.sha256(path.read_bytes()).hexdigest() != file_digest(path, 13)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [{"value": 1}, {"value": 2}]


def test_logs_are_cut_back_to_the_offsets_of_a_checkpoint(tmp_path):
    directory = RunDirectory(tmp_path)
    for name in ("metrics.jsonl", "episodes.jsonl"):
        (tmp_path / name).write_text('{"a": 1}\n{"a": 2}\n')
    (tmp_path / "timings.jsonl").write_text('{"a": 1}\n{"a": ')
    directory.logs.open({"metrics.jsonl": LogMark(9, "not asked"), "episodes.jsonl": LogMark(0, "not asked")})
    directory.logs.write("metrics.jsonl", {"a": 3})
    marks = directory.logs.sync()
    assert {name: mark.bytes for name, mark in marks.items()} == {"metrics.jsonl": 18, "episodes.jsonl": 0}
    directory.logs.check(marks)
    directory.close()
    assert (tmp_path / "metrics.jsonl").read_text() == '{"a": 1}\n{"a": 3}\n'
    assert (tmp_path / "timings.jsonl").read_text() == '{"a": 1}\n', "clock values keep their whole lines"


def test_without_a_checkpoint_logs_start_again(tmp_path):
    directory = RunDirectory(tmp_path)
    for name in ("metrics.jsonl", "episodes.jsonl", "timings.jsonl"):
        (tmp_path / name).write_text('{"a": 1}\n')
    directory.logs.open({})
    directory.close()
    assert {path.stat().st_size for path in tmp_path.glob("*.jsonl")} == {0}


def test_the_lock_is_one_that_nfs_gives(tmp_path, monkeypatch):
    """There an exclusive lock needs a file that could be written; imitated, for want of a server."""
    directory = RunDirectory(tmp_path / "run")
    directory.create({}, {})

    def flock(file, operation):
        if not file.writable():
            raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr("chorus.runs.run_directory.fcntl.flock", flock)
    directory.lock()
    directory.close()
    assert directory.read_config() == {}
