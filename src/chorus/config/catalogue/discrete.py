"""The algorithms of discrete actions: Double DQN, its ensembles, and what varies them."""

from dataclasses import replace

from chorus.config.presets import preset, with_agent, with_policies, with_replay
from chorus.config.scales import ScaleRow
from chorus.config.schema import RunConfig
from chorus.ensemble.auxiliaries import Mico
from chorus.ensemble.estimates import Quantile, Target
from chorus.ensemble.losses import QuantileHuber
from chorus.ensemble.value_map import Cross, CrossOwn, Horizons
from chorus.errors import ChorusError
from chorus.networks.layers import VarianceScaled
from chorus.networks.torsos import ConvTorso, MLPTorso, Widened
from chorus.replay.samplers import BootstrapMasked, OwnOnly, SelfOversampled
from chorus.training.acting import AllButLast, Tandem, UniformEachStep
from chorus.training.policies import (
    Member,
    Observer,
    Policy,
    RandomActor,
    RandomMember,
    Vote,
    VoteOfActors,
)

# A single agent has no ensemble to size, to share layers in or to keep apart.
_SINGLE = {"members", "shared_layers", "prior_scale"}


@preset(
    "double-dqn",
    title="Double DQN",
    summary="one agent: the baseline every ensemble is compared with",
    source="paper section 3; docs/equations.md E1",
    role="single",
    group="dqn",
    fixes=_SINGLE,
    home="MinAtar/Breakout-v1",
    also_called={"dqn", "ddqn"},
)
def double_dqn(config: RunConfig, row: ScaleRow) -> RunConfig:
    return config


@preset(
    "bootstrapped-dqn",
    title="Bootstrapped DQN",
    summary="N members act in turn, one episode each, and learn from all data",
    source="paper section 3, algorithm 1; docs/equations.md E2",
    parent="double-dqn",
    role="ensemble",
    also_called={"bootdqn", "boot-dqn", "ensemble-dqn", "ensemble"},
)
def bootstrapped_dqn(config: RunConfig, row: ScaleRow) -> RunConfig:
    return with_agent(
        with_policies(config, {"individual": RandomMember(), "aggregate": Vote()}),
        members=row.members,
    )


@preset(
    "cerl",
    title="Bootstrapped DQN + CERL",
    summary="every member also learns the value functions of all the others",
    source="paper section 5, algorithm 2; docs/equations.md E3",
    parent="bootstrapped-dqn",
    role="cerl",
)
def cerl(config: RunConfig, row: ScaleRow) -> RunConfig:
    return with_agent(config, value_map=Cross())


@preset(
    "cerl-self-target",
    title="CERL (self-target)",
    summary="CERL whose auxiliary heads bootstrap from their own network",
    source="paper figure 22; docs/equations.md E4",
    parent="cerl",
)
def cerl_self_target(config: RunConfig, row: ScaleRow) -> RunConfig:
    return with_agent(config, value_map=CrossOwn())


def passive_percent(config: RunConfig) -> str:
    assert isinstance(config.acting, Tandem), "a tandem's acting rule"
    return f"{100 * config.acting.passive_share:g}%"


@preset(
    "tandem",
    title="p%-tandem",
    run_title=lambda config: f"{passive_percent(config)}-tandem",
    titled={"acting.passive_share"},
    summary="two members learn from the same batches; the passive one gathers only a share p of the data",
    source="paper section 4; docs/equations.md E5",
    parent="bootstrapped-dqn",
    role="tandem",
    fixes={"members", "acting"},
)
def tandem(config: RunConfig, row: ScaleRow) -> RunConfig:
    evaluated = with_policies(config, {"active": Member(index=0), "passive": Member(index=1)})
    return with_agent(replace(evaluated, acting=Tandem()), members=2)


@preset(
    "qr-dqn",
    title="QR-DQN",
    summary="one agent that learns the distribution of returns as quantiles, with 3-step returns",
    source="paper figure 16; docs/equations.md E13",
    parent="double-dqn",
    role="single",
    group="qr-dqn",
    fixes=_SINGLE,
)
@preset(
    "bootstrapped-qr-dqn",
    title="Bootstrapped QR-DQN",
    summary="Bootstrapped DQN of QR-DQN members",
    source="paper figure 16; docs/equations.md E13",
    parent="bootstrapped-dqn",
    role="ensemble",
    group="qr-dqn",
)
def qr_dqn(config: RunConfig, row: ScaleRow) -> RunConfig:
    config = with_agent(
        config,
        estimate=Quantile(quantiles=row.quantiles),
        loss=QuantileHuber(),
        selection=Target(),
        initialization=VarianceScaled(),
    )
    config = with_replay(config, n_step=3)
    change = row.quantile
    if change is None:
        return config
    config = with_agent(
        config, torso=change.torso, optimizer=change.optimizer, target_period_updates=change.target_updates
    )
    atari = config.env.atari and replace(config.env.atari, sticky_actions=change.sticky_actions)
    return replace(
        config,
        env=replace(config.env, atari=atari),
        exploration=change.epsilon,
        schedule=replace(config.schedule, learning_starts=change.epsilon.warmup_steps),
        evaluation=replace(config.evaluation, epsilon=change.eval_epsilon),
    )


