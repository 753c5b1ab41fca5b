"""SAC ensembles: every continuous algorithm of the paper, told apart only by the values it is built from.

Members share nothing but the batch and the targets, so an update first computes the targets of all and then lets a few
members at a time learn, one group after the other: a group's parameters stay in the cache from its critics' gradient to
its optimiser's last step (docs/performance.md). Groups are the outermost level of parameters and optimiser state.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from chorus.agents.agent import Agent, AgentState, Learner, MemberOutputs, Proposal, explore, polyak_update
from chorus.agents.soft import (
    Losses,
    Networks,
    SoftActorCritic,
    actor_losses,
    bootstrap_of,
    critic_losses,
    draw_noise,
)
from chorus.components import AT_LEAST_1, POSITIVE, option, register
from chorus.ensemble.targets import bootstrapped
from chorus.envs.spec import EnvSpec
from chorus.networks.forked import Params, as_float
from chorus.networks.gaussian import Gaussian, draw
from chorus.networks.torsos import Widened
from chorus.randomness import init_key
from chorus.replay.batch import Batch
from chorus.spaces import AnyArray, Box

# How many bytes of learner a group may have (docs/performance.md).
_GROUP_BYTES = 16e6

Group = Int[np.ndarray, " G"]


def groups_of(members: int, at_once: int) -> list[Group]:
    """Members in groups of the same size, but for the last."""
    return [np.arange(first, min(first + at_once, members)) for first in range(0, members, at_once)]


def for_group(batch: Batch, group: Group) -> Batch:
    """The batch as a group's members see it: everybody's, or the columns of their own."""
    return Batch(*(column if column.shape[1] == 1 else column[:, group] for column in batch))


def as_learnt(batch: Batch, reward_clip: float | None) -> Batch:
    """Observations as floats, rewards as the learner sees them."""
    reach = jnp.inf if reward_clip is None else reward_clip
    return batch._replace(
        observation=as_float(batch.observation),
        next_observation=as_float(batch.next_observation),
        rewards=jnp.clip(batch.rewards, -reach, reach),
    )


def defined(action: Float[Array, "*axes A"]) -> Float[Array, "*axes A"]:
    """A member that diverged stands still: what it does not know must not reach the replay that all learn from."""
    return jnp.where(jnp.isfinite(action), action, 0.0)


class Ensemble:
    """An agent's functions, closed over a composition; `observation` is an example without a batch axis.

    `at_once` is how many members learn in one group; by default as many as a cache holds.
    """

    def __init__(
        self, rule: SoftActorCritic, networks: Networks, observation: np.ndarray, actions: Box, at_once: int | None
    ) -> None:
        self.rule, self.networks, self.actions = rule, networks, actions
        self.observation, self.size = observation, actions.shape[0]
        self.state_action = np.zeros(observation.size + self.size, np.float32)
        self.members = rule.value_map.members
        self._draw = jax.jit(self._draw_params)
        self.groups = groups_of(self.members, at_once or max(1, int(_GROUP_BYTES // self._member_bytes())))
        self.parts = [networks.of(len(group)) for group in self.groups]
        self.optimizer = rule.optimizer.build()
        self._prepare = jax.jit(self._prepare_batch)
        self._learn = jax.jit(self._learn_group, static_argnums=(0, 1), donate_argnums=(2, 3, 4))
        self._add = jax.jit(self._add_up, donate_argnums=0)
        # A single group has nothing to be dispatched between: all of it is one computation.
        one = len(self.groups) == 1
        self._step = jax.jit(self._learn_all, static_argnums=0, donate_argnums=(1, 2, 3, 4)) if one else self._learn_all

    def agent(self) -> Agent:
        return Agent(
            init=jax.jit(self.init),
            act=self.act,
            propose=self.propose,
            value=self.value,
            update=self.update,
            inspect=self.inspect,
        )

    def _member_bytes(self) -> int:
        """Parameters, targets and the optimiser's two moments of one member."""
        everyone, _ = jax.eval_shape(self._draw, init_key(0))
        critic, policy = (sum(leaf.size for leaf in jax.tree.leaves(everyone[name])) for name in ("critic", "policy"))
        return 4 * (4 * critic + 3 * policy) // self.members

    def _draw_params(self, key: PRNGKeyArray) -> tuple[Params, Array]:
        """Drawn for all members together, so that grouping changes nothing."""
        critic_key, policy_key, noise_key = jax.random.split(key, 3)
        critic_keys = jax.random.split(critic_key, self.rule.critics)
        critics = jax.vmap(lambda own: self.networks.critic.init(own, self.state_action))(critic_keys)
        policy = self.networks.policy.init(policy_key, self.observation)
        # Of a type as firm as after an update, which is compiled once then.
        log_temperature = jnp.full(self.members, jnp.log(self.rule.initial_temperature), jnp.float32)
        params = {"critic": critics, "policy": policy, "log_temperature": log_temperature}
        return params, jax.random.bits(noise_key, (2,), jnp.uint32)

    def init(self, key: PRNGKeyArray) -> AgentState:
        everyone, noise = self._draw(key)
        params = tuple(
            {
                "critic": jax.tree.map(lambda x, group=group: x[:, group], everyone["critic"]),
                "policy": jax.tree.map(lambda x, group=group: x[group], everyone["policy"]),
                "log_temperature": everyone["log_temperature"][group],
            }
            for group in self.groups
        )
        return AgentState(
            params=params,
            target_params=tuple(jax.tree.map(jnp.copy, own["critic"]) for own in params),
            optimizer=tuple({name: self.optimizer.init(part) for name, part in own.items()} for own in params),
            updates=np.int32(0),
            totals={name: jnp.zeros(self.members) for name in (*Losses._fields, "count")},
            noise=noise,
        )

    def act(self, params: Any, observation: Array, member: Array, key: PRNGKeyArray, epsilon: Array) -> Array:
        noise_key, explore_key = jax.random.split(key)
        noise = jax.random.normal(noise_key, (observation.shape[0], self.size))
        whose = jnp.asarray(np.repeat(np.arange(len(self.groups)), [len(group) for group in self.groups]))
        place = jnp.asarray(np.concatenate([np.arange(len(group)) for group in self.groups]))
        views = [partial(self.networks.policy.member_view, own["policy"]) for own in params]
        alone = self.networks.of(1)

        def action_of(slot: tuple[Array, Array, Array]) -> Array:
            seen, acting, own_noise = slot
            view = jax.lax.switch(whose[acting], views, place[acting])
            return draw(alone.distribution(view, seen[None, None]), own_noise[None, None])[0][0, 0]

        chosen = defined(jax.lax.map(action_of, (as_float(observation), member, noise)))
        return explore(chosen, self.actions, explore_key, epsilon)

    def propose(self, params: Any, observation: Array, key: PRNGKeyArray) -> Proposal:
        seen = as_float(observation)[:, None]
        own = [part.distribution(theirs["policy"], seen) for part, theirs in zip(self.parts, params, strict=True)]
        policy = Gaussian(*(jnp.concatenate(column, axis=1) for column in zip(*own, strict=True)))
        drawn = draw(policy, jax.random.normal(key, policy.mean.shape))[0]
        return Proposal(action=defined(drawn), mode=defined(policy.mode))

    def value(self, params: Any, observation: Array, action: Float[Array, "E A"]) -> Float[Array, "E N"]:
        """The lowest of each member's critics, by its main head."""
        seen, main = as_float(observation)[:, None], self.rule.value_map.main
        own = [
            jnp.min(part.values(theirs["critic"], seen, action[:, None], main[group][:, None]), axis=0)[..., 0]
            for part, theirs, group in zip(self.parts, params, self.groups, strict=True)
        ]
        return jnp.concatenate(own, axis=1)

    def inspect(self, params: Any, observation: Array) -> MemberOutputs:
        """Of policies: actions cannot be counted, and critics read an action, too."""
        seen = as_float(observation)[:, None]
        own = [part.policy.features(theirs["policy"], seen)[0] for part, theirs in zip(self.parts, params, strict=True)]
        return MemberOutputs(value=None, features=jnp.moveaxis(jnp.concatenate(own), 0, 1))

    def update(self, state: AgentState, batch: Batch) -> AgentState:
        updates = int(state.updates) + 1
        # Decided here and not under `jit`, where a conditional copies the target network at every update.
        due = updates % self.rule.target_period_updates == 0
        params, target_params, optimizer, totals = self._step(
            due,
            state.params,
            state.target_params,
            state.optimizer,
            state.totals,
            batch,
            state.noise,
            np.asarray(state.updates),
        )
        return AgentState(params, target_params, optimizer, np.int32(updates), totals, state.noise)

    def _learn_all(
        self,
        due: bool,
        params: Any,
        target_params: Any,
        optimizer: Any,
        totals: dict[str, Any],
        batch: Batch,
        seed: AnyArray,
        updates: Int[AnyArray, ""],
    ) -> tuple[Any, Any, Any, dict[str, Array]]:
        """Targets first; then one group after the other."""
        batch, targets, noise = self._prepare(params, target_params, batch, seed, updates)
        learnt = [
            self._learn(place, due, *own, batch, targets, noise)
            for place, own in enumerate(zip(params, target_params, optimizer, strict=True))
        ]
        params, target_params, optimizer, losses = zip(*learnt, strict=True)
        return params, target_params, optimizer, self._add(totals, losses)

    def _prepare_batch(
        self, params: Any, target_params: Any, batch: Batch, seed: Array, updates: Int[AnyArray, ""]
    ) -> tuple[Batch, Float[Array, "B N H 1"], Float[Array, "B N A"]]:
        """What all groups learn from: the batch, every head's targets, and the noise of the policies' gradient."""
        batch, value_map = as_learnt(batch, self.rule.reward_clip), self.rule.value_map
        noise = draw_noise(seed, updates, np.arange(self.members), batch.action.shape[0], self.size)
        seen = [for_group(batch, group).next_observation for group in self.groups]
        drawn = [
            draw(part.distribution(own["policy"], here), noise.next[:, group])
            for part, own, here, group in zip(self.parts, params, seen, self.groups, strict=True)
        ]
        action, log_prob = (jnp.concatenate(column, axis=1) for column in zip(*drawn, strict=True))
        policies, heads = value_map.policies_read(), value_map.heads_read()
        values = jnp.concatenate(
            [
                part.values_of_policies(own, here, action[:, policies[group]], heads[group])
                for part, own, here, group in zip(self.parts, target_params, seen, self.groups, strict=True)
            ],
            axis=2,
        )
        temperature = jnp.exp(jnp.concatenate([own["log_temperature"] for own in params]))
        soft = partial(bootstrap_of, value_map, policies, heads, temperature)
        bootstrap = jax.vmap(soft, in_axes=(1, 0))(values, log_prob)
        targets = jax.vmap(partial(bootstrapped, value_map))(bootstrap, batch.rewards, batch.length, batch.terminated)
        return batch, targets, noise.current

    def _learn_group(
        self,
        place: int,
        due: bool,
        params: Any,
        target_params: Any,
        optimizer: Any,
        batch: Batch,
        targets: Float[Array, "B N H 1"],
        noise: Float[Array, "B N A"],
    ) -> tuple[Any, Any, Any, Losses]:
        """A group's step, in this order: critics, their targets, policies by the new critics, temperatures."""
        rule, part, group = self.rule, self.parts[place], self.groups[place]
        main, batch = rule.value_map.main[group], for_group(batch, group)
        temperature = jnp.exp(params["log_temperature"])

        def critic_loss(critic: Params) -> tuple[Array, tuple[Array, Array]]:
            losses = critic_losses(rule.loss, part, main, critic, batch, targets[:, group])
            return jnp.sum(losses[0]), losses

        def policy_loss(policy: Params) -> tuple[Array, tuple[Array, Array]]:
            losses = actor_losses(part, main, policy, params["critic"], temperature, batch, noise[:, group])
            return jnp.sum(losses[0]), losses

        def step(name: str, gradient: Any) -> None:
            change, optimizer[name] = self.optimizer.update(gradient, optimizer[name], params[name])
            params[name] = optax.apply_updates(params[name], change)

        gradient, (td_loss, q_values) = jax.grad(critic_loss, has_aux=True)(params["critic"])
        step("critic", gradient)
        if due:
            target_params = polyak_update(target_params, params["critic"], rule.target_rate)
        gradient, (actor_loss, entropy) = jax.grad(policy_loss, has_aux=True)(params["policy"])
        step("policy", gradient)
        # The derivative of α (H - H̄) in log α.
        step("log_temperature", temperature * (entropy - rule.target_entropy * self.size))
        return params, target_params, optimizer, Losses(td_loss, q_values, actor_loss, entropy, temperature)

    def _add_up(self, totals: dict[str, Array], losses: tuple[Losses, ...]) -> dict[str, Array]:
        new = Losses(*(jnp.concatenate(column) for column in zip(*losses, strict=True)))._asdict()
        new["count"] = jnp.ones(self.members)
        return {name: total + new[name] for name, total in totals.items()}


