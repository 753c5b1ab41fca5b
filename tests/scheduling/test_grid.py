"""A grid runs what is missing, tries again what failed once, and never lets one run take the others down."""

import io

import pytest
from rich.console import Console

from chorus.runs.run_directory import RunDirectory
from chorus.scheduling.grid import _UnderWay, run_grid
from chorus.scheduling.view import GridLines, GridTable, RunLine, Snapshot, short_names
from small_jobs import ScriptedEngine, begin, small_jobs


def test_ended_runs_are_skipped_and_all_others_are_run_once(tmp_path):
    finished, diverged, cut, failed, missing = jobs = small_jobs(tmp_path, seeds=5)
    for job, state in ((finished, "finished"), (diverged, "diverged"), (cut, "running"), (failed, "failed")):
        begin(job, state)
    engine = ScriptedEngine()
    result = run_grid([*jobs, missing], engine, quiet=True)
    assert engine.started == [cut.name, failed.name, missing.name]
    assert (len(result.jobs), result.skipped, result.failures, result.exit_code) == (5, 2, [], 0)
    assert all(job.has_ended for job in jobs)
    assert engine.stopped


@pytest.mark.parametrize("workers", [1, 3])
def test_no_more_runs_are_under_way_than_the_engine_has_workers(tmp_path, workers):
    engine = ScriptedEngine(workers)
    run_grid(small_jobs(tmp_path, seeds=7), engine, quiet=True)
    assert engine.most_at_once == workers


def test_a_run_that_fails_once_is_tried_again(tmp_path):
    first, second = jobs = small_jobs(tmp_path)
    engine = ScriptedEngine(problems={first.name: ["out of luck", None]})
    assert run_grid(jobs, engine, quiet=True).exit_code == 0
    assert engine.started == [first.name, second.name, first.name]


def test_a_run_that_fails_twice_is_reported_and_the_others_go_on(tmp_path):
    first, second, third = jobs = small_jobs(tmp_path, seeds=3)
    engine = ScriptedEngine(1, {first.name: ["first words", "last\nwords", None]})
    result = run_grid(jobs, engine, quiet=True)
    assert [(failure.job, failure.problem) for failure in result.failures] == [(first, "last\nwords")]
    assert result.exit_code == 1
    assert second.has_ended and third.has_ended
    assert engine.started.count(first.name) == 2


def test_what_cannot_be_helped_is_not_tried_again(tmp_path):
    (job,) = jobs = small_jobs(tmp_path, seeds=1)
    engine = ScriptedEngine(problems={job.name: ["no room", None]})
    engine.hopeless = True
    assert run_grid(jobs, engine, quiet=True).exit_code == 1
    assert engine.started == [job.name]


def test_an_end_that_the_folder_does_not_show_is_a_failure(tmp_path):
    engine = ScriptedEngine()
    engine.end_well = lambda job: None
    result = run_grid(small_jobs(tmp_path, seeds=1), engine, quiet=True)
    assert "storage shared by every node" in result.failures[0].problem


def test_a_run_that_cannot_be_started_is_reported_and_the_others_go_on(tmp_path):
    first, second = jobs = small_jobs(tmp_path)

    class Crowded(ScriptedEngine):
        def start(self, job):
            if job == first:
                raise OSError(12, "Cannot allocate memory")
            super().start(job)

    result = run_grid(jobs, Crowded(), quiet=True)
    assert [failure.job for failure in result.failures] == [first]
    assert "Cannot allocate memory" in result.failures[0].problem
    assert second.has_ended


def test_runs_wait_while_the_machine_refuses_more_of_them(tmp_path):
    """Room for one at a time, whatever the engine said: nobody's attempt is lost."""

    class Narrow(ScriptedEngine):
        def start(self, job):
            if self._running:
                raise OSError(11, "Resource temporarily unavailable")
            super().start(job)

    jobs, said = small_jobs(tmp_path, seeds=6), io.StringIO()
    engine = Narrow(workers=3)
    assert run_grid(jobs, engine, view=GridLines(said)).failures == []
    assert engine.started == [job.name for job in jobs]
    # Each that had to wait is told of once; the first had room.
    assert said.getvalue().count("cannot be started now") == 5


