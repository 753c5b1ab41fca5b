"""Runs of one configuration in one process share their traced programs, whatever their seeds and folders.

Tracing, lowering and reading a compiled program take most of a tiny run. Agents, loops and evaluators keep nothing of a
run but their programs, so runs that differ in nothing else can use the same ones. Processes that tests start make their
own; and so do environments and torsos that come with a test, whose configurations do not say what they are, and tests
that replace parts of the library.
"""

import sys
from collections import OrderedDict
from dataclasses import replace
from functools import cache
from typing import Any

# More are seldom needed again, and programs take memory.
MOST = 6


class Programs:
    """What the assemblies of one configuration share."""

    def __init__(self, assembly: Any) -> None:
        self.like, self.spec, self.agent = replace(assembly.config, seed=0), assembly.spec, assembly.agent
        self.loop: Any = None
        self.evaluator: Any = None


class Sharing:
    """Whether the test under way takes programs of others and leaves its own to them."""

    allowed = True


def share(allowed: bool) -> None:
    """To be called before each test; has an effect once runs can be made in this process."""
    Sharing.allowed = allowed
    if "chorus.runs.assembly" in sys.modules:
        _share()


@cache
def _share() -> None:
    from chorus.runs.assembly import Assembly

    kept: OrderedDict[str, Programs] = OrderedDict()
    make, make_loop, make_evaluator = Assembly.of, Assembly.loop, Assembly.evaluator

    def programs_of(config: Any) -> Programs | None:
        if not Sharing.allowed:
            return None
        found = kept.get(config.digest())
        return found if found and found.like == replace(config, seed=0) else None

    def of(config: Any) -> Assembly:
        if found := programs_of(config):
            return Assembly(config, found.spec, found.agent)
        assembly = make(config)
        if Sharing.allowed and ":" not in config.env.id and "custom" not in config.agent.torso.kind:
            kept[config.digest()] = Programs(assembly)
            if len(kept) > MOST:
                kept.popitem(last=False)
        return assembly

    def loop(assembly: Assembly) -> Any:
        found = programs_of(assembly.config)
        if not found or found.agent is not assembly.agent:
            return make_loop(assembly)
        found.loop = found.loop or make_loop(assembly)
        return found.loop

    def evaluator(assembly: Assembly, *given: Any, **named: Any) -> Any:
        found = programs_of(assembly.config)
        if given or named or not found or found.agent is not assembly.agent:
            return make_evaluator(assembly, *given, **named)
        found.evaluator = found.evaluator or make_evaluator(assembly)
        return found.evaluator

    Assembly.of, Assembly.loop, Assembly.evaluator = staticmethod(of), loop, evaluator
