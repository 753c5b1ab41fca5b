"""Q-ensembles: every discrete algorithm of the paper, distinguished only by the components of its learner."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from chorus.agents.agent import (
    Agent,
    AgentState,
    Learner,
    MemberOutputs,
    Proposal,
    PureUpdate,
    explore,
    of_learners,
    polyak_update,
)
from chorus.agents.auxiliary import auxiliary_losses, init_with_auxiliary, logged, total_loss, without_auxiliary
from chorus.components import NOT_NEGATIVE, option, register
from chorus.ensemble.auxiliaries import AuxiliaryInputs
from chorus.ensemble.estimates import Estimate, Selection
from chorus.ensemble.losses import weighted_mean
from chorus.ensemble.targets import greedy_actions, select_action, td_targets
from chorus.envs.spec import EnvSpec
from chorus.networks.forked import Forked, Params
from chorus.networks.prior import FIXED, WithPrior
from chorus.replay.batch import Batch, with_whole_stacks
from chorus.spaces import Discrete

Network = Forked | WithPrior


@register
@dataclass(frozen=True, kw_only=True)
class QLearner(Learner):
    """Q-ensembles for Discrete actions: Double DQN, Bootstrapped DQN, QR-DQN and their variants."""

    shared_layers: int = option(  # type: ignore[misc]  # a field here, a constant of other learners
        flag="shared-layers", unit="L", label="L={}", axis="shared layers L",
        help="bottom layers that all members share, 0 to depth - 1",
    )  # fmt: skip
    estimate: Estimate = option(help="what one prediction is")
    selection: Selection = option(help="which network chooses the next action")
    prior_scale: float = option(
        flag="prior-scale", unit="BETA", within=NOT_NEGATIVE,
        help="weight of each member's fixed random network, 0 for none",
    )  # fmt: skip

    @property
    def prediction_size(self) -> int:
        return self.estimate.size

    def network(self, spec: EnvSpec) -> Network:
        assert isinstance(spec.actions, Discrete), "validation refuses a Q-learner of Box actions"
        count = spec.actions.count
        network = Forked(
            torso=self.torso.layers(self.initialization, self.members, count * self.estimate.size),
            members=self.members,
            shared=self.shared_layers,
            heads=self.tables.heads,
            actions=count,
            estimate_size=self.estimate.size,
            channels_first=spec.channels_first,
            initialization=self.initialization,
            feature_layers=self.torso.feature_layers,
        )
        return WithPrior(network, self.tables.policy, self.prior_scale) if self.prior_scale else network

    def build(self, spec: EnvSpec) -> Agent:
        return q_agent(self, self.network(spec), spec.example(), spec.frame_stack)

    def problems(self, config: Any, spec: EnvSpec) -> Iterator[str]:
        if not isinstance(spec.actions, Discrete):
            yield (
                f"{config.preset} chooses among Discrete actions and '{spec.id}' has a Box of "
                f"{spec.actions.shape[0]}: use a preset for Box actions (`chorus list` shows the presets)"
            )
        if self.estimate.is_distribution != self.loss.reads_distribution:
            kinds = ("expected returns", "distributions")
            yield (
                f"agent.estimate {self.estimate.kind} predicts {kinds[self.estimate.is_distribution]} and agent.loss "
                f"{self.loss.kind} compares {kinds[self.loss.reads_distribution]}: change one of them "
                "(`chorus list components` shows them)"
            )
        tables = list(super().problems(config, spec))
        yield from tables or self._sharing()

    def _sharing(self) -> Iterator[str]:
        """Problems of the number of shared layers."""
        shared, depth = self.shared_layers, len(self.torso.layers())
        if not 0 <= shared <= depth:
            yield (
                f"--shared-layers is {shared}; this network has {depth + 1} layers of which the last is never shared: "
                f"choose 0 to {depth}"
            )
        elif shared == depth and self.members > 1 and self.tables.crosses_members:
            yield (
                f"--shared-layers {shared} shares every layer but the last, so all members have the same features and "
                f"CERL has nothing to add: choose at most {depth - 1}"
            )


class QLosses(NamedTuple):
    """Each member's losses, the mean value its main head gives the actions taken, and that head's TD errors."""

    td: Float[Array, " N"]
    auxiliary: Float[Array, " terms"]
    value: Float[Array, " N"]
    error: Float[Array, "B N"]


def member_losses(learner: QLearner, network: Network, params: Params, target_params: Params, batch: Batch) -> QLosses:
    """Mean over the batch, sum over heads (equation E2)."""
    value_map, value = learner.tables, learner.estimate.value
    main, read = value_map.main[:, None], value_map.heads_read()
    selecting = learner.selection.choose(jax.lax.stop_gradient(params), target_params)
    q_tm1, features = network.apply_with_features(params, batch.observation)
    q_t_select = value(network.apply(selecting, batch.next_observation, main))[:, :, 0]
    q_t_target = network.apply(target_params, batch.next_observation, read)

    batch = batch._replace(rewards=learner.clipped(batch.rewards))
    targets = jax.vmap(partial(td_targets, value_map, read))(
        jax.vmap(greedy_actions)(q_t_select), q_t_target, batch.rewards, batch.length, batch.terminated
    )
    taken = jnp.broadcast_to(batch.action[..., None], targets.shape[:-1])
    predictions = jax.vmap(select_action)(q_tm1, taken)
    losses = jax.vmap(partial(learner.loss.of_heads, value_map.main))(predictions, targets)

    main_value = value(predictions)[:, np.arange(value_map.members), value_map.main]
    inputs = AuxiliaryInputs(
        batch=batch,
        predictions=predictions,
        online=features,
        target=lambda: network.features(target_params, batch.observation),
        next_target=lambda: network.features(target_params, batch.next_observation),
        discount=learner.main_discount,
    )
    return QLosses(
        td=jnp.sum(weighted_mean(losses, batch.weight), axis=-1),
        auxiliary=auxiliary_losses(learner.auxiliary, params, inputs),
        value=jnp.mean(main_value, axis=0),
        error=td_errors(learner, predictions, targets),
    )


def td_errors(
    learner: QLearner, predictions: Float[Array, "B N H Z"], targets: Float[Array, "B N H Z"]
) -> Float[Array, "B N"]:
    """|value of the target - value of the prediction| of the main heads."""
    # Behind a barrier, so that returning the errors changes neither how the losses are compiled nor their last digits.
    predictions, targets = jax.lax.optimization_barrier(jax.lax.stop_gradient((predictions, targets)))
    main = np.arange(learner.members), learner.tables.main
    return jnp.abs(learner.estimate.value(targets)[:, *main] - learner.estimate.value(predictions)[:, *main])


@dataclass(frozen=True, eq=False)
class QEnsemble:
    """A learner, its network and an example observation without a batch axis: what the agent's functions share.

    With a `frame_stack` above 1, batches hold raw frames (see `Batch`).
    """

    learner: QLearner
    network: Network
    observation: np.ndarray
    frame_stack: int = 1

    @cached_property
    def optimizer(self) -> optax.GradientTransformation:
        return self.learner.optimizer.build()

    @property
    def actions(self) -> Discrete:
        return Discrete(self.network.actions)

    def agent(self) -> Agent:
        learn = jax.jit(self.learn, donate_argnums=(0, 1, 2))
        move = jax.jit(partial(polyak_update, rate=self.learner.target_rate))

        def update(state: AgentState, batch: Batch) -> tuple[AgentState, Float[Array, "B N"]]:
            params, optimizer, totals, error = learn(
                state.params, state.optimizer, state.totals, state.target_params, batch
            )
            updates = int(state.updates) + 1
            # Decided here and not under `jit`, where a conditional copies the target network at every update.
            due = updates % self.learner.target_period_updates == 0
            target_params = move(state.target_params, bootstrapping(params)) if due else state.target_params
            return AgentState(params, target_params, optimizer, np.int32(updates), totals), error

        return Agent(
            init=jax.jit(self.init),
            act=self.act,
            propose=self.propose,
            value=self.value,
            update=update,
            inspect=self.inspect,
            pure=PureUpdate(self.learn_of_state, self.move_target, self.learner.target_period_updates),
        )

    def learn_of_state(self, state: AgentState, batch: Batch) -> tuple[AgentState, Float[Array, "B N"]]:
        """`PureUpdate.learn`."""
        params, optimizer, totals, error = self.learn(
            state.params, state.optimizer, state.totals, state.target_params, batch
        )
        state = AgentState(params, state.target_params, optimizer, state.updates + 1, totals)
        return (self.move_target(state) if self.learner.target_period_updates == 1 else state), error

    def move_target(self, state: AgentState) -> AgentState:
        moved = polyak_update(state.target_params, bootstrapping(state.params), self.learner.target_rate)
        return state._replace(target_params=moved)

    def init(self, key: PRNGKeyArray) -> AgentState:
        auxiliary, members = self.learner.auxiliary, self.learner.members
        params = init_with_auxiliary(auxiliary, key, self.network, self.observation, self.actions)
        names = ("td_loss", "q_values", "count", "auxiliary_loss")
        return AgentState(
            params=params,
            target_params=jax.tree.map(jnp.copy, bootstrapping(params)),
            optimizer=self.optimizer.init(split_fixed(params)[0]),
            updates=np.int32(0),
            totals=logged(auxiliary, {name: jnp.zeros(members) for name in names}),
        )

    def act(self, params: Params, observation: Array, member: Array, key: PRNGKeyArray, epsilon: Array) -> Array:
        main, alone = jnp.asarray(self.learner.tables.main), self.network.alone()

        def greedy(slot: tuple[Array, Array]) -> Array:
            seen, acting = slot
            view = self.network.view(params, acting, main[acting])
            return jnp.argmax(self.learner.estimate.value(alone.apply(view, seen[None, None]))[0, 0, 0])

        # On a CPU one slot after the other: gathered parameters under `vmap` become a slow grouped convolution.
        over_slots = partial(jax.lax.map, greedy) if jax.default_backend() == "cpu" else jax.vmap(greedy)
        return explore(over_slots((observation, member)), self.actions, key, epsilon)

    def main_values(self, params: Params, observation: Array) -> Float[Array, "E N A"]:
        main = self.learner.tables.main[:, None]
        return self.learner.estimate.value(self.network.apply(params, observation[:, None], main))[:, :, 0]

    def propose(self, params: Params, observation: Array, key: PRNGKeyArray) -> Proposal:
        values = self.main_values(params, observation)
        greedy = jax.vmap(greedy_actions)(values)
        return Proposal(action=greedy, mode=greedy, value=values)

    def value(self, params: Params, observation: Array, action: Int[Array, " E"]) -> Float[Array, "E N"]:
        return jnp.take_along_axis(self.main_values(params, observation), action[:, None, None], axis=2)[..., 0]

    def inspect(self, params: Params, observation: Array) -> MemberOutputs:
        features = self.network.features(params, observation[:, None]).last
        return MemberOutputs(value=self.main_values(params, observation), features=jnp.moveaxis(features, 0, 1))

    def learn(
        self, params: Params, optimizer: Any, totals: dict[str, Array], target_params: Params, batch: Batch
    ) -> tuple[Params, Any, dict[str, Array], Float[Array, "B N"]]:
        """One gradient step of all members."""
        batch = with_whole_stacks(batch, self.frame_stack)
        learnt, fixed = split_fixed(params)

        def total(learnt: Params) -> tuple[Array, QLosses]:
            every, every_target = {**learnt, **fixed}, {**target_params, **fixed}
            losses = member_losses(self.learner, self.network, every, every_target, batch)
            return total_loss(self.learner.auxiliary, losses.td, losses.auxiliary), losses

        gradient, losses = jax.grad(total, has_aux=True)(learnt)
        change, optimizer = self.optimizer.update(gradient, optimizer, learnt)
        if batch.weight.shape[1] > 1:
            change |= {group: of_learners(change[group], batch.weight, axis=0) for group in ("members", "heads")}
        learnt = optax.apply_updates(learnt, change)
        new = {"td_loss": losses.td, "q_values": losses.value, "auxiliary_loss": losses.auxiliary, "count": 1.0}
        totals = {name: total + new[name] for name, total in totals.items()}
        return {**learnt, **fixed}, optimizer, totals, losses.error


def q_agent(learner: QLearner, network: Network, observation: np.ndarray, frame_stack: int = 1) -> Agent:
    return QEnsemble(learner, network, observation, frame_stack).agent()


def split_fixed(params: Params) -> tuple[Params, Params]:
    """The groups that are learnt, and those that never change."""
    learnt = {group: own for group, own in params.items() if group != FIXED}
    return learnt, {group: own for group, own in params.items() if group == FIXED}


def bootstrapping(params: Params) -> Params:
    """The groups that the target network has copies of."""
    return without_auxiliary(split_fixed(params)[0])
