"""What makes no sense is refused before anything is written, all problems at once, each with its remedy."""

from chorus.agents.actors import Greedy, SquashedGaussian
from chorus.config.ranges import impossible_layers, out_of_range
from chorus.config.schema import AgentSettings, RunConfig
from chorus.ensemble.estimates import Online, Quantile
from chorus.ensemble.losses import QuantileHuber
from chorus.ensemble.value_map import Beside, Cross, CrossOwn, Horizons
from chorus.envs.atari import ACTION_REPEAT
from chorus.envs.spec import EnvSpec
from chorus.errors import ChorusError
from chorus.networks.torsos import Widened
from chorus.replay.samplers import BootstrapMasked
from chorus.spaces import Discrete
from chorus.training.acting import Tandem
from chorus.training.policies import MeanAction, Member, Vote

_MOST_FRAMES = 2**31 - 1


def validate(config: RunConfig, spec: EnvSpec) -> None:
    layers = impossible_layers(config.agent.torso)
    # How layers may be shared cannot be told of a network that cannot be.
    shared = [] if layers else [*_sharing(config.agent), *_mico(config)]
    problems = [
        *out_of_range(config), *layers, *_atari(config, spec), *_acting(config, spec), *shared, *_targets(config.agent),
        *_sampling(config), *_policies(config), *_budget(config, spec)
    ]  # fmt: skip
    if problems:
        raise ChorusError("; ".join(problems))


def _atari(config: RunConfig, spec: EnvSpec) -> list[str]:
    settings = config.env.atari
    if spec.family != "atari":
        if settings is None:
            return []
        return [
            f"--sticky-actions, --noop-max, --terminal-on-life-loss and --redraw-on-life-loss are for Atari games and "
            f"{spec.id} is none; leave them out (in a file: env.atari is null)"
        ]
    if settings is None:
        return [f"env.atari is null; {spec.id} is an Atari game and needs it: leave it out of the file"]
    problems = []
    if not 0 <= settings.sticky_actions < 1:
        problems.append(
            f"--sticky-actions is {settings.sticky_actions}; it is a chance from 0 to below 1 (the paper uses 0, "
            "Gymnasium's v5 0.25)"
        )
    if settings.noop_max < 0:
        problems.append(f"--noop-max is {settings.noop_max}; it must not be negative")
    if spec.max_episode_steps is not None and spec.max_episode_steps * ACTION_REPEAT > _MOST_FRAMES:
        problems.append(
            f"--max-episode-steps is {spec.max_episode_steps}; the emulator counts frames in 32 bits: use at most "
            f"{_MOST_FRAMES // ACTION_REPEAT}"
        )
    return problems


def _acting(config: RunConfig, spec: EnvSpec) -> list[str]:
    """Whether the algorithm can act where it is put, and has only what it can use."""
    agent, actions, problems = config.agent, spec.actions, []
    if isinstance(agent.actor, Greedy):
        if isinstance(actions, Discrete):
            return []
        return [
            f"{config.preset} chooses among Discrete actions and '{spec.id}' has a Box of {actions.shape[0]}: "
            "use sac, ensemble-sac, ensemble-sac-cerl or sac-tandem there"
        ]
    if isinstance(actions, Discrete):
        return [
            f"{config.preset} acts within a Box and '{spec.id}' has {actions.count} Discrete actions: "
            "use double-dqn, bootstrapped-dqn, cerl or tandem there"
        ]
    actor = agent.actor
    if actor.critics < 1:
        problems.append(f"agent.actor.critics is {actor.critics}; it must be at least 1")
    if actor.initial_temperature <= 0:
        problems.append(f"agent.actor.initial_temperature is {actor.initial_temperature}; it must be positive")
    unusable = {
        "agent.shared_layers": agent.shared_layers != 0,
        "agent.prior_scale": agent.prior_scale != 0,
        "agent.auxiliary": agent.auxiliary.weight != 0,
        "agent.estimate": isinstance(agent.estimate, Quantile),
        "agent.selection": not isinstance(agent.selection, Online),
        "agent.torso": isinstance(agent.torso, Widened),
    }
    problems += [
        f"{name} is for Q-ensembles and {config.preset} cannot use it: leave it out of the file"
        for name, given in unusable.items()
        if given
    ]
    return problems


def _crossed(agent: AgentSettings) -> bool:
    own_heads = agent.value_map.first if isinstance(agent.value_map, Beside) else agent.value_map
    return isinstance(own_heads, Cross | CrossOwn)


def _sharing(agent: AgentSettings) -> list[str]:
    """Whether so many layers can be shared."""
    shared, torso_layers = agent.shared_layers, len(agent.torso.layers())
    if not 0 <= shared <= torso_layers:
        return [
            f"--shared-layers is {shared}; this network has {torso_layers + 1} layers of which the last "
            f"is never shared: choose 0 to {torso_layers}"
        ]
    if shared == torso_layers and agent.members > 1 and _crossed(agent):
        return [
            f"--shared-layers {shared} shares every layer but the last, so all members have the same "
            f"features and CERL has nothing to add: choose at most {torso_layers - 1}"
        ]
    if shared == torso_layers and isinstance(agent.torso, Widened):
        return [
            f"--shared-layers {shared} shares the layer that is widened to CERL's parameters, and CERL is "
            f"not defined there: choose at most {torso_layers - 1}"
        ]
    return []


