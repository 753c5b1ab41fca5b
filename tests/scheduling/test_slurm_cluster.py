"""Slurm for real: array jobs, pre-emption, cancelling, and a command that is run again."""

import signal
import subprocess
from pathlib import Path

import pytest

from killing import PATIENCE_SECONDS, end_in_the_middle, newest_checkpoint, wait_for
from running import chorus, command, environment, logs
from slurm_cluster import slurm  # noqa: F401 - a fixture
from small_jobs import small_sweep

pytestmark = pytest.mark.slow
STEPS = 12_000


def seeds(out: Path) -> list[Path]:
    return sorted(out.glob("[!.]*__s*"))


def submitted(out: Path) -> list[str]:
    """The jobs that were submitted for these runs; an array is one."""
    return [script.name.partition("_")[0] for script in (out / "slurm").glob("[0-9]*_submission.sh")]


def started(cluster, *arguments: str, **variables: str) -> subprocess.Popen:
    return subprocess.Popen(
        command(*arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(**cluster.variables, **variables),
    )


def test_pre_empted_runs_are_requeued_and_have_the_bytes_of_the_local_engine(slurm, tmp_path):  # noqa: F811
    out = tmp_path / "slurm-runs"
    options = ("--partition", "main", "--time", "1:00:00", "--memory", "1G", "--sbatch", "comment=a test", "nice=5")
    # As if the command itself ran in a job with another kind of memory, which its own jobs must not inherit.
    outer = {"SLURM_JOB_ID": "1", "SLURM_MEM_PER_CPU": "100"}
    process = started(slurm, *small_sweep(out, 2, "--engine", "slurm", *options, total_steps=STEPS), **outer)
    (array,) = wait_for(lambda: submitted(out), PATIENCE_SECONDS)
    jobs = [f"{array}_{index}" for index in range(2)]
    runs = wait_for(lambda: len(found := seeds(out)) == 2 and found, PATIENCE_SECONDS)
    interruptions = (("scancel", "--signal=USR1"), ("scontrol", "requeue"))
    for run, job, interruption in zip(runs, jobs, interruptions, strict=True):
        wait_for(lambda run=run: newest_checkpoint(run) >= 2, PATIENCE_SECONDS)
        slurm.ask(*interruption, job)
    said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, said
    assert "2 of 2 runs have ended" in said
    assert [slurm.facts(job)["Restarts"] for job in jobs] == ["1", "1"]
    assert slurm.facts(jobs[0])["Comment"] == "a" and slurm.facts(jobs[0])["TimeLimit"] == "01:00:00"
    log = (out / "slurm" / f"{jobs[0]}_0_log.err").read_text()
    assert "received SIGUSR1; stopping after this iteration" in log and "requeueing" in log
    here = tmp_path / "local-runs"
    done = chorus(*small_sweep(here, 2, "--quiet", total_steps=STEPS))
    assert done.returncode == 0, done.stderr
    assert {run.name: logs(run) for run in seeds(out)} == {run.name: logs(run) for run in seeds(here)}


def test_interrupted_jobs_stay_and_the_same_command_follows_them(slurm, tmp_path):  # noqa: F811
    sweep = small_sweep(tmp_path, 1, "--engine", "slurm", total_steps=1_000_000)
    said, code = end_in_the_middle(tmp_path, sweep, signal.SIGINT, **slurm.variables)
    assert code == 130
    (job,) = submitted(tmp_path)
    assert "1 stay with Slurm" in said and f"`scancel {job}` cancels them" in said and "Resume with: " in said
    assert slurm.facts(job)["JobState"] == "RUNNING"
    (run,) = seeds(tmp_path)
    kept = newest_checkpoint(run)
    wait_for(lambda: newest_checkpoint(run) > kept, PATIENCE_SECONDS)

    process = started(slurm, *sweep)
    assert process.stdout is not None
    assert any(line.startswith(f"{run.name}: resumed near step") for line in iter(process.stdout.readline, ""))
    assert submitted(tmp_path) == [job]
    slurm.ask("scancel", job)
    said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 1
    assert f"Slurm job {job}: CANCELLED" in said and "trying once more" not in said
    # A cancelled job must not come back.
    facts = slurm.facts(job)
    assert (facts["JobState"], facts["Restarts"]) == ("CANCELLED", "0")


def test_what_slurm_refuses_is_one_sentence(slurm, tmp_path):  # noqa: F811
    done = chorus(*small_sweep(tmp_path, 1, "--engine", "slurm", "--partition", "nowhere"), **slurm.variables)
    assert done.returncode == 2
    assert "Slurm refused the jobs" in done.stderr and "partition" in done.stderr and "Traceback" not in done.stderr
    assert not seeds(tmp_path) and not list((tmp_path / "slurm").glob("*.job.json"))