def test_a_cut_run_goes_on_from_its_last_evaluation(tmp_path):
    """Episodes after it are lost, and played again."""
    (job,) = small_jobs(tmp_path, seeds=1)
    begin(job)
    (job.path / "metrics.jsonl").write_text('{"step": 400}\n')
    (job.path / "episodes.jsonl").write_text('{"step": 590}\n')
    assert (job.saved_step(), job.step()) == (400, 590)
    said = io.StringIO()
    run_grid([job], ScriptedEngine(), view=GridLines(said))
    assert "resumed near step 400" in said.getvalue()


def test_an_interrupt_stops_the_engine_and_goes_on_to_the_caller(tmp_path):
    class Interrupted(ScriptedEngine):
        def wait(self, seconds):
            raise KeyboardInterrupt

    engine = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        run_grid(small_jobs(tmp_path), engine, quiet=True)
    assert engine.stopped


def test_plain_lines_say_what_starts_and_how_it_ends(tmp_path):
    first, second = jobs = small_jobs(tmp_path)
    cut = begin(second)
    (second.path / "metrics.jsonl").write_text('{"step": 400}\n')
    said = io.StringIO()
    engine = ScriptedEngine(1, {first.name: ["Traceback\nout of luck"]})
    run_grid(jobs, engine, view=GridLines(said), title="figure2")
    assert cut.path == second.path
    assert [line for line in said.getvalue().splitlines() if not line.startswith("figure2")] == [
        f"{first.name}: started",
        f"{first.name}: failed (out of luck); trying once more",
        f"{second.name}: resumed near step 400",
        f"{second.name}: finished",
        f"{first.name}: started",
        f"{first.name}: finished",
    ]
    assert said.getvalue().startswith("figure2: 0 of 2 runs done, 0 under way, 2 waiting; about ")


def test_the_sentence_of_a_snapshot_counts_everything():
    running = (RunLine("a", 50, 100, rate=10.0),)
    shown = Snapshot(total=6, done=2, failed=1, running=running, left=65.0)
    assert shown.sentence() == "2 of 6 runs done, 1 under way, 2 waiting, 1 failed; about 1 min 05 s left"
    assert running[0].left == "5 s left"  # 50 steps at 10 a second
    assert Snapshot(total=1, done=1, failed=0, running=(), left=0.0).sentence() == "1 of 1 runs done, 0 under way"


def test_plain_lines_give_each_run_its_pace_and_its_time_left(monkeypatch):
    monkeypatch.setattr("chorus.scheduling.view._SECONDS_BETWEEN_LINES", 0.0)
    said = io.StringIO()
    lines = GridLines(said)
    running = (RunLine("run-a", 50_000, 100_000, rate=1_000.0), RunLine("run-b", 0, 100_000, rate=0.0))
    shown = Snapshot(total=3, done=1, failed=0, running=running, left=90.0)
    lines.start("figure5", shown)
    lines.update(shown)
    assert said.getvalue().splitlines()[2:] == [
        "  run-a: step 50,000 of 100,000, 1,000 steps/s, 50 s left",
        "  run-b: step 0 of 100,000, compiling",
    ]


def test_a_pace_is_counted_from_the_first_step_that_was_seen(tmp_path, monkeypatch):
    """Ten seconds of compilation, then 200 steps a second; from the start it would look like 80."""
    clock = iter([5.0, 10.0, 12.0])
    monkeypatch.setattr("chorus.scheduling.grid.time.monotonic", lambda: next(clock))
    (job,) = small_jobs(tmp_path, seeds=1)
    begin(job)
    under_way = _UnderWay(job, first_step=0, seen_step=0)
    rates = [under_way.line().rate]
    for step in (200, 600):
        (job.path / "metrics.jsonl").write_text(f'{{"step": {step}}}\n')
        rates.append(under_way.line().rate)
    assert rates == [0.0, 0.0, 200.0]


def test_the_live_table_shows_each_run_with_bar_rate_and_time_left():
    console = Console(file=io.StringIO(), force_terminal=True, width=160)
    table = GridTable(console)
    running = (RunLine("run-a", 50_000, 100_000, rate=1_000.0), RunLine("run-b", 0, 100_000, rate=0.0))
    table.start("figure5", Snapshot(total=3, done=1, failed=0, running=running, left=90.0))
    table.say("a message")
    table.close()
    text = console.file.getvalue()
    for part in ("figure5", "run-a", "50,000/100,000", "1,000 steps/s", "50 s left", "run-b", "compiling",
                 "1 of 3 runs done, 2 under way; about 1 min 30 s left", "a message"):  # fmt: skip
        assert part in text


