"""A job is found by its configuration, and says how far it is without asking the process that is at it."""

import pytest

from chorus.config.identity import run_name
from chorus.config.resolution import Request, resolve
from chorus.errors import ChorusError
from chorus.runs.logs import last_step
from chorus.scheduling.jobs import jobs_for
from running import finished_probe_run, listing
from small_jobs import OPTIONS, PROBE, begin, small_jobs


def test_the_same_run_is_one_job_whoever_asks(tmp_path):
    once = Request(preset="bootstrapped-dqn", env=PROBE, seed=1, scale="smoke")
    # Three members are the smoke scale's default.
    again = Request(preset="bootstrapped-dqn", env=PROBE, seed=1, scale="smoke", options={"members": 3})
    (job,) = jobs_for([once, again], tmp_path)
    assert job.path == tmp_path / run_name(resolve(once))


def test_seeds_have_the_configurations_that_resolving_each_gives(tmp_path):
    requests = [Request(preset="cerl", env=PROBE, seed=seed, scale="smoke", options=OPTIONS) for seed in range(3)]
    jobs = jobs_for(requests, tmp_path)
    assert [job.config for job in jobs] == [resolve(request).config for request in requests]
    assert [job.name for job in jobs] == [run_name(resolve(request)) for request in requests]


def test_all_that_is_wrong_is_said_at_once_and_nothing_is_touched(tmp_path):
    wrong = [
        Request(preset="cerl", env=PROBE, seed=0, scale="smoke", options={"members": 0}),
        Request(preset="cerl", env=PROBE, seed=-1, scale="smoke"),
        Request(preset="nonsense", env=PROBE, seed=0, scale="smoke"),
        Request(preset="nonsense", env=PROBE, seed=1, scale="smoke"),
    ]
    with pytest.raises(ChorusError) as refused:
        jobs_for(wrong, tmp_path)
    for part in ("--members is 0", "--seed is -1", "'nonsense'"):
        assert str(refused.value).count(part) == 1
    assert listing(tmp_path) == {}


def test_a_folder_that_holds_another_run_is_refused(tmp_path):
    (job,) = small_jobs(tmp_path, seeds=1)
    begin(job)
    (job.path / "config.json").write_text("{}")
    with pytest.raises(ChorusError, match=r"holds another run.*choose another --out"):
        small_jobs(tmp_path, seeds=1)


@pytest.mark.parametrize(
    ("written", "state", "ended"),
    [
        ("running", "stopped", False),
        ("failed", "failed", False),
        ("finished", "finished", True),
        ("diverged",) * 2 + (True,),
    ],
)
def test_states_are_read_from_the_folder(tmp_path, written, state, ended):
    (job,) = small_jobs(tmp_path, seeds=1)
    assert (job.state, job.has_ended, job.step()) == ("missing", False, 0)
    begin(job, written)
    assert (job.state, job.has_ended) == (state, ended)


def test_the_step_is_that_of_the_last_whole_line_of_either_log(tmp_path):
    (job,) = small_jobs(tmp_path, seeds=1)
    begin(job)
    (job.path / "metrics.jsonl").write_text('{"step": 400, "metric": "a"}\n')
    assert job.step() == 400
    (job.path / "episodes.jsonl").write_text('{"step": 410}\n{"step": 612}\n{"step": 7')
    assert job.step() == 612
    begin_again = '{"step": 9999}\n'
    (job.path / "episodes.jsonl").write_text(begin_again)
    assert job.step() == job.total_steps == 1_600


def test_only_the_end_of_a_long_log_is_read(tmp_path):
    log = tmp_path / "episodes.jsonl"
    log.write_text("".join(f'{{"step": {step}}}\n' for step in range(5_000)))
    assert last_step(log) == 4_999
    assert last_step(tmp_path / "absent.jsonl") == 0


@pytest.mark.slow
def test_a_finished_run_is_at_its_last_step():
    run = finished_probe_run()
    request = Request(preset="bootstrapped-dqn", env=PROBE, seed=3, scale="smoke", options=OPTIONS | {"members": 2})
    (job,) = jobs_for([request], run.parent)
    assert job.path == run and job.has_ended
    assert last_step(run / "metrics.jsonl") == job.step() == 1_600