def sac_agent(
    rule: SoftActorCritic, networks: Networks, observation: np.ndarray, actions: Box, at_once: int | None = None
) -> Agent:
    return Ensemble(rule, networks, observation, actions, at_once).agent()


@register
@dataclass(frozen=True, kw_only=True)
class SacLearner(Learner):
    """SAC ensembles for Box actions: Gaussian policies squashed to [-1, 1], and critics of which the lowest counts."""

    critics: int = option(2, within=AT_LEAST_1, help="critics per member; a target takes the lowest of their values")
    initial_temperature: float = option(
        1.0, within=POSITIVE, help="value of a nat of entropy at the start; it is learnt"
    )
    target_entropy: float = option(-0.5, unit="NATS", help="entropy to keep, per dimension of the action")

    def build(self, spec: EnvSpec) -> Agent:
        value_map = self.value_map.build(self.members, self.discount)
        rule = SoftActorCritic(
            value_map=value_map,
            loss=self.loss,
            critics=self.critics,
            initial_temperature=self.initial_temperature,
            target_entropy=self.target_entropy,
            optimizer=self.optimizer,
            target_period_updates=self.target_period_updates,
            target_rate=self.target_rate,
            reward_clip=self.reward_clip,
        )
        assert isinstance(spec.actions, Box), "validation refuses SAC with Discrete actions"
        networks = Networks.build(self.torso, self.initialization, value_map, spec.actions)
        return sac_agent(rule, networks, spec.example(), spec.actions)

    def problems(self, config: Any, spec: EnvSpec) -> Iterator[str]:
        if not isinstance(spec.actions, Box):
            yield (
                f"{config.preset} acts within a Box and '{spec.id}' has {spec.actions.count} Discrete actions: "
                "use double-dqn, bootstrapped-dqn, cerl or tandem there"
            )
        if self.auxiliary.weight:
            yield f"the auxiliary loss {self.auxiliary.kind} is for Q-ensembles and {config.preset} cannot use it"
        if isinstance(self.torso, Widened):
            yield f"a widened torso is for Q-ensembles and {config.preset} cannot use it: leave agent.torso out"