@pytest.mark.parametrize("width", [80, 100, 140])
def test_however_narrow_the_terminal_algorithm_and_seed_can_be_read(width):
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    table = GridTable(console)
    names = [f"MinAtar-SpaceInvaders-v1__{own}" for own in ("cerl-5466c274__s3", "double-dqn-26c165aa__s0")]
    running = tuple(RunLine(name, 123_456, 500_000, rate=1_234.0) for name in names)
    table.start("demo", Snapshot(total=3, done=1, failed=0, running=running, left=90.0))
    table.close()
    lines = console.file.getvalue().splitlines()
    for name in names:
        (line,) = [line for line in lines if name.split("__", 1)[1] in line]
        assert "123,456/500,000" in line and line.rstrip().endswith("left") and len(line) <= width


def test_long_names_are_told_apart_by_what_they_do_not_have_in_common():
    names = [
        f"CartPole-v1__{own}__s0" for own in ("cerl__smoke__members=5", "cerl__smoke__members=10", "tandem__smoke")
    ]
    assert short_names(names, 40) == names
    assert short_names(names, 24) == ["cerl__members=5__s0", "cerl__members=10__s0", "tandem__s0"]
    assert short_names(names[:1], 24) == ["cerl__s0"]
    assert short_names([f"Pong__{'x' * 30}__s0"], 20) == [f"…{'x' * 15}__s0"]


def test_runs_in_the_engines_queue_are_counted_with_their_reasons(tmp_path):
    """Queued, running, back in the queue and running again: only the time outside the queue is an attempt."""

    class Queueing(ScriptedEngine):
        """Takes all runs at once and works on one; the first is sent back once."""

        def __init__(self) -> None:
            super().__init__(1)
            self.script = [
                {first.name: "PENDING (Priority)", second.name: "PENDING (Priority)"},
                {second.name: "PENDING (Resources)"},
                {first.name: "PENDING (BeginTime)", second.name: "PENDING (Resources)"},
                {second.name: "PENDING (Resources)"},
                {},
            ]

        @property
        def capacity(self) -> int:
            return 2

        def queued(self):
            return self.script[0]

        def wait(self, seconds):
            if len(self.script) > 1:
                self.script.pop(0)
                return []
            return super().wait(seconds)

    class Told(GridLines):
        def __init__(self) -> None:
            super().__init__()
            self.said, self.sentences = [], []

        def say(self, message: str) -> None:
            self.said.append(message)

        def update(self, snapshot) -> None:
            self.sentences.append(snapshot.sentence().partition(";")[0])

    first, second = jobs = small_jobs(tmp_path)
    view = Told()
    assert run_grid(jobs, Queueing(), view=view).exit_code == 0
    assert view.sentences[:3] == [
        "0 of 2 runs done, 1 under way, 1 queued: PENDING (Resources)",
        "0 of 2 runs done, 0 under way, 2 queued: 1 PENDING (BeginTime), 1 PENDING (Resources)",
        "0 of 2 runs done, 1 under way, 1 queued: PENDING (Resources)",
    ]
    assert [message for message in view.said if message.startswith(first.name)] == [
        f"{first.name}: started",
        f"{first.name}: back in the queue, PENDING (BeginTime)",
        f"{first.name}: started",
        f"{first.name}: finished",
    ]
    assert view.said.count(f"{second.name}: started") == 1


def test_a_run_that_somebody_else_stopped_is_tried_again_and_says_so(tmp_path):
    (job,) = small_jobs(tmp_path, seeds=1)

    class Stopped(ScriptedEngine):
        def end_well(self, job):
            super().end_well(job)
            RunDirectory(job.path).write_status("stopped", iteration=1)

    engine = Stopped()
    result = run_grid([job], engine, quiet=True)
    assert len(engine.started) == 2
    assert result.failures[0].problem == "its process was asked to stop, by a signal that this command did not send"
