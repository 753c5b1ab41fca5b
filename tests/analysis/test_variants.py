"""Algorithms that differ are kept apart and named by what differs; what only follows the environment is
not.
"""

from pathlib import Path

import pytest
from synthetic_runs import SyntheticRun

from chorus.analysis.loading import load_runs
from chorus.analysis.runs import clean
from chorus.analysis.variants import describe, display_name, flatten, read_traits, short_number


def labels(folder: Path) -> list[str]:
    return [variant.label for variant in load_runs([folder]).variants]


def test_sizes_and_layers_are_kept_apart(tmp_path: Path) -> None:
    for members, layers in ((2, 0), (10, 0), (10, 3)):
        SyntheticRun(
            preset="bootstrapped-dqn",
            overrides={"agent.members": members, "agent.shared_layers": layers},
            name=f"run-{members}-{layers}",
        ).write(tmp_path)
    assert labels(tmp_path) == [
        "Bootstrapped DQN, N=2, L=0",
        "Bootstrapped DQN, N=10, L=0",
        "Bootstrapped DQN, N=10, L=3",
    ]


def test_what_follows_the_environment_makes_no_variant(tmp_path: Path) -> None:
    SyntheticRun(env="MinAtar/Asterix-v1", overrides={"network.width": 32}).write(tmp_path)
    SyntheticRun(env="MinAtar/Breakout-v1", overrides={"network.width": 64}).write(tmp_path)
    assert labels(tmp_path) == ["Double DQN"]


def test_settings_that_go_together_are_named_once(tmp_path: Path) -> None:
    for members in (3, 5):
        overrides = {"agent.members": members, "acting.probabilities": [1 / members] * members}
        SyntheticRun(preset="bootstrapped-dqn", overrides=overrides, name=f"r{members}").write(tmp_path)
    assert labels(tmp_path) == ["Bootstrapped DQN, N=3", "Bootstrapped DQN, N=5"]


def test_an_environment_setting_can_be_what_differs(tmp_path: Path) -> None:
    for flag in (False, True):
        SyntheticRun(overrides={"env.terminal_on_life_loss": flag}, name=f"r{flag}").write(tmp_path)
    assert labels(tmp_path) == [
        "Double DQN, terminal_on_life_loss=False",
        "Double DQN, terminal_on_life_loss=True",
    ]


def test_seeds_and_folders_make_no_variant(tmp_path: Path) -> None:
    for seed in range(2):
        SyntheticRun(seed=seed, overrides={"out": f"runs{seed}", "runtime.threads": seed + 1}).write(tmp_path)
    assert labels(tmp_path) == ["Double DQN"]


def test_the_nearest_variant_shares_most_settings(tmp_path: Path) -> None:
    for preset in ("double-dqn", "bootstrapped-dqn"):
        for buffer in (100_000, 400_000):
            overrides = {"replay.capacity": buffer}
            SyntheticRun(preset=preset, overrides=overrides, name=f"{preset}{buffer}").write(tmp_path)
    single_small, single_large, small, large = load_runs([tmp_path]).variants
    assert single_large.label == "Double DQN, 400k buffer"
    assert min((single_small, single_large), key=large.distance) is single_large
    assert min((single_small, single_large), key=small.distance) is single_small


@pytest.mark.parametrize(
    ("preset", "name"),
    [
        ("double-dqn", "Double DQN"),
        ("bootstrapped-qr-dqn", "Bootstrapped QR-DQN"),
        ("bootstrapped-dqn-mh", "Bootstrapped DQN + MH"),
        ("cerl-prior", "CERL + priors"),
        ("cerl", "Bootstrapped DQN + CERL"),
        ("my-own-thing", "My own thing"),
        ("__", "Unnamed"),
        ("<script>", "<script>"),
    ],
)
def test_display_names(preset: str, name: str) -> None:
    assert display_name(preset, {}) == name


def test_tandems_with_several_shares_say_each_once(tmp_path: Path) -> None:
    for share in (0.05, 0.5):
        SyntheticRun(preset="tandem", overrides={"acting.passive_share": share}, name=f"t{share}").write(tmp_path)
    assert labels(tmp_path) == ["5%-tandem", "50%-tandem"]


def test_a_tandem_says_its_share() -> None:
    assert display_name("tandem", {"acting": {"kind": "tandem", "passive_share": 0.25}}) == "25%-tandem"


def test_roles() -> None:
    def role(agent: dict, acting: str = "uniform") -> str:
        return read_traits({"agent": agent, "acting": {"kind": acting}}).role

    assert role({"members": 1}) == "single"
    assert role({"members": 4}) == "ensemble"
    assert role({"members": 4, "value_map": {"kind": "cross"}}) == "cross"
    assert role({"members": 2}, "tandem") == "tandem"
    assert role({}) == "single"


def test_the_plain_baselines() -> None:
    def plain(**agent: object) -> bool:
        return read_traits({"agent": {"members": 4, **agent}}).plain

    assert plain() and plain(auxiliary={"kind": "no_auxiliary"}, prior_scale=0.0)
    assert not plain(auxiliary={"kind": "mico"}) and not plain(prior_scale=3.0)
    assert not plain(value_map={"kind": "cross"})
    assert not read_traits({"replay": {"sampler": {"kind": "masked"}}}).plain


def test_small_helpers() -> None:
    assert [short_number(n) for n in (250_000, 4_000_000, 1_500, 12, True, "x")] == [
        "250k",
        "4M",
        "1.5k",
        "12",
        "True",
        "x",
    ]
    assert describe("replay.capacity", 1_000_000) == "1M buffer"
    assert describe("acting.passive_share", 0.05) == "p=5%"
    assert clean("a\x00b\nc") == "a\N{REPLACEMENT CHARACTER}b c"
    assert flatten({"a": {"b": 1, "c": [1, 2]}, "d": None}) == {"a.b": 1, "a.c": "[1, 2]", "d": None}
