"""Variants are what runs say they are: title, role, group and the settings that tell them apart."""

import json
from pathlib import Path

import pytest
from synthetic_runs import MINATAR, SyntheticRun, write_study

from chorus.analysis.context import make_context
from chorus.analysis.grouping import find_comparison_groups, find_sweep_axes
from chorus.analysis.loading import load_runs
from chorus.analysis.results import Results
from chorus.analysis.variants import NO_IDENTITY, Setting, read_identity
from chorus.analysis.warnings import find_warnings, settings_warnings
from chorus.analysis.wording import percent
from chorus.components import short_number
from chorus.config.schema import RunConfig
from chorus.runs.logs import MetricNames, Run, printable, read_run


def labels(folder: Path) -> list[str]:
    return [variant.label for variant in load_runs([folder]).variants]


def test_sizes_and_layers_are_kept_apart(tmp_path: Path) -> None:
    for members, layers in ((2, 0), (10, 0), (10, 2)):
        SyntheticRun(
            preset="bootstrapped-dqn",
            options={"members": members, "shared_layers": layers},
            swept=("agent.members", "agent.shared_layers"),
            name=f"run-{members}-{layers}",
        ).write(tmp_path)
    assert labels(tmp_path) == [
        "Bootstrapped DQN, N=2, L=0",
        "Bootstrapped DQN, N=10, L=0",
        "Bootstrapped DQN, N=10, L=2",
    ]


def test_a_default_has_no_label_of_its_own(tmp_path: Path) -> None:
    for members in (10, 5):  # ten are the laptop scale's default on MinAtar
        SyntheticRun(preset="bootstrapped-dqn", options={"members": members}, name=f"r{members}").write(tmp_path)
    assert labels(tmp_path) == ["Bootstrapped DQN, N=5", "Bootstrapped DQN"]


def test_what_follows_the_environment_makes_no_variant(tmp_path: Path) -> None:
    for env in ("MinAtar/Asterix-v1", "CartPole-v1"):  # another torso, another number of environments
        SyntheticRun(env=env).write(tmp_path)
    assert labels(tmp_path) == ["Double DQN"]


def test_the_defaults_of_environments_make_no_variants_where_a_setting_was_swept_in_one(tmp_path: Path) -> None:
    """Replays of 100,000 on MinAtar and 50,000 on CartPole are the defaults; Breakout was also run with 4,000."""
    for env, default in (("MinAtar/Breakout-v1", 100_000), ("CartPole-v1", 50_000)):
        for preset in ("double-dqn", "bootstrapped-dqn"):
            SyntheticRun(preset, env, options={"buffer_size": default}).write(tmp_path)
    SyntheticRun(env="MinAtar/Breakout-v1", options={"buffer_size": 4_000}, name="small").write(tmp_path)
    assert labels(tmp_path) == ["Double DQN, 4k buffer", "Double DQN", "Bootstrapped DQN"]
    small, double, ensemble = load_runs([tmp_path]).variants
    assert len(double.runs) == 2 and ensemble.distance(double) < ensemble.distance(small)


def test_a_replay_is_larger_than_the_default_of_its_own_environment(tmp_path: Path) -> None:
    """70,000 on Breakout lies between the defaults of CartPole, 50,000, and Breakout, 100,000: it is a smaller one."""
    for seed in range(3):
        for env, size in (("CartPole-v1", 50_000), ("MinAtar/Breakout-v1", 100_000), ("MinAtar/Breakout-v1", 70_000)):
            run = SyntheticRun(
                "bootstrapped-dqn", env, seed, options={"buffer_size": size}, name=f"{env[:4]}{size}-{seed}"
            )
            run.write(tmp_path)
    results = make_context(load_runs([tmp_path])).results
    (group,) = find_comparison_groups(results)
    assert group.larger is None and group.ensemble is not None and group.ensemble.capacity == 100_000
    (line,) = next(axis.lines for axis in find_sweep_axes(results) if axis.path == "replay.capacity")
    assert [variant.capacity for variant in line] == [70_000, 100_000]


def test_settings_that_change_together_are_named_once(tmp_path: Path) -> None:
    for members, rate in ((3, 1e-4), (5, 1e-3)):
        options = {"members": members, "learning_rate": rate}
        SyntheticRun(preset="bootstrapped-dqn", options=options, name=f"r{members}").write(tmp_path)
    assert labels(tmp_path) == ["Bootstrapped DQN, N=3", "Bootstrapped DQN, N=5"]


