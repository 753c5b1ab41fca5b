"""Every algorithm by name. A preset is a function and a child is a diff from its parent; only here are names known."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from chorus.ensemble.value_map import Cross, CrossOwn
from chorus.errors import ChorusError
from chorus.experiments.config import RunConfig
from chorus.suggest import did_you_mean
from chorus.training.acting import Tandem
from chorus.training.policies import Member, Policy, RandomMember, Vote

# (the parent's configuration, the scale's ensemble size) -> this preset's configuration
Change = Callable[[RunConfig, int], RunConfig]


@dataclass(frozen=True)
class Preset:
    """`options` are the command-line options of the algorithm itself that make sense for it."""

    name: str
    title: str
    summary: str
    source: str
    parent: str | None
    change: Change
    options: frozenset[str] = frozenset()

    def build(self, base: RunConfig, ensemble_size: int) -> RunConfig:
        start = PRESETS[self.parent].build(base, ensemble_size) if self.parent else base
        return replace(self.change(start, ensemble_size), preset=self.name)


def _agent(config: RunConfig, **changes: Any) -> RunConfig:
    return replace(config, agent=replace(config.agent, **changes))


def _double_dqn(config: RunConfig, ensemble_size: int) -> RunConfig:
    return config


def _bootstrapped_dqn(config: RunConfig, ensemble_size: int) -> RunConfig:
    policies: dict[str, Policy] = {"individual": RandomMember(), "aggregate": Vote()}
    evaluated = replace(config, evaluation=replace(config.evaluation, policies=policies))
    return _agent(evaluated, members=ensemble_size)


def _cerl(config: RunConfig, ensemble_size: int) -> RunConfig:
    return _agent(config, value_map=Cross())


def _cerl_self_target(config: RunConfig, ensemble_size: int) -> RunConfig:
    return _agent(config, value_map=CrossOwn())


def _tandem(config: RunConfig, ensemble_size: int) -> RunConfig:
    policies: dict[str, Policy] = {"active": Member(index=0), "passive": Member(index=1)}
    evaluated = replace(config, evaluation=replace(config.evaluation, policies=policies))
    return _agent(replace(evaluated, acting=Tandem()), members=2)


_ENSEMBLE = frozenset({"members", "shared_layers"})

PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            name="double-dqn",
            title="Double DQN",
            summary="one agent: the baseline every ensemble is compared with",
            source="paper section 3; docs/equations.md E1",
            parent=None,
            change=_double_dqn,
        ),
        Preset(
            name="bootstrapped-dqn",
            title="Bootstrapped DQN",
            summary="N members act in turn, an episode each, and learn from all data",
            source="paper section 3, algorithm 1; docs/equations.md E2",
            parent="double-dqn",
            change=_bootstrapped_dqn,
            options=_ENSEMBLE,
        ),
        Preset(
            name="cerl",
            title="Bootstrapped DQN + CERL",
            summary="every member also learns the value functions of all the others",
            source="paper section 5, algorithm 2; docs/equations.md E3",
            parent="bootstrapped-dqn",
            change=_cerl,
            options=_ENSEMBLE,
        ),
        Preset(
            name="cerl-self-target",
            title="CERL (self-target)",
            summary="CERL whose auxiliary heads bootstrap from their own network",
            source="paper figure 22; docs/equations.md E4",
            parent="cerl",
            change=_cerl_self_target,
            options=_ENSEMBLE,
        ),
        Preset(
            name="tandem",
            title="p%-tandem",
            summary="two members learn from the same batches; the passive one gathers only a share p of the data",
            source="paper section 4; docs/equations.md E5",
            parent="bootstrapped-dqn",
            change=_tandem,
            options=frozenset({"shared_layers", "passive_share"}),
        ),
    )
}


def find_preset(name: str) -> Preset:
    if name not in PRESETS:
        raise ChorusError(f"the preset '{name}' is not known{did_you_mean(name, PRESETS)}")
    return PRESETS[name]
