"""Every algorithm by name. A preset is a function and a child is a diff from its parent; only here are names known."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from chorus.ensemble.auxiliary import Mico
from chorus.ensemble.errors import QuantileHuber
from chorus.ensemble.estimates import Quantile
from chorus.ensemble.selection import Target
from chorus.ensemble.value_map import Cross, CrossOwn, Horizons
from chorus.errors import ChorusError
from chorus.experiments.config import RunConfig
from chorus.experiments.scales import Row
from chorus.networks.layers import VarianceScaled
from chorus.networks.torsos import ConvTorso, MLPTorso, Widened
from chorus.replay.samplers import BootstrapMasked, SelfOversampled
from chorus.suggest import did_you_mean
from chorus.training.acting import Tandem, UniformEachStep
from chorus.training.policies import Member, Policy, RandomMember, Vote

# (the parent's configuration, the scale's row) -> this preset's configuration
Change = Callable[[RunConfig, Row], RunConfig]


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

    def build(self, base: RunConfig, row: Row) -> RunConfig:
        start = PRESETS[self.parent].build(base, row) if self.parent else base
        return replace(self.change(start, row), preset=self.name)


def _agent(config: RunConfig, **changes: Any) -> RunConfig:
    return replace(config, agent=replace(config.agent, **changes))


def _double_dqn(config: RunConfig, row: Row) -> RunConfig:
    return config


def _bootstrapped_dqn(config: RunConfig, row: Row) -> RunConfig:
    policies: dict[str, Policy] = {"individual": RandomMember(), "aggregate": Vote()}
    evaluated = replace(config, evaluation=replace(config.evaluation, policies=policies))
    return _agent(evaluated, members=row.members)


def _cerl(config: RunConfig, row: Row) -> RunConfig:
    return _agent(config, value_map=Cross())


def _cerl_self_target(config: RunConfig, row: Row) -> RunConfig:
    return _agent(config, value_map=CrossOwn())


def _tandem(config: RunConfig, row: Row) -> RunConfig:
    policies: dict[str, Policy] = {"active": Member(index=0), "passive": Member(index=1)}
    evaluated = replace(config, evaluation=replace(config.evaluation, policies=policies))
    return _agent(replace(evaluated, acting=Tandem()), members=2)


def _qr_dqn(config: RunConfig, row: Row) -> RunConfig:
    config = _agent(
        config, estimate=Quantile(), error=QuantileHuber(), selection=Target(), initialization=VarianceScaled()
    )
    config = replace(config, replay=replace(config.replay, n_step=3))
    change = row.quantile
    if change is None:
        return config
    config = _agent(config, torso=change.torso, optimizer=change.optimizer, target_period_updates=change.target_updates)
    return replace(
        config,
        env=replace(
            config.env, atari=config.env.atari and replace(config.env.atari, sticky_actions=change.sticky_actions)
        ),
        exploration=change.epsilon,
        schedule=replace(config.schedule, learning_starts=change.epsilon.warmup_steps),
        evaluation=replace(config.evaluation, epsilon=change.eval_epsilon),
    )


def _multi_horizon(config: RunConfig, row: Row) -> RunConfig:
    return _agent(config, value_map=Horizons())


def _mico(config: RunConfig, row: Row) -> RunConfig:
    """MICo's distance is defined for 1-step rewards, whatever the scale says."""
    return _agent(replace(config, replay=replace(config.replay, n_step=1)), auxiliary=Mico())


def _prior(config: RunConfig, row: Row) -> RunConfig:
    return _agent(config, prior_scale=3.0)


def _per_step(config: RunConfig, row: Row) -> RunConfig:
    return replace(config, acting=UniformEachStep())


def _self_oversampled(config: RunConfig, row: Row) -> RunConfig:
    return replace(config, replay=replace(config.replay, sampler=SelfOversampled()))


def _data_bootstrapped(config: RunConfig, row: Row) -> RunConfig:
    return replace(config, replay=replace(config.replay, sampler=BootstrapMasked()))


def _life_loss(config: RunConfig, row: Row) -> RunConfig:
    if config.env.atari is None:
        raise ChorusError(f"life-loss is for Atari games and {config.env.id} has no lives; use bootstrapped-dqn there")
    return replace(config, env=replace(config.env, atari=replace(config.env.atari, terminal_on_life_loss=True)))


def _wide(config: RunConfig, row: Row) -> RunConfig:
    assert isinstance(config.agent.torso, ConvTorso | MLPTorso), "a row's own torso"
    return _agent(config, torso=Widened(torso=config.agent.torso))


