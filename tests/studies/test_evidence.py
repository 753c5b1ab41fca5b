"""The campaign behind docs/results.md: its order, what it covers, and how it skips, resumes and publishes."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from builders import load_example
from chorus.analysis.ledger import evaluate
from chorus.analysis.loading import load_runs
from chorus.cli.grid import this_command
from chorus.errors import ChorusError
from chorus.files import flatten
from chorus.runs.published import publish, published_runs
from chorus.scheduling.grid import run_grid
from chorus.scheduling.jobs import Job, Known, jobs_for, jobs_of
from chorus.studies.demo import DEMO, QUICK
from chorus.studies.evidence import EVIDENCE, find_stages
from chorus.studies.table import find_study
from small_jobs import ScriptedEngine, small_jobs, write_finished

campaign = load_example("evidence")
OUT = Path("nowhere")
ALGORITHMS = ["double-dqn", "bootstrapped-dqn", "cerl", "tandem"]


class WritingEngine(ScriptedEngine):
    """Its runs end with logs, as those of a process do."""

    def end_well(self, job: Job) -> None:
        write_finished(job)


@pytest.fixture(scope="module")
def known() -> Known:
    return {}


def arguments(*given: str):
    return campaign.read_arguments(given)


def test_rounds_hold_one_seed_of_everything_and_start_with_asterix():
    asterix, games = find_stages(["asterix", "games"])
    assert EVIDENCE[0] == asterix
    assert [request.preset for request in asterix.requests()[:8]] == ALGORITHMS * 2
    assert [request.seed for request in asterix.requests()[::4]] == list(range(10))
    first = games.requests()[:20]
    assert {request.seed for request in first} == {0} and len({request.env for request in first}) == 5
    assert [request.env for request in first[:4]] == ["MinAtar/Asterix-v1"] * 4


def test_the_settings_of_the_main_runs_are_those_in_which_cerl_was_seen_to_help(known):
    config = jobs_for(EVIDENCE[0].requests(), OUT, known)[2].config
    assert config.preset == "cerl" and config.agent.members == 10 and config.replay.capacity == 100_000
    assert config.agent.torso.dense == (128,) and config.agent.torso.convolutions[0].features == 16
    assert config.agent.optimizer.learning_rate == 2.5e-4 and config.schedule.total_steps == 500_000
    assert config.runtime.threads == 1


@pytest.mark.slow
@pytest.mark.parametrize("stage", EVIDENCE, ids=lambda stage: stage.name)
def test_a_stage_completes_the_figures_that_it_names(stage, known):
    before = EVIDENCE[: EVIDENCE.index(stage) + 1]
    made = {job.name for one in before for job in jobs_for(one.requests(), OUT, known)}
    for figure in stage.figures:
        kind = "continuous" if stage.name == "control" else "discrete"
        for part in find_study(str(figure)).choose(kind):
            wanted = [job for job in jobs_of(part, "laptop", OUT, known=known) if job.config.env.id in stage.envs]
            assert wanted and {job.name for job in wanted} <= made


# Where presets differ from those of the demo, which are compared with Bootstrapped DQN unless they are named here.
FROM_DEMO = {"tandem": "tandem"} | dict.fromkeys(
    ("double-dqn", "double-dqn-mh", "double-dqn-mico", "qr-dqn"), "double-dqn"
)
_QUANTILES = ("agent.estimate", "agent.initialization", "agent.loss", "agent.selection", "replay.n_step")
OWN = {
    "cerl": ("agent.value_map",),
    "cerl-self-target": ("agent.value_map",),
    "self-oversampled": ("replay.sampler",),
    "data-bootstrapped": ("replay.sampler",),
    "per-step": ("acting.kind",),
    "wide": ("agent.torso",),
    **{f"{preset}-mh": ("agent.value_map",) for preset in ("double-dqn", "bootstrapped-dqn")},
    **{f"{preset}-mico": ("agent.auxiliary",) for preset in ("double-dqn", "bootstrapped-dqn")},
    **dict.fromkeys(("qr-dqn", "bootstrapped-qr-dqn"), _QUANTILES),
}
SETTINGS = {
    "shared_layers": "agent.shared_layers",
    "members": "agent.members",
    "passive_share": "acting.passive_share",
    "buffer_size": "replay.capacity",
    "epsilon_decay": "exploration.decay_steps",
    "optimizer_epsilon": "agent.optimizer.epsilon",
}


def test_a_short_run_differs_from_the_demos_only_in_what_it_is_about(known):
    """Their plain runs are the demo's, so everything else must be the same: replay, exploration, optimizer and all."""
    (short,) = find_stages(["short"], rounds=1)
    plain = {job.config.preset: flatten(job.config.to_json()) for job in jobs_of(DEMO, "laptop", OUT)}
    requests = short.requests()
    jobs = jobs_for(requests, OUT, known)
    assert len({job.name for job in jobs}) == len(requests)
    for job, request in zip(jobs, requests, strict=True):
        own, demo = flatten(job.config.to_json()), plain[FROM_DEMO.get(request.preset, "bootstrapped-dqn")]
        differing = {path for path in own.keys() | demo.keys() if own.get(path) != demo.get(path)} - {"preset", "seed"}
        about = tuple(SETTINGS[name] for name, value in request.options.items() if varies(name, value))
        assert differing and not [
            path for path in differing if not path.startswith(about + OWN.get(request.preset, ()))
        ]