@preset(
    "double-dqn-mh",
    title="Double DQN + MH",
    summary="one agent that also predicts nine shorter horizons",
    source="paper figure 25; docs/equations.md E6",
    parent="double-dqn",
    fixes=_SINGLE,
)
@preset(
    "bootstrapped-dqn-mh",
    title="Bootstrapped DQN + MH",
    summary="every member also predicts nine shorter horizons",
    source="paper figure 25; docs/equations.md E6",
    parent="bootstrapped-dqn",
)
def multi_horizon(config: RunConfig, row: ScaleRow) -> RunConfig:
    return with_agent(config, value_map=Horizons())


@preset(
    "double-dqn-mico",
    title="Double DQN + MICo",
    summary="one agent whose features are shaped by a distance between states",
    source="paper figure 26; docs/equations.md E14",
    parent="double-dqn",
    fixes=_SINGLE,
)
@preset(
    "bootstrapped-dqn-mico",
    title="Bootstrapped DQN + MICo",
    summary="every member's features are shaped by a distance between states",
    source="paper figure 26; docs/equations.md E14",
    parent="bootstrapped-dqn",
)
def mico(config: RunConfig, row: ScaleRow) -> RunConfig:
    """MICo's distance is defined for 1-step rewards, whatever the scale says."""
    return with_agent(with_replay(config, n_step=1), auxiliary=Mico())


@preset(
    "per-step",
    title="Bootstrapped DQN, switching each step",
    summary="the acting member is drawn before every action instead of for every episode",
    source="paper figure 17; docs/algorithms.md",
    parent="bootstrapped-dqn",
    fixes={"acting"},
)
def per_step(config: RunConfig, row: ScaleRow) -> RunConfig:
    return replace(config, acting=UniformEachStep())


@preset(
    "self-oversampled",
    title="Bootstrapped DQN, self-oversampled",
    summary="half of the time a member learns only from its own transitions",
    source="paper figure 14; docs/equations.md E16",
    parent="bootstrapped-dqn",
)
def self_oversampled(config: RunConfig, row: ScaleRow) -> RunConfig:
    return with_replay(config, sampler=SelfOversampled())


@preset(
    "separate",
    title="separate agents",
    summary="N agents act in turn, and each learns only from its own transitions: no data is shared",
    source="beyond the paper; docs/equations.md E25",
    parent="bootstrapped-dqn",
)
def separate(config: RunConfig, row: ScaleRow) -> RunConfig:
    return with_replay(config, sampler=OwnOnly())


@preset(
    "observer",
    title="Bootstrapped DQN + observer",
    summary="N members act as in Bootstrapped DQN, and one more learns from their data and never acts",
    source="beyond the paper; docs/algorithms.md",
    parent="bootstrapped-dqn",
    fixes={"acting"},
)
def observer(config: RunConfig, row: ScaleRow) -> RunConfig:
    """The aggregate is the vote of those who act, so that it is Bootstrapped DQN's."""
    policies: dict[str, Policy] = {"individual": RandomActor(), "aggregate": VoteOfActors(), "observer": Observer()}
    return with_agent(replace(with_policies(config, policies), acting=AllButLast()), members=row.members + 1)


@preset(
    "data-bootstrapped",
    title="Bootstrapped DQN, data bootstrapped",
    summary="each member learns from its own random three quarters of the transitions",
    source="paper figure 20; docs/equations.md E17",
    parent="bootstrapped-dqn",
)
def data_bootstrapped(config: RunConfig, row: ScaleRow) -> RunConfig:
    return with_replay(config, sampler=BootstrapMasked())


@preset(
    "life-loss",
    title="Bootstrapped DQN, terminal on life loss",
    summary="a lost life ends the return; Atari only (its baseline: double-dqn --terminal-on-life-loss)",
    source="paper figure 15; docs/deviations.md D16",
    parent="bootstrapped-dqn",
    role="ensemble",
)
def life_loss(config: RunConfig, row: ScaleRow) -> RunConfig:
    if config.env.atari is None:
        raise ChorusError(f"life-loss is for Atari games and {config.env.id} has no lives; use bootstrapped-dqn there")
    return replace(config, env=replace(config.env, atari=replace(config.env.atari, terminal_on_life_loss=True)))


@preset(
    "wide",
    title="Bootstrapped DQN, wider",
    summary="without CERL's heads but with as many parameters, in a wider last hidden layer",
    source="paper figure 24; docs/equations.md E18",
    parent="bootstrapped-dqn",
)
def wide(config: RunConfig, row: ScaleRow) -> RunConfig:
    assert isinstance(config.agent.torso, ConvTorso | MLPTorso), "a row's own torso"
    return with_agent(config, torso=Widened(torso=config.agent.torso))


@preset(
    "bootstrapped-dqn-prior",
    title="Bootstrapped DQN + priors",
    summary="a random network that is never trained is added to every member's predictions",
    source="Osband et al. 2018, beyond the paper; docs/equations.md E15",
    parent="bootstrapped-dqn",
)
@preset(
    "cerl-prior",
    title="CERL + priors",
    summary="CERL with random priors, which keep members apart even when they share layers",
    source="Osband et al. 2018, named in the paper's discussion; docs/equations.md E15",
    parent="cerl",
)
def prior(config: RunConfig, row: ScaleRow) -> RunConfig:
    return with_agent(config, prior_scale=3.0)
