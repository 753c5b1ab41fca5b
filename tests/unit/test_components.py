"""Anyone can register a component: it round-trips, checks itself, brings its options, and is never confused."""

from dataclasses import dataclass, replace

import pytest

from chorus.components import AT_LEAST_1, INTERFACES, Range, option, register, registered
from chorus.config import scales
from chorus.config.codec import decode, encode
from chorus.config.options import find_setting, options, settings
from chorus.config.presets import PRESETS, preset
from chorus.config.resolution import Request, resolve
from chorus.ensemble.value_map import Members, ValueMap, ValueMapRule
from chorus.errors import ChorusError

# What a stranger may want to exchange: one registry each.
OPEN = (
    "value map",
    "loss",
    "auxiliary loss",
    "acting rule",
    "sampler",
    "evaluation policy",
    "torso",
    "optimizer",
    "learner",
)


@pytest.fixture
def own(monkeypatch):
    """A value map of one's own, forgotten again after the test."""
    from chorus import components

    copies = {name: dict(known) for name, known in components._REGISTRIES.items()}
    monkeypatch.setattr(components, "_REGISTRIES", copies)

    @register
    @dataclass(frozen=True, kw_only=True)
    class Longer(ValueMapRule):
        """As `Members`, with a discount nearer to 1."""

        title = "longer"
        stretch: int = option(2, flag="stretch", unit="X", within=AT_LEAST_1, help="how many times the horizon")

        def build(self, members: int, discount: float) -> ValueMap:
            return Members().build(members, 1.0 - (1.0 - discount) / self.stretch)

        def problems(self, config, spec):
            if config.agent.members == 1:
                yield "longer needs company; use --members 2 or more"

    return Longer


@pytest.mark.parametrize("interface", OPEN)
def test_every_part_of_an_algorithm_has_a_registry(interface):
    known = registered(INTERFACES[interface])
    assert known and all(component.kind == kind and component.title for kind, component in known.items())


def test_a_registered_class_round_trips(own):
    problems: list[str] = []
    stored = encode(own(stretch=3))
    assert stored == {"kind": "longer", "stretch": 3}
    assert decode(ValueMapRule, stored, "config.agent.value_map", problems) == own(stretch=3) and not problems
    assert decode(ValueMapRule, {"kind": "longre"}, "config.agent.value_map", problems) is None
    assert "'longre'" in problems[0] and "longer" in problems[0] and "--plugin" in problems[0]


def test_its_options_take_part_like_any_other(own):
    assert options()["stretch"].path == "agent.value_map.stretch"
    wanted = {"agent.value_map": {"kind": "longer"}, "stretch": 5}
    found = resolve(Request(preset="bootstrapped-dqn", env="CartPole-v1", scale="smoke", options=wanted))
    assert found.config.agent.value_map == own(stretch=5)
    assert found.sources["agent.value_map.stretch"] == "given as an option"


def test_it_checks_itself_and_all_is_said_at_once(own):
    wanted = {"agent.value_map": {"kind": "longer"}, "stretch": 0, "members": 1, "batch_size": 0}
    with pytest.raises(ChorusError) as refused:
        resolve(Request(preset="bootstrapped-dqn", env="CartPole-v1", scale="smoke", options=wanted))
    said = str(refused.value)
    assert "--stretch is 0; it must be at least 1" in said
    assert "longer needs company" in said
    assert "--batch-size is 0" in said


def test_one_name_is_not_given_twice(own):
    with pytest.raises(ChorusError, match=r"the value map 'members' is registered twice.*another name"):

        @register(name="members")
        @dataclass(frozen=True)
        class Impostor(ValueMapRule):
            def build(self, members: int, discount: float) -> ValueMap:
                raise AssertionError("never built")

    with pytest.raises(ChorusError, match="must derive from one of"):
        register(dict)


def test_a_class_that_is_no_dataclass_is_refused():
    with pytest.raises(ChorusError, match="decorate it with @dataclass"):

        @register
        class Bare(ValueMapRule):
            def build(self, members: int, discount: float) -> ValueMap:
                raise AssertionError("never built")