def varies(option: str, value: object) -> bool:
    """Whether an option is what an arm is about; others are those of the demo."""
    return option in SETTINGS and QUICK.get(option) != value


@pytest.mark.slow
def test_short_runs_and_the_demos_answer_the_claims_about_ablations_of_games(tmp_path, known):
    (short,) = find_stages(["short"])
    jobs = jobs_for([request for request in short.requests() if request.seed < 1003], tmp_path, known)
    plain = jobs_of(DEMO.with_seeds(3), "laptop", tmp_path, known=known)
    for job in (*jobs, *plain):
        write_finished(job, 10.0 + job.config.seed % 3)
    entries = {entry.claim.number: entry for entry in evaluate(load_runs([tmp_path]))}
    for number in (12, 14, 15, 16, 19, 20, 25, 28, 29, 30, 31, 32, 33, 35, 36, 37, 44):
        run = [outcome for outcome in entries[number].outcomes if outcome.status != "missing"]
        assert run and entries[number].scale == "laptop, shortened runs", number
        # Claim 33 is about tasks as well.
        missing = {outcome.what for outcome in entries[number].outcomes if outcome.status == "missing"}
        assert all("SAC" in what for what in missing), missing


@pytest.mark.slow
def test_short_runs_of_tasks_answer_every_claim_about_them(tmp_path, known):
    (stage,) = find_stages(["short-control"], rounds=3)
    for job in jobs_for(stage.requests(), tmp_path, known):
        write_finished(job, 10.0 + job.config.seed % 3)
    entries = {entry.claim.number: entry for entry in evaluate(load_runs([tmp_path]))}
    for number in (2, 5, 10, 13, 17, 18, 33, 38, 40, 43):
        assert entries[number].scale == "laptop, shortened runs", number
        missing = {outcome.what for outcome in entries[number].outcomes if outcome.status == "missing"}
        # Claims 17 and 33 are about games as well.
        assert not missing or number in (17, 33), missing


def test_stages_are_chosen_by_name_and_a_wrong_one_is_refused():
    chosen = find_stages(["control", "asterix"], ["Hopper-v4"])
    assert [stage.name for stage in chosen] == ["control", "asterix"]
    assert {stage.envs for stage in chosen} == {("Hopper-v4",)}
    (first,) = find_stages(["asterix"], rounds=2)
    assert first.seeds == (0, 1) and first.envs == EVIDENCE[0].envs
    with pytest.raises(ChorusError, match="no stage 'asterics'; did you mean 'asterix'"):
        find_stages(["asterics"])


