"""What is asked of Slurm: its notation of times and sizes, the flags of a run, and what is refused."""

import pytest

from chorus.cli.grid import suggested
from chorus.cli.main import main
from chorus.config.options import RESERVED
from chorus.errors import ChorusError
from chorus.scheduling.engines import choose_engine, engine_options, read_options
from chorus.scheduling.engines.slurm_options import read_flag, read_gpus, read_megabytes, read_minutes
from chorus.scheduling.engines.slurm_request import SlurmRequest
from running import chorus
from small_jobs import PROBE, small_jobs, small_sweep


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("90", 90),
        ("90:00", 90),
        ("0:01", 1),
        ("1:30:00", 90),
        ("0:00:61", 2),
        ("2-12", 60 * 60),
        ("2-12:30", 60 * 60 + 30),
        ("1-00:00:30", 24 * 60 + 1),
    ],
)
def test_times_in_slurms_notation(text, minutes):
    assert read_minutes(text) == minutes


@pytest.mark.parametrize(
    ("text", "megabytes"), [("800M", 800), ("4G", 4_096), ("4gb", 4_096), ("2048K", 2), ("1T", 2**20)]
)
def test_amounts_of_memory(text, megabytes):
    assert read_megabytes(text) == megabytes


def test_flags_of_sbatch():
    assert [read_flag(text) for text in ("constraint=a100&fast", "exclusive", "--mail_type=END")] == [
        ("constraint", "a100&fast"),
        ("exclusive", True),
        ("mail-type", "END"),
    ]
    assert read_gpus("a100:2") == "a100:2"


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--time", "soon"], ("--time 'soon'", "2-12:00")),
        (["--time", "0"], ("--time '0'",)),
        (["--memory", "4"], ("--memory '4'", "4G")),
        (["--gpus", "two"], ("--gpus 'two'", "a100:1")),
        (["--cpus-per-task", "0"], ("--cpus-per-task '0'", "from 1")),
        (["--partition", ""], ("--partition ''",)),
        (["--sbatch", "mem=5G"], ("--sbatch mem=5G", "use --memory")),
        (["--sbatch", "a=1", "output=/tmp/x"], ("--sbatch output=/tmp/x", "leave it out")),
        (["--sbatch", "a=b\nc"], ("no flag of sbatch",)),
        (["--sbatch", "a b=c"], ("--sbatch 'a b=c'", "KEY=VALUE")),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(tmp_path, capsys, arguments, parts):
    assert main(["sweep", "--preset", "double-dqn", "--env", PROBE, "--engine", "slurm", "--dry-run", *arguments]) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said and all(part in said for part in parts), said


def test_options_of_slurm_need_its_engine(tmp_path, capsys):
    assert main(small_sweep(tmp_path, 1, "--sbatch", "constraint=a", "exclusive")) == 2
    said = capsys.readouterr().err
    assert "--sbatch constraint=a exclusive means nothing to the engine local; add --engine slurm" in said


def test_no_component_may_take_an_option_of_an_engine():
    assert {option.name for _, option in engine_options()} <= RESERVED


def test_options_in_python_are_the_texts_of_the_command_line(tmp_path):
    with pytest.raises(ChorusError, match="'partion' is no option of an engine; did you mean 'partition'"):
        choose_engine("slurm", small_jobs(tmp_path, seeds=1), partion="long")
    assert read_options("slurm", None, {"time": "1-0", "sbatch": ["nice=5"], "qos": None}) == {
        "time": 1_440,
        "sbatch": [("nice", "5")],
    }


def test_suggested_commands_keep_the_flags_of_sbatch():
    command = suggested("diagnose", "CartPole-v1", engine="slurm", cpus_per_task="2", sbatch=["nice=5", "exclusive"])
    assert command == "chorus diagnose CartPole-v1 --engine slurm --cpus-per-task 2 --sbatch nice=5 exclusive"


def test_a_run_asks_for_its_threads_and_memory(tmp_path):
    (job,) = small_jobs(tmp_path, seeds=1)
    # 600 MB for the process, half as much again, in steps of 256 MB.
    assert SlurmRequest().flags_of(job) == (("requeue", True), ("cpus-per-task", 1), ("mem", "1024M"))
    asked = SlurmRequest.of(
        {"partition": "long", "memory": 4_096, "cpus_per_task": 3, "gpus": "a100:1", "sbatch": [("constraint", "x")]}
    )
    assert dict(asked.flags_of(job)) == {
        "requeue": True,
        "cpus-per-task": 3,
        "mem": "4096M",
        "partition": "long",
        "constraint": "x",
    }
    (job,) = small_jobs(tmp_path, seeds=1, device="gpu")
    assert dict(asked.flags_of(job))["gpus-per-node"] == "a100:1"
    assert dict(SlurmRequest().flags_of(job))["gpus-per-node"] == "1"


def test_requests_that_do_not_fit_the_runs_are_refused(tmp_path):
    jobs = small_jobs(tmp_path, seeds=1, threads=4)
    with pytest.raises(ChorusError, match="--cpus-per-task is 2, and a run has 4 threads; give at least 4"):
        SlurmRequest(cpus=2).check(jobs)
    with pytest.raises(ChorusError, match="--gpus is 1, and no run computes on a GPU; add --device gpu"):
        SlurmRequest(gpus="1").check(jobs)


def test_short_jobs_are_asked_to_stop_by_half_their_time():
    assert (SlurmRequest().signal_seconds, SlurmRequest().grace_seconds) == (120, 100)
    assert (SlurmRequest(minutes=1).signal_seconds, SlurmRequest(minutes=1).grace_seconds) == (30, 15)


@pytest.mark.slow
def test_without_slurms_commands_one_sentence_says_where_to_go(tmp_path):
    done = chorus(*small_sweep(tmp_path / "runs", 1, "--engine", "slurm"), PATH=str(tmp_path))
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "sbatch is not found here" in done.stderr and "login node" in done.stderr