def test_an_environment_setting_can_be_what_differs(tmp_path: Path) -> None:
    for flag in (False, True):
        options = {"terminal_on_life_loss": flag}
        SyntheticRun(env="ALE/Breakout-v5", options=options, name=f"r{flag}").write(tmp_path)
    assert labels(tmp_path) == ["Double DQN", "Double DQN, terminal_on_life_loss=True"]


def test_scales_are_kept_apart(tmp_path: Path) -> None:
    for scale in ("smoke", "laptop"):
        SyntheticRun(scale=scale, name=scale).write(tmp_path)
    assert labels(tmp_path) == ["Double DQN, laptop scale", "Double DQN, smoke scale"]


def test_seeds_and_threads_make_no_variant(tmp_path: Path) -> None:
    for seed in range(2):
        SyntheticRun(seed=seed, options={"threads": seed + 1}).write(tmp_path)
    assert labels(tmp_path) == ["Double DQN"]


def test_variants_never_share_a_label(tmp_path: Path) -> None:
    for rate in (1e-4, 1e-3):
        settings = {"agent.optimizer.learning_rate": {"value": rate, "label": ""}}
        run = SyntheticRun(options={"learning_rate": rate}, identity={"settings": settings}, name=f"r{rate}")
        run.write(tmp_path)
    assert labels(tmp_path) == ["Double DQN, learning_rate=0.0001", "Double DQN, learning_rate=0.001"]


def test_the_nearest_variant_shares_most_settings(tmp_path: Path) -> None:
    for preset in ("double-dqn", "bootstrapped-dqn"):
        for buffer in (200_000, 400_000):
            SyntheticRun(preset=preset, options={"buffer_size": buffer}, name=f"{preset}{buffer}").write(tmp_path)
    single_small, single_large, small, large = load_runs([tmp_path]).variants
    assert single_large.label == "Double DQN, 400k buffer"
    assert min((single_small, single_large), key=large.distance) is single_large
    assert min((single_small, single_large), key=small.distance) is single_small


def test_two_plain_ensembles_that_are_both_changed_are_not_compared_with_each_other(tmp_path: Path) -> None:
    """Both have a large replay and one shared layer or two: each is beside that with the large replay alone."""
    for layers in (0, 1, 2):
        for size in (100_000, 500_000):
            options = {"shared_layers": layers, "buffer_size": size}
            SyntheticRun("bootstrapped-dqn", options=options, name=f"{layers}-{size}").write(tmp_path)
    (group,) = find_comparison_groups(make_context(load_runs([tmp_path])).results)
    plain = {v.label: found.label if (found := group.plain(v)) else None for v in group.variants}
    assert plain == {
        "Bootstrapped DQN": None,
        "Bootstrapped DQN, 500k buffer": "Bootstrapped DQN",
        "Bootstrapped DQN, L=1": "Bootstrapped DQN",
        "Bootstrapped DQN, L=1, 500k buffer": "Bootstrapped DQN, 500k buffer",
        "Bootstrapped DQN, L=2": "Bootstrapped DQN",
        "Bootstrapped DQN, L=2, 500k buffer": "Bootstrapped DQN, 500k buffer",
    }


def test_one_algorithm_with_other_settings_in_a_second_environment_has_a_warning(tmp_path: Path) -> None:
    SyntheticRun(env=MINATAR[0]).write(tmp_path)
    SyntheticRun(env=MINATAR[1], options={"buffer_size": 4_000}).write(tmp_path)
    assert settings_warnings(load_runs([tmp_path])) == [
        "Double DQN has other settings in some environments than in others: replay.capacity."
    ]


def test_tandems_with_several_shares_say_each_once(tmp_path: Path) -> None:
    for share in (0.05, 0.5):
        SyntheticRun(preset="tandem", options={"passive_share": share}, name=f"t{share}").write(tmp_path)
    assert labels(tmp_path) == ["5%-tandem", "50%-tandem"]
    (axis,) = find_sweep_axes(Results(load_runs([tmp_path])))
    assert [[axis.value(variant) for variant in line] for line in axis.lines] == [[0.05, 0.5]]


