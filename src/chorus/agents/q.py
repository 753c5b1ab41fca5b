"""Q-ensembles: every discrete algorithm of the paper, told apart only by the values it is built from."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from chorus.agents.agent import Agent, AgentState, Learner, MemberOutputs, Proposal, explore, polyak_update
from chorus.agents.optimizers import Optimizer
from chorus.components import NOT_NEGATIVE, option, register
from chorus.ensemble.auxiliaries import Auxiliary, NoAuxiliary, Representations
from chorus.ensemble.estimates import Estimate, Online, Quantile, Selection
from chorus.ensemble.losses import Loss, QuantileHuber
from chorus.ensemble.targets import greedy_actions, select_action, td_targets
from chorus.ensemble.value_map import ValueMap
from chorus.envs.spec import EnvSpec
from chorus.networks.forked import Forked, Params
from chorus.networks.prior import FIXED, WithPrior
from chorus.networks.torsos import Widened
from chorus.replay.batch import Batch, with_whole_stacks
from chorus.spaces import AnyArray, Discrete

Network = Forked | WithPrior


@dataclass(frozen=True)
class QLearning:
    """How a Q-ensemble learns: the composition, and nothing else."""

    value_map: ValueMap
    estimate: Estimate
    loss: Loss
    optimizer: Optimizer
    target_period_updates: int
    reward_clip: float | None
    target_rate: float = 1.0
    selection: Selection = field(default_factory=Online)
    auxiliary: Auxiliary = field(default_factory=NoAuxiliary)


def weighted_mean(errors: Float[Array, "B N H"], weight: Float[AnyArray, "B W"]) -> Float[Array, "N H"]:
    """The mean over a member's weighted samples; exactly zero, and with zero gradient, if it has none (law 7)."""
    total = jnp.sum(weight, axis=0)
    kept = jnp.where(total > 0, total, 1.0)
    return jnp.sum(errors * weight[..., None], axis=0) / kept[:, None]


class Losses(NamedTuple):
    """Each member's, and the mean value its main head gives the actions taken."""

    td: Float[Array, " N"]
    auxiliary: Float[Array, " terms"]
    value: Float[Array, " N"]


def member_losses(rule: QLearning, network: Network, params: Params, target_params: Params, batch: Batch) -> Losses:
    """Mean over the batch, sum over heads (equation E2)."""
    value_map = rule.value_map
    main, read = value_map.main[:, None], value_map.heads_read()
    selecting = rule.selection.choose(jax.lax.stop_gradient(params), target_params)
    q_tm1, representation = network.apply_with_representation(params, batch.observation)
    q_t_select = rule.estimate.value(network.apply(selecting, batch.next_observation, main))[:, :, 0]
    q_t_target = network.apply(target_params, batch.next_observation, read)

    reach = jnp.inf if rule.reward_clip is None else rule.reward_clip
    rewards = jnp.clip(batch.rewards, -reach, reach)
    targets = jax.vmap(partial(td_targets, value_map, read))(
        jax.vmap(greedy_actions)(q_t_select), q_t_target, rewards, batch.length, batch.terminated
    )
    taken = jnp.broadcast_to(batch.action[..., None], targets.shape[:-1])
    predictions = jax.vmap(select_action)(q_tm1, taken)
    errors = jax.vmap(partial(rule.loss.of_heads, value_map.main))(predictions, targets)
    losses = jnp.sum(weighted_mean(errors, batch.weight), axis=-1)

    main_value = rule.estimate.value(predictions)[:, np.arange(value_map.members), value_map.main]
    auxiliary = auxiliary_losses(rule, network, representation, target_params, batch, rewards)
    return Losses(td=losses, auxiliary=auxiliary, value=jnp.mean(main_value, axis=0))


def auxiliary_losses(
    rule: QLearning,
    network: Network,
    representation: Float[Array, "R C F"] | None,
    target_params: Params,
    batch: Batch,
    rewards: Float[Array, "B M n"],
) -> Float[Array, " terms"]:
    """One loss for each representation; a shared one is shaped once, not N times (equation E14)."""
    if representation is None or rule.auxiliary.weight == 0.0:
        return jnp.zeros(1)
    _, target = network.apply_with_representation(target_params, batch.observation)
    _, next_target = network.apply_with_representation(target_params, batch.next_observation)
    gamma = float(rule.value_map.gamma[0, rule.value_map.main[0]])
    # A shared representation has all members' batches in one; a member's own has only that member's.
    copies, first = representation.shape[0], rewards[..., 0]
    reward = first.reshape(1, -1) if copies == 1 else jnp.broadcast_to(first.T, (copies, first.shape[0]))
    return jax.vmap(lambda r, *features: rule.auxiliary.loss(Representations(*features), r, gamma))(
        reward, representation, target, next_target
    )


