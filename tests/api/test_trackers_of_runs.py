"""Trackers copy the numbers of metrics.jsonl, and whatever happens to them the run finishes."""

import struct
from pathlib import Path

import pytest

import chorus
from chorus.config.resolution import Request, resolve
from chorus.runs.lifecycle import create_run, train_run
from chorus.runs.progress import Silent
from chorus.runs.trackers import Shielded
from running import logs, records, status

OPTIONS = {
    "members": 2, "total_steps": 1600, "iteration_steps": 200, "learning_starts": 40,
    "buffer_size": 60, "batch_size": 8, "eval_episodes": 2, "num_envs": 2,
}  # fmt: skip


def train(out: Path, **more) -> Path:
    return chorus.train(
        "bootstrapped-dqn", "Probe/Discount-v0", 3, scale="smoke", out=out, quiet=True, **OPTIONS, **more
    )


def scalars(path: Path) -> dict[tuple[int, str], float]:
    """Step and tag of every scalar in a TensorBoard event file: length-framed protocol buffers."""
    from tensorboardX.proto import event_pb2

    found, content = {}, path.read_bytes()
    while content:
        (length,) = struct.unpack("<Q", content[:8])
        event = event_pb2.Event.FromString(content[12 : 12 + length])
        for value in event.summary.value:
            found[event.step, value.tag] = value.simple_value
        content = content[12 + length + 4 :]
    return found


@pytest.mark.slow
def test_tensorboard_gets_the_same_numbers(probe_run, tmp_path):
    run = train(tmp_path, tensorboard=True)
    (events,) = (run / "tensorboard").glob("events.out.tfevents.*")
    expected = {(record["step"], record["metric"]): record["value"] for record in records(run / "metrics.jsonl")}
    found = scalars(events)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        # TensorBoard stores 32-bit floats.
        assert found[name] == pytest.approx(value, rel=1e-6)
    assert logs(run) == logs(probe_run)


@pytest.mark.slow
def test_weights_and_biases_offline_writes_its_folder(tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    run = train(tmp_path, track=True)
    assert status(run)["state"] == "finished"
    (folder,) = (run / "wandb").glob("offline-run-*")
    assert any(path.suffix == ".wandb" and path.stat().st_size > 0 for path in folder.iterdir())


@pytest.mark.slow
def test_a_tracker_that_cannot_write_only_warns(probe_run, tmp_path):
    request = Request(preset="bootstrapped-dqn", env="Probe/Discount-v0", seed=3, scale="smoke", options=OPTIONS)
    assembly, run = create_run(resolve(request), tmp_path, tensorboard=True)
    (run / "tensorboard").write_text("a file where TensorBoard wants its folder")
    with pytest.warns(UserWarning, match=r"TensorBoard failed .*goes on without it"):
        train_run(assembly, run, Silent())
    assert status(run)["state"] == "finished"
    assert logs(run) == logs(probe_run)


class Failing:
    """A tracker that works for a while."""

    def __init__(self) -> None:
        self.calls = 0

    def log(self, step: int, metrics: dict[str, float]) -> None:
        self.calls += 1
        if step >= 2:
            raise OSError("the disk is full")

    def close(self) -> None:
        raise AssertionError("a tracker that failed is left alone")


def test_a_tracker_is_named_at_its_first_failure_and_left_alone_from_then_on():
    tracker = Failing()
    shielded = Shielded("Failing", lambda: tracker)
    shielded.log(1, {})
    with pytest.warns(UserWarning, match=r"Failing failed \(OSError: the disk is full\)") as warned:
        shielded.log(2, {})
        shielded.log(3, {})
        shielded.close()
    assert len(warned) == 1 and tracker.calls == 2


def test_a_tracker_that_cannot_be_made_is_named():
    def make():
        raise ImportError("No module named 'tensorboardX'")

    with pytest.warns(UserWarning, match="TensorBoard failed .*tensorboardX"):
        shielded = Shielded("TensorBoard", make)
    shielded.log(1, {})
    shielded.close()
