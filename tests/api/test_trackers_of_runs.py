"""Trackers copy the numbers of a run's logs, and whatever happens to them the run finishes."""

import resource
from pathlib import Path

import pytest

import chorus
from chorus.config.resolution import Request, resolve
from chorus.errors import ChorusError, ChorusWarning
from chorus.runs.lifecycle import create_run, resume_run, start_run, train_run
from chorus.runs.progress import Silent
from chorus.runs.run_directory import RunDirectory
from chorus.runs.stopping import StopRequest
from chorus.runs.trackers import Shielded, TensorBoard
from chorus.runs.tracking import Tracking, read_tracking
from running import logs, records, status
from tracked import scalars, wandb_history, wandb_records

OPTIONS = {
    "members": 2, "total_steps": 1600, "iteration_steps": 200, "learning_starts": 40,
    "buffer_size": 60, "batch_size": 8, "eval_episodes": 2, "num_envs": 2,
}  # fmt: skip


def train(out: Path, **more) -> Path:
    return chorus.train(
        "bootstrapped-dqn", "Probe/Discount-v0", 3, scale="smoke", out=out, quiet=True, **OPTIONS, **more
    )


def created(out: Path, **more):
    request = Request(preset="bootstrapped-dqn", env="Probe/Discount-v0", seed=3, scale="smoke", options=OPTIONS)
    return create_run(resolve(request), out, **more)


def by_tag(rows: list[dict]) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        found.setdefault(row["metric"], {})[row["step"]] = row["value"]
    return found


def training_returns(run: Path) -> dict[int, float]:
    """The mean return of the episodes that ended at a step; this run's windows are single steps."""
    ended: dict[int, list[float]] = {}
    for line in records(run / "episodes.jsonl"):
        ended.setdefault(line["step"], []).append(line["return"])
    return {step: sum(values) / len(values) for step, values in ended.items()}


@pytest.mark.long
def test_tensorboard_gets_the_same_numbers(probe_run, tmp_path):
    run = train(tmp_path, tensorboard=True)
    found = scalars(run / "tensorboard")
    metrics, timings = by_tag(records(run / "metrics.jsonl")), by_tag(records(run / "timings.jsonl"))
    # TensorBoard stores 32-bit floats, and timings.jsonl has six digits.
    for tag, expected in (metrics | timings).items():
        assert found[tag] == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert "charts/SPS" in found
    within = {"training/episodic_return", "training/episodic_length", "training/SPS"}
    assert found.keys() - metrics.keys() - timings.keys() == within
    assert found["training/episodic_return"] == pytest.approx(training_returns(run))
    assert len(found["training/episodic_return"]) > 10 * len(found["charts/episodic_return"])
    assert logs(run) == logs(probe_run)


