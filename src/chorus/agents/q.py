"""Q-ensembles: every discrete algorithm of the paper, told apart only by the values it is built from."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from chorus.agents.batch import Batch, with_whole_stacks
from chorus.agents.optimizers import Optimizer
from chorus.arrays import AnyArray
from chorus.ensemble.errors import Error
from chorus.ensemble.estimates import Estimate
from chorus.ensemble.targets import greedy_actions, select_action, td_targets
from chorus.ensemble.value_map import ValueMap
from chorus.networks.forked import Forked, Params


class AgentState(NamedTuple):
    """All that learning changes. `totals` sums each member's statistics since they were last read."""

    params: Params
    target_params: Params
    optimizer: Any
    updates: Int[Array, ""]
    totals: dict[str, Float[Array, " N"]]


class Proposal(NamedTuple):
    """What every member would do in each of E states, and what it expects of each action."""

    action: Int[Array, "E N"]
    value: Float[Array, "E N A"]


@dataclass(frozen=True)
class Agent:
    """`act` evaluates only the member asked for; `propose` all of them. `update` donates the state it is given."""

    init: Callable[[PRNGKeyArray], AgentState]
    act: Callable[[Params, Array, Array, PRNGKeyArray, Array], Int[Array, " E"]]
    propose: Callable[[Params, Array], Proposal]
    update: Callable[[AgentState, Batch], AgentState]


@dataclass(frozen=True)
class QLearning:
    """How a Q-ensemble learns: the composition, and nothing else."""

    value_map: ValueMap
    estimate: Estimate
    error: Error
    optimizer: Optimizer
    target_period_updates: int
    reward_clip: float | None


def weighted_mean(errors: Float[Array, "B N H"], weight: Float[AnyArray, "B W"]) -> Float[Array, "N H"]:
    """The mean over a member's weighted samples; exactly zero, and with zero gradient, if it has none (law 7)."""
    total = jnp.sum(weight, axis=0)
    kept = jnp.where(total > 0, total, 1.0)
    return jnp.sum(errors * weight[..., None], axis=0) / kept[:, None]


def member_losses(
    rule: QLearning, network: Forked, params: Params, target_params: Params, batch: Batch
) -> tuple[Float[Array, " N"], Float[Array, " N"]]:
    """Mean over the batch, sum over heads (equation E2); beside it the mean value of the actions taken."""
    value_map = rule.value_map
    main, read = value_map.main[:, None], value_map.heads_read()
    frozen = jax.lax.stop_gradient(params)
    q_tm1 = network.apply(params, batch.observation)
    q_t_online = rule.estimate.value(network.apply(frozen, batch.next_observation, main))[:, :, 0]
    q_t_target = network.apply(target_params, batch.next_observation, read)

    reach = jnp.inf if rule.reward_clip is None else rule.reward_clip
    rewards = jnp.clip(batch.rewards, -reach, reach)
    targets = jax.vmap(partial(td_targets, value_map, read))(
        jax.vmap(greedy_actions)(q_t_online), q_t_target, rewards, batch.length, batch.terminated
    )
    taken = jnp.broadcast_to(batch.action[..., None], targets.shape[:-1])
    predictions = jax.vmap(select_action)(q_tm1, taken)
    errors = jax.vmap(jax.vmap(jax.vmap(rule.error)))(predictions, targets)
    losses = jnp.sum(weighted_mean(errors, batch.weight), axis=-1)

    main_value = rule.estimate.value(predictions)[:, np.arange(value_map.members), value_map.main]
    return losses, jnp.mean(main_value, axis=0)


def q_agent(rule: QLearning, network: Forked, observation: np.ndarray, frame_stack: int = 1) -> Agent:
    """Close the four functions over a composition; `observation` is an example without a batch axis.

    With a `frame_stack` above 1, batches hold raw frames (see `Batch`).
    """
    optimizer = rule.optimizer.build()
    value_map = rule.value_map
    main = jnp.asarray(value_map.main)
    alone = network.alone()

    def init(key: PRNGKeyArray) -> AgentState:
        params = network.init(key, observation)
        zeros = {name: jnp.zeros(value_map.members) for name in ("td_loss", "q_values", "count")}
        return AgentState(
            params=params,
            target_params=jax.tree.map(jnp.copy, params),
            optimizer=optimizer.init(params),
            updates=jnp.zeros((), jnp.int32),
            totals=zeros,
        )

    def greedy_of(params: Params, observation: Array, member: Array) -> Array:
        view = network.view(params, member, main[member])
        return jnp.argmax(rule.estimate.value(alone.apply(view, observation[None, None]))[0, 0, 0])

    def act(params: Params, observation: Array, member: Array, key: PRNGKeyArray, epsilon: Array) -> Array:
        slots = observation.shape[0]
        # Gathered parameters under `vmap` make a grouped convolution, which CPUs do badly.
        one_by_one = jax.default_backend() == "cpu"
        over_slots = partial(jax.lax.map, lambda pair: greedy_of(params, *pair))
        greedy = (
            over_slots((observation, member))
            if one_by_one
            else jax.vmap(greedy_of, in_axes=(None, 0, 0))(params, observation, member)
        )
        return explore(greedy, network.actions, key, epsilon, slots)

    def propose(params: Params, observation: Array) -> Proposal:
        predictions = network.apply(params, observation[:, None], value_map.main[:, None])
        value = rule.estimate.value(predictions)[:, :, 0]
        return Proposal(action=jax.vmap(greedy_actions)(value), value=value)

    @partial(jax.jit, donate_argnums=0)
    def update(state: AgentState, batch: Batch) -> AgentState:
        batch = with_whole_stacks(batch, frame_stack)

        def total(params: Params) -> tuple[Array, tuple[Array, Array]]:
            losses, values = member_losses(rule, network, params, state.target_params, batch)
            return jnp.sum(losses), (losses, values)

        gradient, (losses, values) = jax.grad(total, has_aux=True)(state.params)
        change, optimizer_state = optimizer.update(gradient, state.optimizer, state.params)
        params = optax.apply_updates(state.params, change)
        updates = state.updates + 1
        target_params = jax.lax.cond(
            updates % rule.target_period_updates == 0, lambda: params, lambda: state.target_params
        )
        new = {"td_loss": losses, "q_values": values, "count": jnp.ones_like(losses)}
        totals = jax.tree.map(jnp.add, state.totals, new)
        return AgentState(params, target_params, optimizer_state, updates, totals)

    return Agent(init=init, act=act, propose=propose, update=update)


def explore(greedy: Int[Array, " E"], actions: int, key: PRNGKeyArray, epsilon: Array, slots: int) -> Int[Array, " E"]:
    """ε-greedy: a uniform action over all A replaces the greedy one where u ≤ ε."""
    coin_key, action_key = jax.random.split(key)
    random = jax.random.randint(action_key, (slots,), 0, actions)
    return jnp.where(jax.random.uniform(coin_key, (slots,)) <= epsilon, random, greedy)