_ENSEMBLE = frozenset({"members", "shared_layers", "prior_scale"})

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
            options=frozenset({"shared_layers", "passive_share", "prior_scale"}),
        ),
        Preset(
            name="qr-dqn",
            title="QR-DQN",
            summary="one agent that learns the distribution of returns as 200 quantiles, with 3-step returns",
            source="paper figure 16; docs/equations.md E13",
            parent="double-dqn",
            change=_qr_dqn,
        ),
        Preset(
            name="bootstrapped-qr-dqn",
            title="Bootstrapped QR-DQN",
            summary="Bootstrapped DQN of QR-DQN members",
            source="paper figure 16; docs/equations.md E13",
            parent="bootstrapped-dqn",
            change=_qr_dqn,
            options=_ENSEMBLE,
        ),
        Preset(
            name="double-dqn-mh",
            title="Double DQN + MH",
            summary="one agent that also predicts nine shorter horizons",
            source="paper figure 25; docs/equations.md E6",
            parent="double-dqn",
            change=_multi_horizon,
        ),
        Preset(
            name="bootstrapped-dqn-mh",
            title="Bootstrapped DQN + MH",
            summary="every member also predicts nine shorter horizons",
            source="paper figure 25; docs/equations.md E6",
            parent="bootstrapped-dqn",
            change=_multi_horizon,
            options=_ENSEMBLE,
        ),
        Preset(
            name="double-dqn-mico",
            title="Double DQN + MICo",
            summary="one agent whose features are shaped by a distance between states",
            source="paper figure 26; docs/equations.md E14",
            parent="double-dqn",
            change=_mico,
            options=frozenset({"mico_weight"}),
        ),
        Preset(
            name="bootstrapped-dqn-mico",
            title="Bootstrapped DQN + MICo",
            summary="every member's features are shaped by a distance between states",
            source="paper figure 26; docs/equations.md E14",
            parent="bootstrapped-dqn",
            change=_mico,
            options=_ENSEMBLE | {"mico_weight"},
        ),
        Preset(
            name="per-step",
            title="Bootstrapped DQN, switching each step",
            summary="the acting member is drawn anew before every action, not for every episode",
            source="paper figure 17; docs/algorithms.md",
            parent="bootstrapped-dqn",
            change=_per_step,
            options=_ENSEMBLE,
        ),
        Preset(
            name="self-oversampled",
            title="Bootstrapped DQN, self-oversampled",
            summary="half of the time a member learns from its own transitions only",
            source="paper figure 14; docs/equations.md E16",
            parent="bootstrapped-dqn",
            change=_self_oversampled,
            options=_ENSEMBLE | {"own_probability", "joint_coin"},
        ),
        Preset(
            name="data-bootstrapped",
            title="Bootstrapped DQN, data bootstrapped",
            summary="each member learns from its own random three quarters of the transitions",
            source="paper figure 20; docs/equations.md E17",
            parent="bootstrapped-dqn",
            change=_data_bootstrapped,
            options=_ENSEMBLE | {"keep_probability"},
        ),
        Preset(
            name="life-loss",
            title="Bootstrapped DQN, terminal on life loss",
            summary="a lost life ends the return; Atari only (its baseline: double-dqn --terminal-on-life-loss)",
            source="paper figure 15; docs/deviations.md D16",
            parent="bootstrapped-dqn",
            change=_life_loss,
            options=_ENSEMBLE,
        ),
        Preset(
            name="wide",
            title="Bootstrapped DQN, wider",
            summary="without CERL's heads but with as many parameters, in a wider last hidden layer",
            source="paper figure 24; docs/equations.md E18",
            parent="bootstrapped-dqn",
            change=_wide,
            options=_ENSEMBLE,
        ),
        Preset(
            name="bootstrapped-dqn-prior",
            title="Bootstrapped DQN + priors",
            summary="to every member's predictions is added a random network that nobody trains",
            source="Osband et al. 2018, beyond the paper; docs/equations.md E15",
            parent="bootstrapped-dqn",
            change=_prior,
            options=_ENSEMBLE,
        ),
        Preset(
            name="cerl-prior",
            title="CERL + priors",
            summary="CERL with random priors, which keep members apart even when they share layers",
            source="Osband et al. 2018, named in the paper's discussion; docs/equations.md E15",
            parent="cerl",
            change=_prior,
            options=_ENSEMBLE,
        ),
    )
}


def find_preset(name: str) -> Preset:
    if name not in PRESETS:
        raise ChorusError(f"the preset '{name}' is not known{did_you_mean(name, PRESETS)}")
    return PRESETS[name]