@pytest.mark.long
def test_weights_and_biases_gets_them_offline(probe_run, tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_PROJECT", "from the environment")
    monkeypatch.setenv("WANDB_ENTITY", "a-team")
    run = train(tmp_path, track={"project": "curse", "tags": ["first", "second"]})
    assert status(run)["state"] == "finished" and "notes" not in status(run)
    (about,) = (one.run for one in wandb_records(run) if one.WhichOneof("record_type") == "run")
    assert (about.project, about.entity, list(about.tags)) == ("curse", "a-team", ["first", "second"])
    assert about.run_group == run.name.removesuffix("__s3") and about.display_name == run.name
    assert about.run_id == RunDirectory(run).read_meta()["wandb"]["id"]

    rows = wandb_history(run)
    assert all(row["_step"] == row["global_step"] for row in rows)
    for tag, expected in by_tag(records(run / "metrics.jsonl")).items():
        assert {row["_step"]: row[tag] for row in rows if tag in row} == pytest.approx(expected)
    returns = {row["_step"]: row["training/episodic_return"] for row in rows if "training/episodic_return" in row}
    assert returns == pytest.approx(training_returns(run))
    assert sum("charts/SPS" in row for row in rows) == 8
    assert logs(run) == logs(probe_run)


@pytest.mark.slow
def test_a_tracker_that_cannot_write_only_warns(probe_run, tmp_path):
    assembly, run = created(tmp_path, tracking=Tracking(tensorboard=True))
    (run / "tensorboard").write_text("a file where TensorBoard wants its folder")
    with pytest.warns(ChorusWarning, match=r"TensorBoard failed .*goes on without it"):
        train_run(assembly, run, Silent())
    assert status(run)["state"] == "finished"
    # Of a run in another process, possibly on another machine, nobody sees the warning.
    (note,) = status(run)["notes"]
    assert note.startswith("TensorBoard failed")
    assert logs(run) == logs(probe_run)


class StopsAfter(Silent):
    def __init__(self, iterations: int, stop: StopRequest) -> None:
        self.left, self.stop = iterations, stop

    def iteration(self, record) -> None:
        self.left -= 1
        if self.left == 0:
            self.stop.ask()


@pytest.mark.slow
def test_a_run_that_is_resumed_with_trackers_has_them_from_then_on(probe_run, tmp_path):
    stop = StopRequest()
    assembly, run = created(tmp_path)
    train_run(assembly, run, StopsAfter(2, stop), stop=stop)
    about = Tracking(tensorboard=True).about()
    stop = StopRequest()
    start_run(run, assembly.config, about, StopsAfter(2, stop), stop=stop)
    resume_run(run, Silent())
    found = scalars(run / "tensorboard")
    assert list(found["charts/episodic_return"]) == [600, 800, 1000, 1200, 1400, 1600]
    assert len(list((run / "tensorboard").iterdir())) == 2
    assert logs(run) == logs(probe_run)


def test_what_is_repeated_after_a_kill_is_there_once(tmp_path):
    first = TensorBoard(tmp_path)
    first.start(0)
    for step in (10, 20, 30):
        first.log(step, {"a": step})
    second = TensorBoard(tmp_path)
    second.start(20)
    second.log(30, {"a": -30.0})
    assert scalars(tmp_path) == {"a": {10: 10.0, 20: 20.0, 30: -30.0}}
    first.close(False)
    second.close(False)


def test_a_full_disk_ends_tensorboard_and_nothing_else(tmp_path):
    board = Shielded("TensorBoard", lambda: TensorBoard(tmp_path))
    board.start(0)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores the signal, so that writing fails as on a disk that is full.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, limits[1]))
    try:
        with pytest.warns(ChorusWarning, match=r"TensorBoard failed \(OSError: .*File too large"):
            for step in range(100):
                board.log(step, {"a": 1.0})
            board.close(False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert board.problem is not None


class Failing:
    """A tracker that works for a while."""

    def __init__(self) -> None:
        self.calls = 0

    def start(self, step: int) -> None:
        pass

    def log(self, step: int, metrics: dict[str, float]) -> None:
        self.calls += 1
        if step >= 2:
            raise OSError("the disk\nis full")

    def close(self, failed: bool) -> None:
        raise AssertionError("a tracker that failed is left alone")


def test_a_tracker_is_named_at_its_first_failure_and_left_alone_from_then_on():
    tracker = Failing()
    shielded = Shielded("Failing", lambda: tracker)
    shielded.log(1, {})
    with pytest.warns(ChorusWarning, match=r"Failing failed \(OSError: the disk is full\)") as warned:
        shielded.log(2, {})
        shielded.log(3, {})
        shielded.close(False)
    assert len(warned) == 1 and tracker.calls == 2


def test_a_tracker_that_cannot_be_made_is_named():
    def make():
        raise ImportError("No module named 'tensorboard'")

    with pytest.warns(ChorusWarning, match="TensorBoard failed .*tensorboard"):
        shielded = Shielded("TensorBoard", make)
    shielded.log(1, {})
    shielded.close(False)


@pytest.mark.slow
def test_the_id_is_the_runs_own_and_stays(tmp_path):
    folders = [created(tmp_path / name, tracking=Tracking(track=True))[1] for name in ("one", "other")]
    ids = [RunDirectory(run).read_meta()["wandb"]["id"] for run in folders]
    assert folders[0].name == folders[1].name and ids[0] != ids[1]
    stop = StopRequest()
    stop.ask()
    config = resolve(
        Request(preset="bootstrapped-dqn", env="Probe/Discount-v0", seed=3, scale="smoke", options=OPTIONS)
    )
    again = Tracking(track=True, wandb={"project": "another"}).about()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WANDB_MODE", "disabled")
        start_run(folders[0], config.config, again, Silent(), stop=stop)
    assert RunDirectory(folders[0]).read_meta()["wandb"]["id"] == ids[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tensorboard": 1}, "tensorboard is 1; it must be True or False"),
        ({"track": "curse"}, "track is 'curse'; it must be True, False, or a dictionary of project, entity"),
        ({"track": {"projekt": "curse"}}, "track has 'projekt'; it may have project, entity, group, tags"),
        ({"track": {"project": ""}}, "track has project ''; it must be a text that is not empty"),
        ({"track": {"tags": "curse"}}, "track has tags 'curse'; it must be a list of texts"),
    ],
)
def test_wrong_arguments_are_sentences(given, said):
    with pytest.raises(ChorusError) as problem:
        read_tracking(**{"tensorboard": False, "track": False, **given})
    assert str(problem.value).startswith(said)


def test_variables_of_the_machine_that_asks_are_passed_on(monkeypatch):
    for name in ("PROJECT", "ENTITY", "RUN_GROUP", "TAGS", "MODE"):
        monkeypatch.delenv(f"WANDB_{name}", raising=False)
    assert Tracking(track=True).about()["wandb"] == {"project": "chorus"}
    monkeypatch.setenv("WANDB_TAGS", "a, b,")
    monkeypatch.setenv("WANDB_RUN_GROUP", "night")
    monkeypatch.setenv("WANDB_MODE", "offline")
    about = Tracking(track=True, wandb={"group": "day"}).about()
    assert about["wandb"] == {"project": "chorus", "tags": ["a", "b"], "group": "day", "mode": "offline"}
