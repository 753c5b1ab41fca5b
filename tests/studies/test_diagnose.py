"""`chorus diagnose`: who plays which part, what is refused, what is said when the runs are there."""

from dataclasses import astuple

import pytest

from chorus.cli.main import main
from chorus.envs.registry import describe
from chorus.scheduling.jobs import jobs_of
from chorus.studies.diagnosis import CONTINUOUS, DISCRETE, Overrides, diagnosis, larger_buffer
from running import chorus, listing
from small_jobs import write_finished

CARTPOLE = describe("CartPole-v1")
NO_WISHES = Overrides()


def test_the_family_decides_who_plays_which_part():
    def players(env_id):
        return {arm.preset for arm in diagnosis(describe(env_id), "smoke", 2, NO_WISHES).arms}

    assert players("CartPole-v1") == players("MinAtar/Breakout-v1") == set(astuple(DISCRETE))
    assert players("Pendulum-v1") == set(astuple(CONTINUOUS))


def test_every_part_is_played_by_every_seed(tmp_path):
    jobs = jobs_of(diagnosis(CARTPOLE, "smoke", 2, NO_WISHES), "smoke", tmp_path)
    parts = [(job.config.preset, job.config.replay.capacity) for job in jobs if job.config.seed == 1]
    # The scale's replay is 2,000; four times as much would be more than the 3,000 steps of a run.
    assert parts == [
        ("double-dqn", 2_000),
        ("bootstrapped-dqn", 2_000),
        ("tandem", 2_000),
        ("cerl", 2_000),
        ("bootstrapped-dqn", 3_000),
    ]
    assert len(jobs) == 2 * len(parts)


@pytest.mark.parametrize(
    ("total_steps", "larger"),
    [
        (None, 200_000),  # 4 x 50,000, and as many steps
        (1_000_000, 200_000),
        (75_000, 75_000),
        (74_999, None),  # the usual 50,000 hold two thirds
        (50_000, None),  # the usual 50,000 hold them all
    ],
)
def test_the_larger_buffer_holds_four_times_as_much_or_everything(total_steps, larger):
    assert larger_buffer(CARTPOLE, "laptop", total_steps) == larger


def test_wishes_reach_the_runs_they_apply_to(tmp_path):
    overrides = Overrides(members=4, total_steps=2_000, max_episode_steps=100)
    jobs = jobs_of(diagnosis(CARTPOLE, "smoke", 1, overrides), "smoke", tmp_path)
    members = {job.config.preset: job.config.agent.members for job in jobs}
    assert members == {"double-dqn": 1, "bootstrapped-dqn": 4, "tandem": 2, "cerl": 4}
    assert {job.config.schedule.total_steps for job in jobs} == {2_000}
    assert {job.config.env.max_episode_steps for job in jobs} == {100}
    assert len(jobs) == 4  # 2,000 steps fit into the usual buffer


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["CartPole-v1", "--seeds", "0"], ("--seeds is 0", "at least 1")),
        (["CartPole-v1", "--members", "0"], ("--members is 0", "at least 2")),
        (["CartPole-v1", "--engine", "rey"], ("'rey'", "did you mean 'ray'?")),
        (["NoSuchEnv-v0"], ("'NoSuchEnv-v0'", "chorus list envs")),
        ([], ("ENV", "chorus diagnose --help")),
    ],
    ids=lambda case: " ".join(case) or "nothing",
)
def test_wrong_wishes_are_refused_before_anything_is_touched(tmp_path, capsys, arguments, parts):
    assert main(["diagnose", *arguments, "--scale", "smoke", "--quiet", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1
    for part in parts:
        assert part in said.err
    assert listing(tmp_path) == {}


@pytest.mark.long
def test_runs_that_are_there_are_only_diagnosed(tmp_path, capsys):
    for job in jobs_of(diagnosis(CARTPOLE, "smoke", 3, NO_WISHES), "smoke", tmp_path):
        write_finished(job)
    assert main(["diagnose", "CartPole-v1", "--scale", "smoke", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    # Every policy of every run is at 10 + seed: no difference, and the same interval on either side of zero.
    (row,) = (line for line in said.splitlines() if line.startswith("Is there a curse of diversity?"))
    assert "not settled" in row and "+0.00" in row and row.rstrip().endswith("3")
    assert "\nNo advice: at the smoke scale nothing is learnt.\n" in said
    assert said.index("Note: At the smoke scale nothing is learnt") < said.index("Is there a curse")
    page = tmp_path / "reports" / "diagnosis-CartPole-v1-smoke.html"
    assert f"\ndiagnosis: {page}\n" in said and page.is_file()
    assert said.splitlines()[-1].startswith(f"next: chorus diagnose CartPole-v1 --out {tmp_path}      where")


@pytest.mark.long
@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (100.0, "next: chorus report {out}      every figure"),
        (None, "next: chorus diagnose CartPole-v1 --out {out} --seeds 6"),
    ],
    ids=["all settled", "open"],
)
def test_more_seeds_are_suggested_where_they_could_settle_something(tmp_path, capsys, found, wanted):
    """Five seeds at one level settle everything within 5 %, three at 10, 11 and 12 nothing."""
    seeds = 5 if found else 3
    for job in jobs_of(diagnosis(CARTPOLE, "laptop", seeds, NO_WISHES), "laptop", tmp_path):
        write_finished(job, level=found)
    assert main(["diagnose", "CartPole-v1", "--seeds", str(seeds), "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith(wanted.format(out=tmp_path))
    assert [page.name for page in (tmp_path / "reports").iterdir()] == [
        f"diagnosis-CartPole-v1-laptop-{seeds}-seeds.html"
    ]


@pytest.mark.long
def test_another_question_has_a_page_and_a_next_command_of_its_own(tmp_path, capsys):
    for job in jobs_of(diagnosis(CARTPOLE, "laptop", 3, Overrides(members=4, total_steps=60_000)), "laptop", tmp_path):
        write_finished(job)
    asked = ["--members", "4", "--total-steps", "60000", "--engine", "ray", "--seeds", "3", "--out", str(tmp_path)]
    assert main(["diagnose", "CartPole-v1", *asked]) == 0
    (page,) = (tmp_path / "reports").iterdir()
    assert page.name == "diagnosis-CartPole-v1-laptop-4-members-60000-steps-3-seeds.html"
    said = capsys.readouterr().out
    assert "Not tried: the usual replay, 50k transitions, holds 83 % of a run's 60,000 steps." in " ".join(said.split())
    assert (
        "--members 4 --total-steps 60000 --engine ray" in said.splitlines()[-1] and "--seeds 6" in said.splitlines()[-1]
    )


@pytest.mark.slow
def test_a_dry_run_touches_nothing(tmp_path, capsys):
    assert main(["diagnose", "CartPole-v1", "--dry-run", "--out", str(tmp_path)]) == 0
    assert "25 runs, 0 already ended: about" in capsys.readouterr().out and listing(tmp_path) == {}


@pytest.mark.long
def test_a_diagnosis_for_real(tmp_path):
    few = ("--seeds", "1", "--total-steps", "1000")
    done = chorus("diagnose", "CartPole-v1", "--scale", "smoke", *few, "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "4 of 4 runs have ended" in done.stdout  # the usual replay holds all steps: no arm with a larger one
    assert done.stdout.count("not settled") >= 5  # a single seed settles nothing
    assert (tmp_path / "reports" / "diagnosis-CartPole-v1-smoke-1000-steps-1-seeds.html").is_file()