def q_agent(rule: QLearning, network: Network, observation: np.ndarray, frame_stack: int = 1) -> Agent:
    """Close the agent's functions over a composition; `observation` is an example without a batch axis.

    With a `frame_stack` above 1, batches hold raw frames (see `Batch`).
    """
    optimizer = rule.optimizer.build()
    value_map = rule.value_map
    main = jnp.asarray(value_map.main)
    alone = network.alone()
    actions = Discrete(network.actions)

    @jax.jit
    def init(key: PRNGKeyArray) -> AgentState:
        params = network.init(key, observation)
        learnt, _ = split_fixed(params)
        names = ("td_loss", "q_values", "count", *(("auxiliary_loss",) if rule.auxiliary.weight else ()))
        zeros = {name: jnp.zeros(value_map.members) for name in names}
        return AgentState(
            params=params,
            target_params=jax.tree.map(jnp.copy, learnt),
            optimizer=optimizer.init(learnt),
            updates=np.int32(0),
            totals=zeros,
        )

    def greedy_of(params: Params, observation: Array, member: Array) -> Array:
        view = network.view(params, member, main[member])
        return jnp.argmax(rule.estimate.value(alone.apply(view, observation[None, None]))[0, 0, 0])

    def act(params: Params, observation: Array, member: Array, key: PRNGKeyArray, epsilon: Array) -> Array:
        # Gathered parameters under `vmap` make a grouped convolution, which CPUs do badly.
        one_by_one = jax.default_backend() == "cpu"
        over_slots = partial(jax.lax.map, lambda pair: greedy_of(params, *pair))
        greedy = (
            over_slots((observation, member))
            if one_by_one
            else jax.vmap(greedy_of, in_axes=(None, 0, 0))(params, observation, member)
        )
        return explore(greedy, actions, key, epsilon)

    def main_values(params: Params, observation: Array) -> Float[Array, "E N A"]:
        return rule.estimate.value(network.apply(params, observation[:, None], value_map.main[:, None]))[:, :, 0]

    def propose(params: Params, observation: Array, key: PRNGKeyArray) -> Proposal:
        values = main_values(params, observation)
        greedy = jax.vmap(greedy_actions)(values)
        return Proposal(action=greedy, mode=greedy, value=values)

    def value(params: Params, observation: Array, action: Int[Array, " E"]) -> Float[Array, "E N"]:
        return jnp.take_along_axis(main_values(params, observation), action[:, None, None], axis=2)[..., 0]

    def inspect(params: Params, observation: Array) -> MemberOutputs:
        features, _ = network.features(params, observation[:, None])
        return MemberOutputs(value=main_values(params, observation), features=jnp.moveaxis(features, 0, 1))

    @partial(jax.jit, donate_argnums=(0, 1, 2))
    def learn(
        params: Params, optimizer_state: Any, totals: dict[str, Array], target_params: Params, batch: Batch
    ) -> tuple[Params, Any, dict[str, Array]]:
        batch = with_whole_stacks(batch, frame_stack)
        learnt, fixed = split_fixed(params)
        weight = rule.auxiliary.weight

        def total(learnt: Params) -> tuple[Array, Losses]:
            losses = member_losses(rule, network, {**learnt, **fixed}, {**target_params, **fixed}, batch)
            return (1.0 - weight) * jnp.sum(losses.td) + weight * jnp.sum(losses.auxiliary), losses

        gradient, losses = jax.grad(total, has_aux=True)(learnt)
        change, optimizer_state = optimizer.update(gradient, optimizer_state, learnt)
        learnt = optax.apply_updates(learnt, change)
        new = {"td_loss": losses.td, "q_values": losses.value, "auxiliary_loss": losses.auxiliary, "count": 1.0}
        return {**learnt, **fixed}, optimizer_state, {name: total + new[name] for name, total in totals.items()}

    move = jax.jit(partial(polyak_update, rate=rule.target_rate))

    def update(state: AgentState, batch: Batch) -> AgentState:
        params, optimizer_state, totals = learn(state.params, state.optimizer, state.totals, state.target_params, batch)
        updates = int(state.updates) + 1
        # Decided here and not under `jit`, where a conditional copies the target network at every update.
        due = updates % rule.target_period_updates == 0
        target_params = move(state.target_params, split_fixed(params)[0]) if due else state.target_params
        return AgentState(params, target_params, optimizer_state, np.int32(updates), totals)

    return Agent(init=init, act=act, propose=propose, value=value, update=update, inspect=inspect)