def test_roles_and_groups_are_those_of_the_runs(tmp_path: Path) -> None:
    write_study(tmp_path, presets=("double-dqn", "bootstrapped-dqn", "cerl", "qr-dqn", "wide"), seeds=1)
    SyntheticRun(preset="mine", identity={"title": "Mine", "role": "cerl", "group": "qr-dqn"}).write(tmp_path)
    results = Results(load_runs([tmp_path]))
    assert {v.preset: v.role for v in results.dataset.variants} == {
        "double-dqn": "single",
        "bootstrapped-dqn": "ensemble",
        "cerl": "cerl",
        "qr-dqn": "single",
        "wide": "ablation",
        "mine": "cerl",
    }
    dqn, quantiles = find_comparison_groups(results)
    assert (dqn.single.label, dqn.ensemble.label, dqn.cerl.preset) == ("Double DQN", "Bootstrapped DQN", "cerl")
    assert (quantiles.single.label, quantiles.ensemble, quantiles.cerl.label) == ("QR-DQN", None, "Mine")


def test_a_run_without_identity_is_shown_under_its_presets_name_and_compared_with_nothing(tmp_path: Path) -> None:
    write_study(tmp_path, presets=("double-dqn", "bootstrapped-dqn"), envs=("CartPole-v1",), seeds=1)
    SyntheticRun(preset="cerl", env="CartPole-v1", identity=None).write(tmp_path)
    dataset = load_runs([tmp_path])
    (older,) = [v for v in dataset.variants if v.preset == "cerl"]
    assert (older.label, older.role, older.group) == ("cerl", "ablation", "other")
    assert NO_IDENTITY in dataset.runs[older.runs[0]].problems
    context = make_context(dataset)
    (group,) = find_comparison_groups(context.results)
    assert group.single.label == "Double DQN" and group.cerl is None
    assert any(warning.startswith("1 run without an identity") for warning in find_warnings(context))


def test_older_runs_whose_configurations_differ_are_kept_apart(tmp_path: Path) -> None:
    for members in (3, 5):
        options = {"members": members}
        SyntheticRun(preset="bootstrapped-dqn", options=options, identity=None, name=f"r{members}").write(tmp_path)
    assert labels(tmp_path) == ["bootstrapped-dqn, members=3", "bootstrapped-dqn, members=5"]


@pytest.mark.parametrize(
    "damaged",
    [
        {"title": 3, "role": "queen", "group": None, "settings": [], "swept": 7, "axes": "N"},
        {"settings": {"agent.members": 4}, "swept": [None, "agent.members"], "axes": {"agent.members": None}},
        {},
    ],
)
def test_a_damaged_identity_is_read_as_far_as_it_goes(damaged: dict) -> None:
    run = Run(path=Path("x"), env="e", preset="p", seed=0, config={}, meta={"identity": damaged})
    found = read_identity(run)
    assert (found.title, found.role, found.group) == ("p", "ablation", "other")
    assert found.settings.get("agent.members") in (None, Setting(4, "members=4"))


def test_a_swept_setting_is_an_axis_with_the_title_of_its_runs(tmp_path: Path) -> None:
    for rate in (1e-4, 1e-3):
        SyntheticRun(
            options={"learning_rate": rate},
            swept=("agent.optimizer.learning_rate",),
            identity={"axes": {"agent.optimizer.learning_rate": {"title": "learning rate", "log": True}}},
            name=f"r{rate}",
        ).write(tmp_path)
    (axis,) = find_sweep_axes(Results(load_runs([tmp_path])))
    assert (axis.name, axis.style.title, axis.style.log) == ("agent-optimizer-learning_rate", "learning rate", True)
    assert [axis.value(variant) for variant in axis.lines[0]] == [1e-4, 1e-3]
    assert axis.line_label(axis.lines[0]) == "Double DQN" and axis.references == ()


def test_every_synthetic_configuration_is_one_that_a_run_could_have(tmp_path: Path) -> None:
    for preset in ("double-dqn", "tandem", "ensemble-sac", "not a preset"):
        run, _ = read_run(SyntheticRun(preset=preset, env="CartPole-v1").write(tmp_path), MetricNames())
        assert RunConfig.from_json(run.config, preset).to_json() == json.loads(json.dumps(run.config))


def test_small_helpers() -> None:
    numbers = [short_number(n) for n in (250_000, 4_000_000, 1_500, 12, True, "x")]
    assert numbers == ["250k", "4M", "1.5k", "12", "True", "x"]
    assert [percent(0.996), percent(0.996, careful=True), percent(1.0, careful=True)] == ["100 %", "99.6 %", "100 %"]
    assert printable("a\x00b\nc") == "a\N{REPLACEMENT CHARACTER}b c"
