"""What each preset changes in its parent: (the parent's configuration, the scale's row) -> its own."""

from dataclasses import replace
from typing import Any

from chorus.agents.actors import SquashedGaussian
from chorus.config.scales import Row
from chorus.config.schema import RunConfig
from chorus.ensemble.auxiliaries import Mico
from chorus.ensemble.estimates import Quantile, Target
from chorus.ensemble.losses import MainAndAuxiliary, QuantileHuber, Squared, TwiceHuber
from chorus.ensemble.value_map import Cross, CrossOwn, Horizons
from chorus.errors import ChorusError
from chorus.networks.layers import Orthogonal, VarianceScaled
from chorus.networks.torsos import ConvTorso, MLPTorso, Widened
from chorus.replay.samplers import BootstrapMasked, SelfOversampled
from chorus.training.acting import Tandem, UniformEachStep
from chorus.training.policies import MeanAction, Member, Policy, RandomMember, Vote


def _agent(config: RunConfig, **changes: Any) -> RunConfig:
    return replace(config, agent=replace(config.agent, **changes))


def double_dqn(config: RunConfig, row: Row) -> RunConfig:
    return config


def _evaluated(config: RunConfig, policies: dict[str, Policy]) -> RunConfig:
    return replace(config, evaluation=replace(config.evaluation, policies=policies))


def bootstrapped_dqn(config: RunConfig, row: Row) -> RunConfig:
    return _agent(
        _evaluated(config, {"individual": RandomMember(), "aggregate": Vote()}),
        members=row.members,
    )


def cerl(config: RunConfig, row: Row) -> RunConfig:
    return _agent(config, value_map=Cross())


def cerl_self_target(config: RunConfig, row: Row) -> RunConfig:
    return _agent(config, value_map=CrossOwn())


def tandem(config: RunConfig, row: Row) -> RunConfig:
    evaluated = _evaluated(config, {"active": Member(index=0), "passive": Member(index=1)})
    return _agent(replace(evaluated, acting=Tandem()), members=2)


def qr_dqn(config: RunConfig, row: Row) -> RunConfig:
    config = _agent(
        config,
        estimate=Quantile(quantiles=row.quantiles),
        loss=QuantileHuber(),
        selection=Target(),
        initialization=VarianceScaled(),
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


def multi_horizon(config: RunConfig, row: Row) -> RunConfig:
    return _agent(config, value_map=Horizons())


def mico(config: RunConfig, row: Row) -> RunConfig:
    """MICo's distance is defined for 1-step rewards, whatever the scale says."""
    return _agent(replace(config, replay=replace(config.replay, n_step=1)), auxiliary=Mico())


def prior(config: RunConfig, row: Row) -> RunConfig:
    return _agent(config, prior_scale=3.0)


def per_step(config: RunConfig, row: Row) -> RunConfig:
    return replace(config, acting=UniformEachStep())


def self_oversampled(config: RunConfig, row: Row) -> RunConfig:
    return replace(config, replay=replace(config.replay, sampler=SelfOversampled()))


def data_bootstrapped(config: RunConfig, row: Row) -> RunConfig:
    return replace(config, replay=replace(config.replay, sampler=BootstrapMasked()))


def life_loss(config: RunConfig, row: Row) -> RunConfig:
    if config.env.atari is None:
        raise ChorusError(f"life-loss is for Atari games and {config.env.id} has no lives; use bootstrapped-dqn there")
    return replace(config, env=replace(config.env, atari=replace(config.env.atari, terminal_on_life_loss=True)))


def wide(config: RunConfig, row: Row) -> RunConfig:
    assert isinstance(config.agent.torso, ConvTorso | MLPTorso), "a row's own torso"
    return _agent(config, torso=Widened(torso=config.agent.torso))


# By the paper's sampled actions, and by modes, which tell the ensemble's gain from that of less noise.
_ALONE: dict[str, Policy] = {"individual": RandomMember(), "individual-mode": RandomMember(mode=True)}
_TOGETHER: dict[str, Policy] = {"aggregate": MeanAction(), "aggregate-mode": MeanAction(mode=True)}


def sac(config: RunConfig, row: Row) -> RunConfig:
    return _agent(_evaluated(config, _ALONE), actor=SquashedGaussian(), loss=Squared(), initialization=Orthogonal())


def ensemble_sac(config: RunConfig, row: Row) -> RunConfig:
    return _agent(_evaluated(config, _ALONE | _TOGETHER), members=row.members)


def ensemble_sac_cerl(config: RunConfig, row: Row) -> RunConfig:
    return _agent(config, value_map=Cross(), loss=MainAndAuxiliary(main=Squared(), auxiliary=TwiceHuber()))