def _mico(config: RunConfig) -> list[str]:
    """Whether MICo's distance is defined, and its gradient goes to layers that are there."""
    agent, n_step, problems = config.agent, config.replay.n_step, []
    if not agent.auxiliary.weight:
        return []
    features = agent.torso.feature_layers
    if 0 < agent.shared_layers < features:
        problems.append(
            f"--shared-layers {agent.shared_layers} shares a part of the {features} layers whose output MICo shapes, "
            f"so its gradient could not rollout undivided there: choose 0, or {features} and more"
        )
    if n_step != 1:
        problems.append(f"--n-step is {n_step}; MICo's distance is defined for 1-step rewards: use 1")
    if not features:
        problems.append("MICo shapes the layers below the last hidden one; this network has none: add a layer")
    return problems


def _targets(agent: AgentSettings) -> list[str]:
    """Whether heads, discount, estimate and error fit together."""
    problems = []
    horizons = agent.value_map.second if isinstance(agent.value_map, Beside) else agent.value_map
    if isinstance(horizons, Horizons):
        longest = max(horizons.horizons, default=0)
        if min(horizons.horizons, default=0) < 2:
            problems.append(
                f"the horizons are {horizons.horizons}; each must be at least 2 steps, and there must be one"
            )
        elif abs(agent.discount - (1 - 1 / longest)) > 1e-6:
            problems.append(
                f"--discount is {agent.discount}; the longest horizon, {longest} steps, is the main head's and means "
                f"{1 - 1 / longest:.6g}: give that discount, or other horizons"
            )
    if isinstance(agent.estimate, Quantile) != isinstance(agent.loss, QuantileHuber):
        problems.append(
            "quantiles and the quantile Huber error belong together: set agent.estimate and agent.loss alike"
        )
    return problems


def _sampling(config: RunConfig) -> list[str]:
    """Whether members can learn from the batches they get."""
    sampler, problems = config.replay.sampler, []
    if sampler.each_its_own and _crossed(config.agent):
        problems.append(
            "CERL cannot learn from a batch a member: its targets would need every member's network on every other "
            "member's batch, N times the work, and the paper does not define it; use the sampler shared, or "
            "bootstrapped-dqn"
        )
    if isinstance(sampler, BootstrapMasked) and not 0 < sampler.keep_probability <= 1:
        problems.append(
            f"--keep-probability is {sampler.keep_probability}; it must lie above 0, where nobody would learn, and "
            "be at most 1, which is no mask"
        )
    return problems


def _policies(config: RunConfig) -> list[str]:
    """Whether there is everyone who is to act, in training and in evaluation."""
    agent, problems = config.agent, []
    if isinstance(config.acting, Tandem):
        if agent.members != 2:
            problems.append(f"a tandem has an active and a passive member, not {agent.members}; leave out --members")
        if not 0 <= config.acting.passive_share <= 1:
            problems.append(
                f"--passive-share is {config.acting.passive_share}; it is a share of episodes between 0 and 1 "
                "(0.1 is the paper's 10 %-tandem)"
            )
    wrong = Vote if isinstance(agent.actor, SquashedGaussian) else MeanAction
    for name, policy in config.evaluation.policies.items():
        if isinstance(policy, wrong):
            problems.append(
                f"the policy {name} cannot combine the actions of {config.preset}; leave it out of the file"
            )
        if isinstance(policy, Member) and not 0 <= policy.index < agent.members:
            problems.append(
                f"the policy {name} needs member {policy.index}; there are members 0 to {agent.members - 1}"
            )
    return problems


def _budget(config: RunConfig, spec: EnvSpec) -> list[str]:
    replay, schedule, slots, problems = config.replay, config.schedule, config.env.num_envs, []
    if replay.capacity < replay.batch_size:
        problems.append(
            f"--buffer-size {replay.capacity} is smaller than --batch-size {replay.batch_size}; enlarge the buffer"
        )
    if slots >= 1 and replay.capacity // slots <= replay.n_step:
        problems.append(
            f"--buffer-size {replay.capacity} leaves {replay.capacity // slots} transitions for each of {slots} "
            f"environments; it must leave more than {replay.n_step}"
        )
    lengths = {"--total-steps": schedule.total_steps, "--iteration-steps": schedule.iteration_steps}
    for name, value in lengths.items():
        if slots >= 1 and value % slots:
            problems.append(f"{name} is {value}; it must be a multiple of --num-envs, {slots}")
    longest, slot_steps = spec.max_episode_steps, min(lengths.values()) // max(slots, 1)
    ends_with_an_episode = spec.whole_episodes and slots == 1
    if longest is not None and 1 <= slot_steps < longest and not ends_with_an_episode:
        too_few = [name for name, value in lengths.items() if value < longest * slots]
        problems.append(
            f"an iteration gives each environment {slot_steps} steps, fewer than the {longest} an episode may last: "
            f"use {' and '.join(f'{name} {longest * slots} or more' for name in too_few)}, or --max-episode-steps "
            f"{slot_steps} or fewer"
        )
    if schedule.learning_starts < replay.n_step * slots:
        problems.append(
            f"--learning-starts is {schedule.learning_starts}; with {slots} environments and {replay.n_step}-step "
            f"returns it must be at least {replay.n_step * slots}"
        )
    return problems
