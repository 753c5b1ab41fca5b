"""Numbers that lie outside their range, whatever the rest of a configuration says."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from chorus.agents.optimizers import CentredRMSProp
from chorus.config.schema import AgentSettings, RunConfig
from chorus.ensemble.estimates import Quantile
from chorus.ensemble.losses import Huber, MainAndAuxiliary, QuantileHuber, TwiceHuber
from chorus.networks.torsos import ConvTorso, CustomTorso, Torso, Widened
from chorus.replay.samplers import SelfOversampled

# The replay stores the owner of a transition in 16 bits.
_MOST_MEMBERS = 65_535


class _Range(NamedTuple):
    """Which numbers are allowed, and how to say it."""

    holds: Callable[[float], bool]
    it_must: str


_AT_LEAST_1 = _Range(lambda value: value >= 1, "be at least 1")
_POSITIVE = _Range(lambda value: value > 0, "be positive")
_NOT_NEGATIVE = _Range(lambda value: value >= 0, "not be negative")
_SHARE = _Range(lambda value: 0 <= value <= 1, "lie between 0 and 1")
_BELOW_1 = _Range(lambda value: 0 <= value < 1, "be at least 0 and below 1")
_ABOVE_0 = _Range(lambda value: 0 < value <= 1, "be above 0 and at most 1")
_FEW = _Range(lambda value: value <= _MOST_MEMBERS, f"be at most {_MOST_MEMBERS:,}")
_POSITIVE_OR_NONE = _Range(_POSITIVE.holds, "be positive, or null for no clipping")

# A number's name, itself and its range.
_Numbers = Iterator[tuple[str, float, _Range]]


def out_of_range(config: RunConfig) -> list[str]:
    """A sentence for each number that no configuration can have."""
    return [
        f"{name} is {value}; it must {allowed.it_must}"
        for name, value, allowed in (*_of_the_run(config), *_of_the_agent(config.agent))
        if not allowed.holds(value)
    ]


def _of_the_run(config: RunConfig) -> _Numbers:
    env, replay, schedule, evaluation = config.env, config.replay, config.schedule, config.evaluation
    yield "--seed", config.seed, _NOT_NEGATIVE
    yield "--threads", config.runtime.threads, _AT_LEAST_1
    yield "--num-envs", env.num_envs, _AT_LEAST_1
    if env.max_episode_steps is not None:
        yield "--max-episode-steps", env.max_episode_steps, _AT_LEAST_1
    yield "--batch-size", replay.batch_size, _AT_LEAST_1
    yield "--buffer-size", replay.capacity, _AT_LEAST_1
    yield "--n-step", replay.n_step, _AT_LEAST_1
    if isinstance(replay.sampler, SelfOversampled):
        yield "--own-probability", replay.sampler.own_probability, _SHARE
    yield "--total-steps", schedule.total_steps, _AT_LEAST_1
    yield "--iteration-steps", schedule.iteration_steps, _AT_LEAST_1
    yield "--update-period", schedule.update_period_steps, _AT_LEAST_1
    yield "--learning-starts", schedule.learning_starts, _NOT_NEGATIVE
    yield "--epsilon", config.exploration.final, _SHARE
    yield "--epsilon-decay", config.exploration.decay_steps, _AT_LEAST_1
    yield "exploration.warmup_steps", config.exploration.warmup_steps, _NOT_NEGATIVE
    yield "--eval-episodes", evaluation.episodes, _AT_LEAST_1
    yield "--eval-steps", evaluation.steps, _NOT_NEGATIVE
    yield "--eval-envs", evaluation.slots, _AT_LEAST_1
    yield "--eval-epsilon", evaluation.epsilon, _SHARE
    yield "evaluation.max_episode_steps", evaluation.max_episode_steps, _AT_LEAST_1


def _of_the_agent(agent: AgentSettings) -> _Numbers:
    yield "--members", agent.members, _AT_LEAST_1
    yield "--members", agent.members, _FEW
    yield "--discount", agent.discount, _SHARE
    yield "--prior-scale", agent.prior_scale, _NOT_NEGATIVE
    yield "--mico-weight", agent.auxiliary.weight, _BELOW_1
    yield "--target-period", agent.target_period_updates, _AT_LEAST_1
    yield "--target-rate", agent.target_rate, _ABOVE_0
    if agent.reward_clip is not None:
        yield "agent.reward_clip", agent.reward_clip, _POSITIVE_OR_NONE
    if isinstance(agent.estimate, Quantile):
        yield "agent.estimate.quantiles", agent.estimate.quantiles, _AT_LEAST_1
    if isinstance(agent.loss, QuantileHuber):
        yield "agent.loss.kappa", agent.loss.kappa, _POSITIVE
    name, error = "agent.loss.threshold", agent.loss
    if isinstance(error, MainAndAuxiliary):
        name, error = "--huber-threshold", error.auxiliary
    if isinstance(error, Huber | TwiceHuber):
        yield name, error.threshold, _POSITIVE
    yield "--learning-rate", agent.optimizer.learning_rate, _POSITIVE
    yield "--optimizer-epsilon", agent.optimizer.epsilon, _POSITIVE
    if isinstance(agent.optimizer, CentredRMSProp):
        yield "agent.optimizer.decay", agent.optimizer.decay, _BELOW_1


def impossible_layers(torso: Torso) -> list[str]:
    """A sentence for each layer that no network can have; a user's own modules are theirs to check."""
    if isinstance(torso, CustomTorso):
        return []
    if isinstance(torso, Widened):
        problems = impossible_layers(torso.torso)
        return problems or ([] if torso.torso.dense else ["agent.torso.torso.dense is []; it needs a layer to widen"])
    convolutions = torso.convolutions if isinstance(torso, ConvTorso) else ()
    problems = []
    if not convolutions and not torso.dense:
        problems.append("agent.torso has no layers; heads need at least one below them: give agent.torso.dense a width")
    if any(width < 1 for width in torso.dense):
        problems.append(f"agent.torso.dense is {list(torso.dense)}; every layer needs at least 1 unit")
    problems += [
        f"agent.torso.convolutions has {layer.features} channels, kernel {layer.kernel} and stride {layer.stride}; "
        "each must be at least 1"
        for layer in convolutions
        if min(layer.features, layer.kernel, layer.stride) < 1
    ]
    return problems