def test_a_preset_inherits_its_parents_group_and_home(monkeypatch):
    monkeypatch.setattr("chorus.config.presets.PRESETS", dict(PRESETS))
    from chorus.config import presets

    preset("mine", title="Mine", summary="as its parent", parent="cerl")(lambda config, row: config)
    mine = presets.find_preset("mine")
    assert (mine.group, mine.home, mine.role) == ("dqn", "MinAtar/Breakout-v1", "ablation")
    assert [one.name for one in mine.lineage()] == ["double-dqn", "bootstrapped-dqn", "cerl", "mine"]
    with pytest.raises(ChorusError, match="needs a group and a home"):
        preset("orphan", title="Orphan", summary="nobody's")


def test_two_components_may_have_flags_of_their_own_for_the_same_field(own):
    @register
    @dataclass(frozen=True, kw_only=True)
    class Shorter(ValueMapRule):
        stretch: int = option(7, flag="shrink", help="by what the horizon is divided")

        def build(self, members: int, discount: float) -> ValueMap:
            return Members().build(members, discount)

    assert options()["stretch"].path == options()["shrink"].path and options()["shrink"].default == 7
    wanted = {"agent.value_map": {"kind": "shorter"}, "shrink": 3}
    found = resolve(Request(preset="bootstrapped-dqn", env="CartPole-v1", scale="smoke", options=wanted))
    assert found.config.agent.value_map.stretch == 3


@pytest.mark.parametrize("flag", ["learning-rate", "plugin"])
def test_a_flag_that_is_taken_is_refused(own, flag):
    @register
    @dataclass(frozen=True, kw_only=True)
    class Greedy(ValueMapRule):
        rate: float = option(1.0, flag=flag, help="taken already")

        def build(self, members: int, discount: float) -> ValueMap:
            return Members().build(members, discount)

    with pytest.raises(ChorusError, match=rf"the flag --{flag} of .* is already .*another flag"):
        options()


def test_an_environment_family_is_registered_with_its_rows(monkeypatch):
    monkeypatch.setattr(scales, "SCALE_ROWS", dict(scales.SCALE_ROWS))
    with pytest.raises(ChorusError, match=r"'robots' has no row at smoke scale; use one of .*flat"):
        scales.row_for("robots", "smoke", "code")
    scales.register_family("robots", {"smoke": replace(scales.row_for("flat", "smoke", "code"), members=7)})
    assert scales.row_for("robots", "smoke", "code").members == 7
    with pytest.raises(ChorusError, match="'flat' is known already"):
        scales.register_family("flat", {})


def test_every_field_is_reached_by_its_path():
    for path in (
        "agent.torso.dense",
        "agent.optimizer.learning_rate",
        "replay.sampler",
        "evaluation.max_episode_steps",
    ):
        assert find_setting(path).path == path
    assert not {"preset", "seed", "scale", "env.id"} & set(settings())


def test_flags_are_unique_and_say_what_they_mean():
    assert len({setting.flag for setting in options().values()}) == len(options()) >= 35
    assert all(len(setting.option.help.split()) >= 1 for setting in settings().values())


@pytest.mark.parametrize(
    ("within", "inside", "outside"),
    [
        (AT_LEAST_1, (1, 10**9), (0, -1)),
        (Range("", 0, 1, low_open=True), (1e-9, 1.0), (0.0, 1.1)),
        (Range("", 0, 1, high_open=True), (0.0, 0.999), (1.0, -0.1)),
    ],
)
def test_ranges_know_their_ends(within, inside, outside):
    assert all(within.holds(value) for value in inside)
    assert not any(within.holds(value) for value in outside)


def test_a_single_environment_changes_some_settings_of_its_familys_row(monkeypatch):
    from chorus.config import env_rows
    from chorus.envs.registry import describe

    monkeypatch.setattr(env_rows, "_CHANGES", dict(env_rows._CHANGES))
    spec, family = describe("Probe/Both-v0"), scales.row_for("flat", "laptop", "code")
    assert env_rows.row_of(spec, "laptop", "code") == family
    env_rows.register_env_row(spec.id, ("laptop",), n_step=7)
    env_rows.register_env_row(spec.id, ("laptop", "smoke"), batch=11)
    assert env_rows.row_of(spec, "laptop", "code") == replace(family, n_step=7, batch=11)
    assert env_rows.row_of(spec, "smoke", "code").batch == 11
    assert env_rows.row_of(describe("Probe/Action-v0"), "laptop", "code") == family
    assert resolve(Request(preset="double-dqn", env=spec.id)).config.replay.n_step == 7
    with pytest.raises(ChorusError, match="cannot change 'nstep'; did you mean 'n_step'"):
        env_rows.register_env_row(spec.id, ("laptop",), nstep=7)
