"""Runs of one configuration share their parts, and only those."""

from dataclasses import replace

import flax.linen as nn
import pytest

from chorus.config.resolution import Request, resolve
from chorus.networks.torsos import custom
from chorus.runs import programs
from chorus.runs.assembly import Assembly
from chorus.runs.programs import ProgramCache

# The tests share programs by default (`shared_programs`), but not with this fixture.
pytestmark = pytest.mark.usefixtures("monkeypatch")


def probe(**options):
    return resolve(Request(preset="double-dqn", env="Probe/Discount-v0", scale="smoke", seed=0, options=options)).config


def test_seeds_of_one_configuration_share_their_loop_and_others_do_not():
    cache, config = ProgramCache(), probe()
    first, second, other = (
        Assembly.of(one, cache) for one in (config, replace(config, seed=5), probe(learning_rate=0.5))
    )
    assert first.loop() is second.loop() is not other.loop()
    assert second.config.seed == 5
    alone = Assembly.of(config)
    assert alone.loop() is not first.loop() and alone.loop() is not alone.loop()


def test_an_assembly_whose_agent_was_replaced_has_a_loop_of_its_own():
    shared = Assembly.of(probe(), ProgramCache())
    assert replace(shared, agent=replace(shared.agent)).loop() is not shared.loop()


def test_code_of_the_user_is_not_shared():
    """A class may have been defined anew under the same name."""
    config, assembly = probe(), Assembly.of(probe())
    torso = custom(nn.Dense(4))
    for own in (
        replace(config, env=replace(config.env, id="my_module:MyEnv")),
        replace(config, agent=replace(config.agent, torso=torso)),
    ):
        cache = ProgramCache()
        assert cache.add(own, assembly.spec, assembly.agent) is None and cache.find(own) is None


def test_those_that_were_used_last_are_kept(monkeypatch):
    monkeypatch.setattr(programs, "_MOST", 2)
    cache, assembly = ProgramCache(), Assembly.of(probe())
    first, second, third = (probe(learning_rate=rate) for rate in (0.1, 0.2, 0.3))
    for config in (first, second):
        cache.add(config, assembly.spec, assembly.agent)
    assert cache.find(first)
    cache.add(third, assembly.spec, assembly.agent)
    assert cache.find(first) and cache.find(third) and cache.find(second) is None