def test_published_runs_are_not_made_again_and_others_belong_to_the_first_stage_that_wants_them(tmp_path):
    args = arguments("asterix", "games", "--out", str(tmp_path / "runs"), "--results", str(tmp_path / "results"))
    one, *others = jobs_for(EVIDENCE[0].requests(), args.out)
    write_finished(one)
    publish(one.path, args.results / "elsewhere")
    left = campaign.left_to_do(find_stages(args.stages), args)
    assert [job.name for job in left["asterix"][1]] == [job.name for job in others]
    assert not {job.config.env.id for job in left["games"][1]} & {"MinAtar/Asterix-v1"}


def test_a_published_run_of_an_earlier_version_counts_and_one_with_another_configuration_is_refused(tmp_path):
    args = arguments("asterix", "--out", str(tmp_path / "runs"), "--results", str(tmp_path / "results"))
    job = jobs_for(EVIDENCE[0].requests(), args.out)[0]
    write_finished(job)
    config = publish(job.path, args.results / "minatar") / "config.json"
    content = json.loads(config.read_text())
    # Earlier versions had no such settings, so their files do not name them.
    del content["states"], content["agent"]["torso"]["layer_norm"]
    config.write_text(json.dumps(content))
    assert len(campaign.left_to_do(EVIDENCE[:1], args)["asterix"][1]) == 39
    content["agent"]["torso"]["dense"] = [32]
    config.write_text(json.dumps(content))
    with pytest.raises(ChorusError, match="not the configuration of this run"):
        campaign.left_to_do(EVIDENCE[:1], args)


def test_every_run_is_published_as_soon_as_it_ends_and_failed_ones_are_not(tmp_path):
    jobs, results = small_jobs(tmp_path / "runs", seeds=3), tmp_path / "results"
    bad = jobs[1].name
    engine = WritingEngine(workers=1, problems={bad: ["broken", "broken again"]})
    seen: list[set[str]] = []
    publish_it = campaign.publisher(results / "games")

    def on_end(job: Job) -> None:
        publish_it(job)
        seen.append(set(published_runs(results)))

    outcome = run_grid(jobs, engine, quiet=True, on_end=on_end)
    assert seen == [{jobs[0].name}, {jobs[0].name, jobs[2].name}]
    assert [failure.job.name for failure in outcome.failures] == [bad]
    packed = results / "games" / jobs[0].name / "metrics.jsonl.gz"
    assert gzip.decompress(packed.read_bytes()) == (jobs[0].path / "metrics.jsonl").read_bytes()


@pytest.mark.slow
def test_the_plan_names_every_stage_and_what_is_left(tmp_path, capsys):
    assert campaign.main(["--dry-run", "--out", str(tmp_path), "--results", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines[:-2:2]] == [stage.name for stage in EVIDENCE]
    assert lines[1].startswith("  40 runs left, about ") and lines[-2].startswith("all: ")
    assert "docs/reproduction.md" in lines[-1]


def test_it_is_resumed_as_a_script_and_not_as_a_command_of_chorus(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["examples/evidence.py", "asterix", "--out", "my runs"])
    assert this_command() == "python examples/evidence.py asterix --out 'my runs'"


@pytest.mark.slow
def test_a_command_that_was_stopped_before_publishing_does_it_at_its_next_start(tmp_path, capsys):
    args = ["asterix", "--scale", "smoke", "--out", str(tmp_path / "runs"), "--results", str(tmp_path / "results")]
    for job in jobs_for(EVIDENCE[0].requests("smoke"), tmp_path / "runs"):
        write_finished(job)
    assert campaign.main([*args, "--quiet"]) == 0
    assert len(published_runs(tmp_path / "results")) == 40
    assert campaign.main([*args, "--dry-run"]) == 0
    assert "all: nothing left" in capsys.readouterr().out
