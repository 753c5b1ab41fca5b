"""Traced programs that runs of one configuration share within a process.

Tracing, lowering and loading a program takes seconds, which is most of a short run. Agents, loops and evaluators keep
nothing of a run but their programs, so runs that differ only in seed and directory can share them.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace

from chorus.agents.agent import Agent
from chorus.config.schema import RunConfig
from chorus.envs.spec import EnvSpec
from chorus.networks.torsos import CustomTorso
from chorus.training.evaluate import Evaluator
from chorus.training.loop import Loop

# Programs take memory, and the arms of a study are seldom more.
_MOST = 6


@dataclass
class SharedParts:
    """The parts of a configuration; loop and evaluator are added by the run that first needs them."""

    spec: EnvSpec
    agent: Agent
    loop: Loop | None = None
    evaluator: Evaluator | None = None


class ProgramCache:
    """The parts of the configurations that were used last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[RunConfig, SharedParts]] = OrderedDict()

    def find(self, config: RunConfig) -> SharedParts | None:
        """The parts of a configuration that differs from this one at most in its seed."""
        like, parts = self._kept.get(config.digest(), (None, None))
        if like != replace(config, seed=0):
            return None
        self._kept.move_to_end(config.digest())
        return parts

    def add(self, config: RunConfig, spec: EnvSpec, agent: Agent) -> SharedParts | None:
        """None if the configuration does not say what its parts are: code of the user's that may change."""
        if ":" in config.env.id or isinstance(config.agent.torso, CustomTorso):
            return None
        parts = SharedParts(spec, agent)
        self._kept[config.digest()] = replace(config, seed=0), parts
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return parts
