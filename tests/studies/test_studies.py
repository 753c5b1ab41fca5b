"""Every study builds every configuration at every scale; the paper's data figures are all there."""

import itertools
from pathlib import Path

import pytest

from chorus.config.options import find_setting
from chorus.errors import ChorusError
from chorus.scheduling import costs
from chorus.scheduling.jobs import Known, jobs_of
from chorus.studies.panels import Sweep
from chorus.studies.study import Arm, EnvironmentSet, Part, Scaled, Study
from chorus.studies.table import STUDIES, find_study

OUT = Path("nowhere")
SCALES = ("smoke", "laptop", "paper")
EVERY_PART = [
    pytest.param(study, part, id=f"{study.name}-{part.name}") for study in STUDIES.values() for part in study.parts
]


@pytest.fixture(scope="module")
def known() -> Known:
    """Studies share configurations; each is resolved once for all tests."""
    return {}


def test_there_is_one_study_for_each_data_figure():
    numbers = [2, 3, 4, 5, *range(7, 29)]
    figures = {study.name: study.figure for study in STUDIES.values() if study.figure is not None}
    assert figures == {f"figure{number}": number for number in numbers}
    beside = [study.name for study in STUDIES.values() if study.figure is None]
    assert beside[:4] == ["sac-self-target", "diverging-member", "hyperparameters", "cost"]
    assert beside[4:] == ["exploration", "acting", "own-data", "observer", "layer-norm", "critics"]


@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.name)
@pytest.mark.parametrize("scale", SCALES)
def test_a_sweep_panel_shows_a_setting_that_the_study_sweeps_and_no_swept_setting_goes_unshown(study: Study, scale):
    swept = {find_setting(name).path for part in study.parts for arm in part.arms for name in arm.swept(scale)}
    assert {panel.path for panel in study.panels if isinstance(panel, Sweep)} == swept


def test_headings_name_the_figure_where_there_is_one():
    assert find_study("figure7").heading == "Figure 7: CERL"
    assert find_study("cost").heading == "Training time per step"


@pytest.mark.slow
@pytest.mark.parametrize(("study", "part"), EVERY_PART)
@pytest.mark.parametrize("scale", SCALES)
def test_every_study_builds_all_its_configurations(study: Study, part: Part, scale, known: Known):
    jobs = jobs_of(part, scale, OUT, "gpu" if scale == "paper" else None, known)
    environments = part.environments.at(scale)
    assert {job.config.env.id for job in jobs} == set(environments.envs)
    assert {job.config.preset for job in jobs} == {arm.preset for arm in part.arms}
    assert {job.config.seed for job in jobs} == set(range(environments.seeds))
    assert all(job.config.scale == scale for job in jobs)
    assert len({job.path for job in jobs}) == len(jobs)
    if scale == "laptop":
        assert study.laptop


@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.name)
def test_a_night_on_two_cores_is_enough_at_the_laptop_scale(study: Study, known: Known, monkeypatch):
    monkeypatch.setattr(costs, "measured_processor", lambda: "AMD EPYC")
    work = sum(costs.seconds(job.config) for part in study.parts for job in jobs_of(part, "laptop", OUT, known=known))
    assert work / 2 <= 12 * 3_600


def test_studies_share_runs():
    ablation = {job.path for job in jobs_of(find_study("figure21").parts[0], "laptop", OUT)}
    sizes = {job.path for job in jobs_of(find_study("figure5").parts[0], "laptop", OUT)}
    everything = {job.path for job in jobs_of(find_study("figure3").parts[0], "laptop", OUT)}
    # Double DQN and Bootstrapped DQN with N = 2, 5, 10, on three games with five seeds; of these N = 1, 10 in figure 3.
    assert len(ablation & sizes) == 4 * 3 * 5
    assert len(ablation & sizes & everything) == 2 * 3 * 5


@pytest.mark.slow
def test_the_papers_numbers():
    games = jobs_of(find_study("figure2").parts[0], "paper", OUT, "gpu")
    assert len(games) == 2 * 55 * 5
    assert {job.config.agent.members for job in games} == {1, 10}
    assert {job.config.replay.capacity for job in games} == {1_000_000}
    assert {job.config.schedule.total_steps for job in games} == {50_000_000}
    layers = jobs_of(find_study("figure18").parts[0], "paper", OUT, "gpu")
    assert {job.config.replay.capacity for job in layers} == {4_000_000}
    assert {job.config.agent.shared_layers for job in layers} == {0, 1, 2, 3, 4}
    quantiles = jobs_of(find_study("figure16").parts[0], "paper", OUT, "gpu")
    assert {job.config.env.atari.sticky_actions for job in quantiles} == {0.25}
    tandem = next(arm for arm in find_study("figure8").parts[0].arms if arm.preset == "sac-tandem")
    assert tandem.seeds.paper == 10 and find_study("figure8").parts[0].environments.paper.seeds == 30


@pytest.mark.slow
def test_the_tables_hyperparameters_reach_every_run_and_change_its_name():
    (part,) = find_study("figure3").parts
    code, table = (jobs_of(part.with_seeds(1), "paper", OUT, "gpu", hyperparameters=which) for which in (None, "table"))
    assert {job.config.exploration.decay_steps for job in code} == {1_000_000}
    assert {job.config.exploration.decay_steps for job in table} == {16_000_000}
    assert {job.config.agent.optimizer.epsilon for job in table} == {1 / 32**2}
    assert not {job.path for job in code} & {job.path for job in table}