def split_fixed(params: Params) -> tuple[Params, Params]:
    """What is learnt, and what never changes."""
    learnt = {group: own for group, own in params.items() if group != FIXED}
    return learnt, {group: own for group, own in params.items() if group == FIXED}


@register
@dataclass(frozen=True, kw_only=True)
class QLearner(Learner):
    """Q-ensembles for Discrete actions: Double DQN, Bootstrapped DQN, QR-DQN and what is built from them."""

    shared_layers: int = option(
        flag="shared-layers", unit="L", label="L={}", axis="shared layers L",
        help="bottom layers that all members share, 0 to depth - 1",
    )  # fmt: skip
    estimate: Estimate = option(help="what one prediction is")
    selection: Selection = option(help="which network chooses the next action")
    prior_scale: float = option(
        flag="prior-scale", unit="BETA", within=NOT_NEGATIVE,
        help="weight of each member's fixed random network, 0 for none",
    )  # fmt: skip

    def network(self, spec: EnvSpec, value_map: ValueMap) -> Network:
        assert isinstance(spec.actions, Discrete), "validation refuses a Q-learner of Box actions"
        count = spec.actions.count
        network = Forked(
            torso=self.torso.layers(self.initialization, self.members, count * self.estimate.size),
            members=self.members,
            shared=self.shared_layers,
            heads=value_map.heads,
            actions=count,
            estimate_size=self.estimate.size,
            channels_first=spec.channels_first,
            initialization=self.initialization,
            feature_layers=self.torso.feature_layers,
        )
        return WithPrior(network, value_map.policy, self.prior_scale) if self.prior_scale else network

    def build(self, spec: EnvSpec) -> Agent:
        value_map = self.value_map.build(self.members, self.discount)
        rule = QLearning(
            value_map=value_map,
            estimate=self.estimate,
            loss=self.loss,
            optimizer=self.optimizer,
            target_period_updates=self.target_period_updates,
            target_rate=self.target_rate,
            reward_clip=self.reward_clip,
            selection=self.selection,
            auxiliary=self.auxiliary,
        )
        return q_agent(rule, self.network(spec, value_map), spec.example(), spec.frame_stack)

    def problems(self, config: Any, spec: EnvSpec) -> Iterator[str]:
        if not isinstance(spec.actions, Discrete):
            yield (
                f"{config.preset} chooses among Discrete actions and '{spec.id}' has a Box of "
                f"{spec.actions.shape[0]}: use sac, ensemble-sac, ensemble-sac-cerl or sac-tandem there"
            )
        if isinstance(self.estimate, Quantile) != isinstance(self.loss, QuantileHuber):
            yield "quantiles and the quantile Huber loss belong together: set agent.estimate and agent.loss alike"
        yield from self._sharing()

    def _sharing(self) -> Iterator[str]:
        """Whether so many layers can be shared."""
        shared, depth = self.shared_layers, len(self.torso.layers())
        if not 0 <= shared <= depth:
            yield (
                f"--shared-layers is {shared}; this network has {depth + 1} layers of which the last is never shared: "
                f"choose 0 to {depth}"
            )
        elif shared == depth and self.members > 1 and self.value_map.build(self.members, self.discount).crosses_members:
            yield (
                f"--shared-layers {shared} shares every layer but the last, so all members have the same features and "
                f"CERL has nothing to add: choose at most {depth - 1}"
            )
        elif shared == depth and isinstance(self.torso, Widened):
            yield (
                f"--shared-layers {shared} shares the layer that is widened to CERL's parameters, and CERL is not "
                f"defined there: choose at most {depth - 1}"
            )
