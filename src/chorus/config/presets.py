"""Every algorithm by name. A preset is a function and a child is a diff from its parent; only here are names known."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from chorus.config import preset_changes as changes
from chorus.config.scales import Row
from chorus.config.schema import RunConfig
from chorus.errors import ChorusError, did_you_mean

# (the parent's configuration, the scale's row) -> this preset's configuration
Change = Callable[[RunConfig, Row], RunConfig]


@dataclass(frozen=True)
class Preset:
    """`options` are the command-line options of the algorithm itself that make sense for it.

    `home` is an environment to show it in; without one it is its parent's.
    """

    name: str
    title: str
    summary: str
    source: str
    parent: str | None
    change: Change
    options: frozenset[str] = frozenset()
    home: str | None = None

    def build(self, base: RunConfig, row: Row) -> RunConfig:
        start = PRESETS[self.parent].build(base, row) if self.parent else base
        return replace(self.change(start, row), preset=self.name)


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
            change=changes.double_dqn,
            home="MinAtar/Breakout-v1",
        ),
        Preset(
            name="bootstrapped-dqn",
            title="Bootstrapped DQN",
            summary="N members act in turn, an episode each, and learn from all data",
            source="paper section 3, algorithm 1; docs/equations.md E2",
            parent="double-dqn",
            change=changes.bootstrapped_dqn,
            options=_ENSEMBLE,
        ),
        Preset(
            name="cerl",
            title="Bootstrapped DQN + CERL",
            summary="every member also learns the value functions of all the others",
            source="paper section 5, algorithm 2; docs/equations.md E3",
            parent="bootstrapped-dqn",
            change=changes.cerl,
            options=_ENSEMBLE,
        ),
        Preset(
            name="cerl-self-target",
            title="CERL (self-target)",
            summary="CERL whose auxiliary heads bootstrap from their own network",
            source="paper figure 22; docs/equations.md E4",
            parent="cerl",
            change=changes.cerl_self_target,
            options=_ENSEMBLE,
        ),
        Preset(
            name="tandem",
            title="p%-tandem",
            summary="two members learn from the same batches; the passive one gathers only a share p of the data",
            source="paper section 4; docs/equations.md E5",
            parent="bootstrapped-dqn",
            change=changes.tandem,
            options=frozenset({"shared_layers", "passive_share", "prior_scale"}),
        ),
        Preset(
            name="qr-dqn",
            title="QR-DQN",
            summary="one agent that learns the distribution of returns as quantiles, with 3-step returns",
            source="paper figure 16; docs/equations.md E13",
            parent="double-dqn",
            change=changes.qr_dqn,
        ),
        Preset(
            name="bootstrapped-qr-dqn",
            title="Bootstrapped QR-DQN",
            summary="Bootstrapped DQN of QR-DQN members",
            source="paper figure 16; docs/equations.md E13",
            parent="bootstrapped-dqn",
            change=changes.qr_dqn,
            options=_ENSEMBLE,
        ),
        Preset(
            name="double-dqn-mh",
            title="Double DQN + MH",
            summary="one agent that also predicts nine shorter horizons",
            source="paper figure 25; docs/equations.md E6",
            parent="double-dqn",
            change=changes.multi_horizon,
        ),
        Preset(
            name="bootstrapped-dqn-mh",
            title="Bootstrapped DQN + MH",
            summary="every member also predicts nine shorter horizons",
            source="paper figure 25; docs/equations.md E6",
            parent="bootstrapped-dqn",
            change=changes.multi_horizon,
            options=_ENSEMBLE,
        ),
        Preset(
            name="double-dqn-mico",
            title="Double DQN + MICo",
            summary="one agent whose features are shaped by a distance between states",
            source="paper figure 26; docs/equations.md E14",
            parent="double-dqn",
            change=changes.mico,
            options=frozenset({"mico_weight"}),
        ),
        Preset(
            name="bootstrapped-dqn-mico",
            title="Bootstrapped DQN + MICo",
            summary="every member's features are shaped by a distance between states",
            source="paper figure 26; docs/equations.md E14",
            parent="bootstrapped-dqn",
            change=changes.mico,
            options=_ENSEMBLE | {"mico_weight"},
        ),
        Preset(
            name="per-step",
            title="Bootstrapped DQN, switching each step",
            summary="the acting member is drawn anew before every action, not for every episode",
            source="paper figure 17; docs/algorithms.md",
            parent="bootstrapped-dqn",
            change=changes.per_step,
            options=_ENSEMBLE,
        ),
        Preset(
            name="self-oversampled",
            title="Bootstrapped DQN, self-oversampled",
            summary="half of the time a member learns from its own transitions only",
            source="paper figure 14; docs/equations.md E16",
            parent="bootstrapped-dqn",
            change=changes.self_oversampled,
            options=_ENSEMBLE | {"own_probability", "joint_coin"},
        ),
        Preset(
            name="data-bootstrapped",
            title="Bootstrapped DQN, data bootstrapped",
            summary="each member learns from its own random three quarters of the transitions",
            source="paper figure 20; docs/equations.md E17",
            parent="bootstrapped-dqn",
            change=changes.data_bootstrapped,
            options=_ENSEMBLE | {"keep_probability"},
        ),
        Preset(
            name="life-loss",
            title="Bootstrapped DQN, terminal on life loss",
            summary="a lost life ends the return; Atari only (its baseline: double-dqn --terminal-on-life-loss)",
            source="paper figure 15; docs/deviations.md D16",
            parent="bootstrapped-dqn",
            change=changes.life_loss,
            options=_ENSEMBLE,
        ),
        Preset(
            name="wide",
            title="Bootstrapped DQN, wider",
            summary="without CERL's heads but with as many parameters, in a wider last hidden layer",
            source="paper figure 24; docs/equations.md E18",
            parent="bootstrapped-dqn",
            change=changes.wide,
            options=_ENSEMBLE,
        ),
        Preset(
            name="bootstrapped-dqn-prior",
            title="Bootstrapped DQN + priors",
            summary="to every member's predictions is added a random network that nobody trains",
            source="Osband et al. 2018, beyond the paper; docs/equations.md E15",
            parent="bootstrapped-dqn",
            change=changes.prior,
            options=_ENSEMBLE,
        ),
        Preset(
            name="cerl-prior",
            title="CERL + priors",
            summary="CERL with random priors, which keep members apart even when they share layers",
            source="Osband et al. 2018, named in the paper's discussion; docs/equations.md E15",
            parent="cerl",
            change=changes.prior,
            options=_ENSEMBLE,
        ),
        Preset(
            name="sac",
            title="SAC",
            summary="one agent for continuous actions: the baseline of ensembles there",
            source="paper section 3; docs/equations.md E19 to E21",
            parent=None,
            change=changes.sac,
            home="Hopper-v4",
        ),
        Preset(
            name="ensemble-sac",
            title="Ensemble SAC",
            summary="N SAC members act in turn, an episode each, and learn from all data",
            source="paper section 3; docs/equations.md E19 to E21",
            parent="sac",
            change=changes.ensemble_sac,
            options=frozenset({"members"}),
        ),
        Preset(
            name="ensemble-sac-cerl",
            title="Ensemble SAC + CERL",
            summary="every member's critics also learn the values of all the others' policies",
            source="paper section 5; docs/equations.md E22",
            parent="ensemble-sac",
            change=changes.ensemble_sac_cerl,
            options=frozenset({"members", "huber_threshold"}),
        ),
        Preset(
            name="ensemble-sac-cerl-self-target",
            title="Ensemble SAC + CERL (self-target)",
            summary="Ensemble SAC + CERL whose auxiliary heads bootstrap from their own critics",
            source="paper figure 22; docs/equations.md E22",
            parent="ensemble-sac-cerl",
            change=changes.cerl_self_target,
            options=frozenset({"members", "huber_threshold"}),
        ),
        Preset(
            name="sac-tandem",
            title="SAC p%-tandem",
            summary="two SAC members learn from the same batches; the passive one gathers only a share p of the data",
            source="paper figure 8; docs/equations.md E5",
            parent="ensemble-sac",
            change=changes.tandem,
            options=frozenset({"passive_share"}),
        ),
    )
}


def home_of(preset: Preset) -> str:
    if preset.home is None:
        assert preset.parent is not None, "a preset without a parent has a home"
        return home_of(PRESETS[preset.parent])
    return preset.home


def find_preset(name: str) -> Preset:
    if name not in PRESETS:
        raise ChorusError(f"the preset '{name}' is not known{did_you_mean(name, PRESETS)}")
    return PRESETS[name]