@pytest.mark.slow
def test_the_study_of_hyperparameters_has_both_values_of_both():
    jobs = jobs_of(find_study("hyperparameters").parts[0], "paper", OUT, "gpu")
    pairs = {(job.config.exploration.decay_steps, job.config.agent.optimizer.epsilon) for job in jobs}
    assert pairs == {(decay, size / 32**2) for decay in (1_000_000, 16_000_000) for size in (0.01, 1.0)}
    # One combination is the default, so its runs are those of other studies.
    plain = {job.path for job in jobs_of(find_study("figure14").parts[0], "paper", OUT, "gpu")}
    assert len(plain & {job.path for job in jobs}) == 2 * 4 * 5


def test_hyperparameters_differ_by_the_same_factors_at_the_laptop_scale_as_in_the_paper():
    jobs = jobs_of(find_study("hyperparameters").parts[0], "laptop", OUT)
    short, long = sorted({job.config.exploration.decay_steps for job in jobs})
    small, large = sorted({job.config.agent.optimizer.epsilon for job in jobs})
    assert long == 16 * short < jobs[0].config.schedule.total_steps and large == pytest.approx(100 * small)
    plain = {job.path for job in jobs_of(find_study("figure14").parts[0], "laptop", OUT)}
    # Double DQN and Bootstrapped DQN in three games with four seeds.
    assert len(plain & {job.path for job in jobs}) == 2 * 3 * 4


def test_the_diverging_member_is_crossed_with_the_auxiliary_loss_and_another_member_is_evaluated():
    jobs = jobs_of(find_study("diverging-member").parts[0].with_seeds(1), "smoke", OUT)
    ensembles = [job for job in jobs if job.config.preset == "ensemble-sac-cerl"]
    losses = {(job.config.agent.loss.kind, job.config.agent.loss.auxiliary.kind) for job in ensembles}
    kinds = itertools.product(("main_and_auxiliary", "diverging_member"), ("twice_huber", "squared"))
    assert losses == set(kinds) and len(ensembles) == 4
    assert all(job.config.evaluation.policies["bystander"].index == 1 for job in ensembles)
    assert [job.about["identity"]["role"] for job in ensembles] == ["cerl", "ablation", "ablation", "ablation"]


@pytest.mark.parametrize("scale", SCALES)
def test_the_study_of_cost_has_iterations_after_the_first(scale, known: Known):
    for part in find_study("cost").parts:
        for job in jobs_of(part, scale, OUT, "gpu" if scale == "paper" else None, known):
            schedule = job.config.schedule
            assert schedule.iterations >= 3 and schedule.learning_starts < schedule.iteration_steps


def test_an_arm_may_have_fewer_seeds_and_runs_every_combination():
    environments = Scaled(**dict.fromkeys(SCALES, EnvironmentSet(("MinAtar/Breakout-v1",), 3)))
    few = Arm(
        "tandem", {"passive_share": (0.1, 0.5), "epsilon": (0.01, None)}, seeds=Scaled(smoke=1, laptop=2, paper=3)
    )
    part = Part(name="discrete", environments=environments, arms=(Arm("double-dqn"), few))
    requests = part.requests("smoke")
    assert [request.seed for request in requests if request.preset == "double-dqn"] == [0, 1, 2]
    assert [request.options for request in requests if request.preset == "tandem"] == [
        {"passive_share": 0.1, "epsilon": 0.01},
        {"passive_share": 0.1},
        {"passive_share": 0.5, "epsilon": 0.01},
        {"passive_share": 0.5},
    ]
    # Seed by seed: what is cut short has something of everything.
    assert [request.seed for request in requests] == [0] * 5 + [1, 2]


def test_an_arm_with_fewer_seeds_has_the_first_of_those_that_are_named():
    environments = Scaled(**dict.fromkeys(SCALES, EnvironmentSet(("MinAtar/Breakout-v1",), (70, 71, 75))))
    part = Part(
        name="discrete",
        environments=environments,
        arms=(Arm("double-dqn"), Arm("tandem", seeds=Scaled(smoke=2, laptop=2, paper=2))),
    )
    found = [(request.preset, request.seed) for request in part.requests("smoke")]
    assert found == [("double-dqn", 70), ("tandem", 70), ("double-dqn", 71), ("tandem", 71), ("double-dqn", 75)]


def test_variants_of_an_arm_are_not_neighbours():
    """Neighbours run at once, and would both compile what one of them could have found compiled."""
    continuous = find_study("figure7").choose("continuous")[0]
    first = [(request.preset, request.options["buffer_size"]) for request in continuous.requests("smoke")][:6]
    presets = ("sac", "ensemble-sac", "ensemble-sac-cerl")
    assert first == [(preset, capacity) for capacity in (1_000, 2_000) for preset in presets]


def test_parts_can_be_chosen():
    study = find_study("figure2")
    assert [part.name for part in study.choose(None)] == ["discrete", "continuous"]
    assert [part.name for part in study.choose("continuous")] == ["continuous"]
    with pytest.raises(ChorusError, match=r"no part 'discreet'; it has discrete and continuous"):
        study.choose("discreet")


@pytest.mark.parametrize(("name", "remedy"), [("figure6", "are diagrams"), ("figure22x", "did you mean 'figure22'")])
def test_unknown_studies_are_refused(name, remedy):
    with pytest.raises(ChorusError, match=remedy):
        find_study(name)


def test_a_study_is_found_by_its_figures_number_alone():
    assert find_study("5") is find_study("figure5")
