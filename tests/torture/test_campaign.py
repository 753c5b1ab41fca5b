"""The campaign of `make torture` in its shortest form, and its counting."""

import random

import pytest
from attacks import Try
from campaign import attack, campaign, table
from cases import Workshop, every_case

from chorus.config.presets import PRESETS


@pytest.mark.slow
def test_a_short_campaign_finds_nothing():
    said = []
    tallies = campaign(count=1, seed=20_240_507, say=said.append)
    assert not [one for tally in tallies for one in tally.failures], said
    assert all(tally.tries >= 1 for tally in tallies)
    assert table(tallies).endswith(f"{sum(tally.tries for tally in tallies)} passed, 0 failed")


def test_failures_are_counted_and_named():
    def two_of_three(shop):
        for problem in ("first", None, "third"):
            yield Try("something", problem)

    said = []
    tally = attack(Workshop(random.Random(0)), two_of_three, 3, said.append)
    assert (tally.tries, len(tally.failures)) == (3, 2)
    assert said == ["  FAILED two of three: something: first", "  FAILED two of three: something: third"]
    assert table([tally]).endswith("1 passed, 2 failed")


def test_every_preset_is_attacked():
    own = {name for name, one in PRESETS.items() if one.change.__module__.startswith("chorus.")}
    assert {case.preset for case in every_case()} == own
