"""`chorus demo`: what it runs, what it says when the runs are there, and the short form for real."""

from collections import Counter

import pytest

from chorus.analysis.shipped import shipped
from chorus.cli.main import main
from chorus.scheduling.jobs import jobs_of
from chorus.studies.demo import DEMO, FIRST_SEED, LONG, WITH_CERL
from running import chorus, listing
from small_jobs import write_finished

PRESETS = ["double-dqn", "bootstrapped-dqn", "tandem"]


def test_curse_vote_and_tandem_with_most_seeds_where_they_vary_most(tmp_path):
    jobs = jobs_of(DEMO, "laptop", tmp_path)
    assert [job.config.preset for job in jobs[:3]] == PRESETS
    seeds = {preset: [job.config.seed for job in jobs if job.config.preset == preset] for preset in PRESETS}
    numbers = {"double-dqn": 18, "bootstrapped-dqn": 7, "tandem": 8}
    assert seeds == {preset: list(range(2000, 2000 + number)) for preset, number in numbers.items()}
    policies = {job.config.preset: set(job.config.evaluation.policies) for job in jobs}
    assert policies["bootstrapped-dqn"] == {"individual", "aggregate"} and policies["tandem"] == {"active", "passive"}
    assert {job.config.preset: job.config.agent.members for job in jobs} == dict(zip(PRESETS, (1, 10, 2), strict=True))


@pytest.mark.parametrize("part", [DEMO, LONG], ids=["demo", "long"])
@pytest.mark.parametrize("scale", ["smoke", "laptop"])
def test_no_seed_of_the_demo_was_used_for_trials_or_ships(tmp_path, part, scale):
    """Trials had seeds below 1000; blocks of 100 are published from 1000 on, and some are left free."""
    seeds = {job.config.seed for job in jobs_of(part, scale, tmp_path)}
    assert min(seeds) == FIRST_SEED >= 2000
    assert seeds.isdisjoint(seed for shipped_seeds in shipped().seeds.values() for seed in shipped_seeds)


def test_the_help_names_the_seeds(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["demo", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    seeds = Counter(job.config.preset for job in jobs_of(DEMO, "laptop", tmp_path))
    names = {"double-dqn": "Double DQN", "tandem": "the tandem", "bootstrapped-dqn": "Bootstrapped DQN"}
    assert "S seeds from 2000 on of each algorithm, or which: 2000-2009, or 2000,2005" in said
    assert f"(default: {', '.join(f'{seeds[preset]} for {name}' for preset, name in names.items())};" in said


def test_cerl_ships_in_the_demos_setting(tmp_path):
    jobs = jobs_of(WITH_CERL, "laptop", tmp_path)
    assert {job.config.preset for job in jobs} == {*PRESETS, "cerl"}
    assert len({(job.config.schedule, job.config.replay, job.config.exploration) for job in jobs}) == 1
    assert {job.name.rpartition("__s")[0] for job in jobs} <= set(shipped().seeds)


def test_the_long_form_has_four_algorithms_in_three_games(tmp_path):
    jobs = jobs_of(LONG, "laptop", tmp_path)
    assert {job.config.preset for job in jobs} == {*PRESETS, "cerl"} and len(jobs) == 4 * 3 * 10
    assert {job.config.env.id for job in jobs} == {
        f"MinAtar/{game}-v1" for game in ("SpaceInvaders", "Breakout", "Asterix")
    }
    assert {job.config.agent.members for job in jobs if job.config.preset == "cerl"} == {5}


def test_all_algorithms_have_the_same_budget_and_replay(tmp_path):
    jobs = jobs_of(DEMO, "laptop", tmp_path)
    assert len({(job.config.schedule, job.config.replay, job.config.exploration) for job in jobs}) == 1


@pytest.mark.parametrize("part", [DEMO, LONG], ids=["demo", "long"])
def test_final_scores_of_the_demo_leave_out_the_learning_phase(tmp_path, part):
    for job in jobs_of(part, "laptop", tmp_path):
        last, of = job.config.evaluation.final_evaluations, job.config.schedule.iterations
        assert last >= 5 and 3 * last <= of


@pytest.mark.slow
def test_more_seeds_add_to_the_demos_own(tmp_path, capsys):
    assert main(["demo", "--seeds", "7", "--dry-run", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    own = {job.name.rpartition("__s")[0] for job in jobs_of(DEMO, "laptop", tmp_path)}
    assert len(own) == len(PRESETS) and all(
        f"7 missing                {tmp_path / name}__s{{2000..2006}}\n" in said for name in own
    )
    assert main(["demo", "--seeds", "0", "--out", str(tmp_path)]) == 2
    assert "--seeds is 0; it must be at least 1" in capsys.readouterr().err and listing(tmp_path) == {}


def test_the_short_form_is_the_smoke_scale(tmp_path):
    jobs = jobs_of(DEMO, "smoke", tmp_path)
    assert len(jobs) == 2 * len(PRESETS)
    assert {job.config.schedule.total_steps for job in jobs} == {3_000} and jobs[1].config.agent.members == 3


@pytest.mark.slow
def test_runs_that_are_there_are_only_reported(tmp_path, capsys):
    for job in jobs_of(DEMO, "smoke", tmp_path):
        write_finished(job)
    assert main(["demo", "--scale", "smoke", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    own, _, shipped = said.partition("What the shipped results say")
    rows = [line for line in own.splitlines() if line.startswith(("Is there a curse", "Does acting together"))]
    assert len(rows) == 2 and all("not settled" in row for row in rows)  # two seeds settle nothing
    assert "MinAtar/Asterix" in shipped and "Does CERL help" in shipped
    assert "the setting of chorus demo" in " ".join(shipped.split()) and "the same setting" not in shipped
    assert "95 % interval" in said
    assert f"report: {tmp_path / 'reports' / 'demo-smoke' / 'report.html'}" in said
    assert said.splitlines()[-1].startswith(f"next: chorus demo --out {tmp_path} ")


def test_a_dry_run_touches_nothing(tmp_path, capsys):
    assert main(["demo", "--dry-run", "--out", str(tmp_path)]) == 0
    assert "runs, 0 already ended: about" in capsys.readouterr().out and listing(tmp_path) == {}


def test_long_and_short_exclude_each_other(tmp_path, capsys):
    assert main(["demo", "--long", "--scale", "smoke", "--out", str(tmp_path)]) == 2
    assert "--scale" in capsys.readouterr().err and listing(tmp_path) == {}


@pytest.mark.long
def test_the_short_form_for_real(tmp_path):
    done = chorus("demo", "--scale", "smoke", "--seeds", "1", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "3 of 3 runs have ended" in done.stdout and "3 runs, 0 already ended" in done.stdout + done.stderr
    assert (tmp_path / "reports" / "demo-smoke-1-seeds" / "report.html").is_file()
    assert "questions asked of the same runs, 0 settled" in done.stdout  # one seed settles nothing
    assert done.stderr.count("started") == 3  # live progress, as plain lines
