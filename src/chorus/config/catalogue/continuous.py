"""The algorithms of continuous actions: SAC, its ensembles, and what varies them."""

from dataclasses import fields, replace

from chorus.agents.agent import Learner
from chorus.agents.critics import RandomSubset
from chorus.agents.sac import SacLearner
from chorus.config.catalogue.discrete import cerl_self_target, passive_percent, tandem
from chorus.config.presets import preset, with_agent, with_policies
from chorus.config.scales import ScaleRow
from chorus.config.schema import RunConfig
from chorus.ensemble.losses import MainAndAuxiliary, Squared, TwiceHuber
from chorus.ensemble.value_map import Cross
from chorus.networks.layers import Orthogonal
from chorus.training.policies import (
    MeanAction,
    Policy,
    RandomMember,
)

# By the paper's sampled actions, and by modes, which tell the ensemble's gain from that of less noise.
_ALONE: dict[str, Policy] = {"individual": RandomMember(), "individual-mode": RandomMember(mode=True)}
_TOGETHER: dict[str, Policy] = {"aggregate": MeanAction(), "aggregate-mode": MeanAction(mode=True)}


@preset(
    "sac",
    title="SAC",
    summary="one agent for continuous actions: the baseline of ensembles there",
    source="paper section 3; docs/equations.md E19 to E21",
    role="single",
    group="sac",
    fixes={"members"},
    home="Hopper-v4",
)
def sac(config: RunConfig, row: ScaleRow) -> RunConfig:
    common = {field.name: getattr(config.agent, field.name) for field in fields(Learner)}
    agent = SacLearner(**{**common, "loss": Squared(), "initialization": Orthogonal()})
    return replace(with_policies(config, _ALONE), agent=agent)


@preset(
    "sac-critics",
    title="SAC, many critics",
    run_title=lambda config: f"SAC, {getattr(config.agent, 'critics', 0)} critics",
    titled={"agent.critics"},
    summary="one policy with N critics: a target takes the lowest of two random ones, the policy follows the mean",
    source="Chen et al. 2021 (REDQ), beyond the paper; docs/equations.md E26",
    parent="sac",
    fixes={"members"},
)
def sac_critics(config: RunConfig, row: ScaleRow) -> RunConfig:
    """As many critics as the ensemble has members: an ensemble of critics beside an ensemble of agents."""
    return with_agent(config, critics=row.members, critic_rule=RandomSubset())


@preset(
    "ensemble-sac",
    title="Ensemble SAC",
    summary="N SAC members act in turn, one episode each, and learn from all data",
    source="paper section 3; docs/equations.md E19 to E21",
    parent="sac",
    role="ensemble",
)
def ensemble_sac(config: RunConfig, row: ScaleRow) -> RunConfig:
    return with_agent(with_policies(config, _ALONE | _TOGETHER), members=row.members)


@preset(
    "ensemble-sac-cerl",
    title="Ensemble SAC + CERL",
    summary="every member's critics also learn the values of all the others' policies",
    source="paper section 5; docs/equations.md E22",
    parent="ensemble-sac",
    role="cerl",
)
def ensemble_sac_cerl(config: RunConfig, row: ScaleRow) -> RunConfig:
    return with_agent(config, value_map=Cross(), loss=MainAndAuxiliary(main=Squared(), auxiliary=TwiceHuber()))


preset(
    "ensemble-sac-cerl-self-target",
    title="Ensemble SAC + CERL (self-target)",
    summary="Ensemble SAC + CERL whose auxiliary heads bootstrap from their own critics",
    source="paper figure 22; docs/equations.md E22",
    parent="ensemble-sac-cerl",
)(cerl_self_target)

preset(
    "sac-tandem",
    title="SAC p%-tandem",
    run_title=lambda config: f"SAC {passive_percent(config)}-tandem",
    titled={"acting.passive_share"},
    summary="two SAC members learn from the same batches; the passive one gathers only a share p of the data",
    source="paper figure 8; docs/equations.md E5",
    parent="ensemble-sac",
    role="tandem",
    fixes={"members", "acting"},
)(tandem)
