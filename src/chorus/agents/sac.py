"""SAC ensembles: every continuous algorithm of the paper, distinguished only by the components of its learner.

An update first computes the targets of all members. Then critics, target critics, policies and temperatures learn, in
this order; large networks do so in groups of members (see `groups`), because members share only the batch and the
targets.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from chorus.agents.agent import (
    Agent,
    AgentState,
    MemberOutputs,
    Proposal,
    PureUpdate,
    explore,
    of_learners,
    polyak_update,
)
from chorus.agents.auxiliary import init_with_auxiliary, logged, total_loss, without_auxiliary
from chorus.agents.critics import CriticLearner
from chorus.agents.groups import Group, groups_of, step_in_groups
from chorus.agents.sac_losses import CriticLosses, Lesson, PolicyLosses, critic_losses, policy_losses, prepare
from chorus.agents.sac_networks import Networks
from chorus.components import POSITIVE, option, register
from chorus.envs.spec import EnvSpec
from chorus.networks.forked import Params, as_float
from chorus.networks.gaussian import draw
from chorus.randomness import init_key
from chorus.replay.batch import Batch
from chorus.spaces import Box

# Largest size of a group's parameters, targets and optimizer state (docs/performance.md).
_GROUP_BYTES = 16e6


@register
@dataclass(frozen=True, kw_only=True)
class SacLearner(CriticLearner):
    """SAC ensembles for Box actions: Gaussian policies squashed to [-1, 1], each with critics of its own."""

    features_read_actions: ClassVar[bool] = True

    initial_temperature: float = option(
        1.0, within=POSITIVE, help="value of a nat of entropy at the start; it is learnt"
    )
    target_entropy: float = option(-0.5, unit="NATS", help="entropy to keep, per dimension of the action")

    def build(self, spec: EnvSpec) -> Agent:
        assert isinstance(spec.actions, Box), "validation refuses SAC with Discrete actions"
        networks = Networks.build(self.torso, self.initialization, self.tables, spec.actions)
        return sac_agent(self, networks, spec.example(), spec.actions)

    def problems(self, config: Any, spec: EnvSpec) -> Iterator[str]:
        if not isinstance(spec.actions, Box):
            yield (
                f"{config.preset} acts within a Box and '{spec.id}' has {spec.actions.count} Discrete actions: "
                "use a preset for Discrete actions (`chorus list` shows the presets)"
            )
        yield from super().problems(config, spec)


class Learnt(NamedTuple):
    """What an update changes, of all members or of a group; `params` has critic, policy and log_temperature."""

    params: Params
    target_params: Params
    optimizer: dict[str, Any]


Optimizers = dict[str, optax.GradientTransformation]
_AXES = {"critic": 1, "policy": 0, "log_temperature": 0}
_MEMBER_AXES = Learnt(params=_AXES, target_params=1, optimizer=_AXES)  # type: ignore[arg-type]


def finite(action: Float[Array, "*axes A"]) -> Float[Array, "*axes A"]:
    """Replace non-finite actions by 0 so that NaNs never enter the replay."""
    return jnp.where(jnp.isfinite(action), action, 0.0)


@dataclass(frozen=True, eq=False)
class GroupUpdate:
    """The update of a group of members, one method per equation."""

    learner: SacLearner
    optimizers: Optimizers
    networks: Networks
    main: Int[np.ndarray, " N"]

    def __call__(self, due: bool, learnt: Learnt, lesson: Lesson) -> tuple[Learnt, tuple[dict[str, Array], Array]]:
        """The group after its step, its statistics and its TD errors; `due` says whether target critics move."""
        temperature = jnp.exp(learnt.params["log_temperature"])
        learnt, critics = self.update_critics(due, learnt, lesson)
        learnt, policies = self.update_policies(learnt, temperature, lesson)
        learnt = self.update_temperatures(learnt, temperature, policies.entropy, lesson)
        statistics = {
            "td_loss": critics.td,
            "auxiliary_loss": critics.auxiliary,
            "q_values": critics.value,
            "actor_loss": policies.actor,
            "entropy": policies.entropy,
            "temperature": temperature,
        }
        return learnt, (logged(self.learner.auxiliary, statistics), critics.error)

    def update_critics(self, due: bool, learnt: Learnt, lesson: Lesson) -> tuple[Learnt, CriticLosses]:
        """Critics by their targets, then their target critics (equations E20 and E22)."""

        def total(critic: Params) -> tuple[Array, CriticLosses]:
            losses = critic_losses(self.learner, self.networks, self.main, critic, learnt.target_params, lesson)
            return total_loss(self.learner.auxiliary, losses.td, losses.auxiliary), losses

        gradient, losses = jax.grad(total, has_aux=True)(learnt.params["critic"])
        learnt = self.step(learnt, "critic", gradient, lesson)
        if due:
            critic = without_auxiliary(learnt.params["critic"])
            target_params = polyak_update(learnt.target_params, critic, self.learner.target_rate)
            learnt = learnt._replace(target_params=target_params)
        return learnt, losses

    def update_policies(
        self, learnt: Learnt, temperature: Float[Array, " N"], lesson: Lesson
    ) -> tuple[Learnt, PolicyLosses]:
        """Policies by the new critics (equation E21)."""

        def total(policy: Params) -> tuple[Array, PolicyLosses]:
            critic = learnt.params["critic"]
            losses = policy_losses(self.learner, self.networks, self.main, policy, critic, temperature, lesson)
            return jnp.sum(losses.actor), losses

        gradient, losses = jax.grad(total, has_aux=True)(learnt.params["policy"])
        return self.step(learnt, "policy", gradient, lesson), losses

    def update_temperatures(
        self, learnt: Learnt, temperature: Float[Array, " N"], entropy: Float[Array, " N"], lesson: Lesson
    ) -> Learnt:
        """The derivative of α (H - H̄) in log α is α (H - H̄) (equation E21)."""
        target_entropy = self.learner.target_entropy * self.networks.policy.actions
        # The entropy of a member without data is 0, which is no reason to change its temperature.
        gradient = of_learners(temperature * (entropy - target_entropy), lesson.batch.weight, axis=0)
        return self.step(learnt, "log_temperature", gradient, lesson)

    def step(self, learnt: Learnt, name: str, gradient: Any, lesson: Lesson) -> Learnt:
        """One step of the optimizer for one part of the parameters."""
        params, optimizer = learnt.params, learnt.optimizer
        change, moments = self.optimizers[name].update(gradient, optimizer[name], params[name])
        change = of_learners(change, lesson.batch.weight, axis=_AXES[name])
        updated = optax.apply_updates(params[name], change)
        return learnt._replace(params={**params, name: updated}, optimizer={**optimizer, name: moments})


@dataclass(frozen=True, eq=False)
class SacEnsemble:
    """A learner, its networks and an example observation without a batch axis: what the agent's functions share.

    `at_once` is how many members learn in one group; by default as many as a cache holds.
    """

    learner: SacLearner
    networks: Networks
    observation: np.ndarray
    actions: Box
    at_once: int | None = None

    @cached_property
    def optimizers(self) -> Optimizers:
        """By part of the parameters; temperatures are no weights and do not decay."""
        weights, others = self.learner.optimizer.build(), self.learner.optimizer.without_decay().build()
        return {"critic": weights, "policy": weights, "log_temperature": others}

    def agent(self) -> Agent:
        groups = self.groups()
        whole = self.whole_update(groups)
        return Agent(
            init=jax.jit(self.init),
            act=self.act,
            propose=self.propose,
            value=self.value,
            update=self.update(groups, whole),
            inspect=self.inspect,
            pure=self.pure(whole) if len(groups) == 1 else None,
        )

    def groups(self) -> list[Group]:
        """An auxiliary loss may couple members, so all of them then learn together."""
        members = self.learner.members
        if self.learner.auxiliary.weight:
            return groups_of(members, members)
        return groups_of(members, self.at_once or max(1, int(_GROUP_BYTES // self._member_bytes())))

    def _member_bytes(self) -> int:
        """Parameters, targets and the optimizer's two moments of one member."""
        params, _ = jax.eval_shape(self._draw, init_key(0))
        critic, policy = (sum(leaf.size for leaf in jax.tree.leaves(params[name])) for name in ("critic", "policy"))
        return 4 * (4 * critic + 3 * policy) // self.learner.members

    def _draw(self, key: PRNGKeyArray) -> tuple[Params, Array]:
        """Initial parameters, and the seed of the noise."""
        learner = self.learner
        state_action = np.zeros(self.observation.size + self.actions.shape[0], np.float32)

        def critic(key: PRNGKeyArray) -> Params:
            return init_with_auxiliary(learner.auxiliary, key, self.networks.critic, state_action, self.actions)

        critic_key, policy_key, noise_key = jax.random.split(key, 3)
        # Strongly typed, as after an update, which is then compiled only once.
        log_temperature = jnp.full(learner.members, jnp.log(learner.initial_temperature), jnp.float32)
        params = {
            "critic": jax.vmap(critic)(jax.random.split(critic_key, learner.critics)),
            "policy": self.networks.policy.init(policy_key, self.observation),
            "log_temperature": log_temperature,
        }
        return params, jax.random.bits(noise_key, (2,), jnp.uint32)

    def init(self, key: PRNGKeyArray) -> AgentState:
        params, noise = self._draw(key)
        names = ("td_loss", "auxiliary_loss", "q_values", "actor_loss", "entropy", "temperature", "count")
        totals = {name: jnp.zeros(self.learner.members) for name in names}
        return AgentState(
            params=params,
            target_params=jax.tree.map(jnp.copy, without_auxiliary(params["critic"])),
            optimizer={name: self.optimizers[name].init(part) for name, part in params.items()},
            updates=np.int32(0),
            totals=logged(self.learner.auxiliary, totals),
            noise=noise,
        )

    def act(self, params: Params, observation: Array, member: Array, key: PRNGKeyArray, epsilon: Array) -> Array:
        noise_key, explore_key = jax.random.split(key)
        noise = jax.random.normal(noise_key, (observation.shape[0], self.networks.policy.actions))
        alone = self.networks.of(1)

        def action_of(slot: tuple[Array, Array, Array]) -> Array:
            seen, acting, own_noise = slot
            view = self.networks.policy.member_view(params["policy"], acting)
            return draw(alone.distribution(view, seen[None, None]), own_noise[None, None])[0][0, 0]

        chosen = finite(jax.lax.map(action_of, (as_float(observation), member, noise)))
        return explore(chosen, self.actions, explore_key, epsilon)

    def propose(self, params: Params, observation: Array, key: PRNGKeyArray) -> Proposal:
        policy = self.networks.distribution(params["policy"], as_float(observation)[:, None])
        drawn = draw(policy, jax.random.normal(key, policy.mean.shape))[0]
        return Proposal(action=finite(drawn), mode=finite(policy.mode))

    def value(self, params: Params, observation: Array, action: Float[Array, "E A"]) -> Float[Array, "E N"]:
        """The value that policies maximise, by the main heads."""
        seen, main = as_float(observation)[:, None], self.learner.tables.main[:, None]
        values = self.networks.values(params["critic"], seen, action[:, None], main)
        return self.learner.critic_rule.value(values)[..., 0]

    def inspect(self, params: Params, observation: Array) -> MemberOutputs:
        """Features of the policies."""
        features = self.networks.policy.features(params["policy"], as_float(observation)[:, None]).last
        return MemberOutputs(value=None, features=jnp.moveaxis(features, 0, 1))

    def whole_update(self, groups: list[Group]) -> Any:
        """(targets are due, learnt, totals, batch, noise, updates) -> (learnt, totals, TD errors), of all members."""
        learner, members = self.learner, self.learner.members

        def step(group: Group, due: bool, learnt: Learnt, lesson: Lesson) -> tuple[Learnt, Any]:
            networks, main = self.networks.of(group.stop - group.start), learner.tables.main[group]
            return GroupUpdate(learner, self.optimizers, networks, main)(due, learnt, lesson)

        prepared = jax.jit(partial(prepare, learner, self.networks))
        learn = step_in_groups(step, groups, _MEMBER_AXES, shared_axes=1)

        @partial(jax.jit, donate_argnums=0)
        def add(totals: dict[str, Array], new: dict[str, Array]) -> dict[str, Array]:
            new = {**new, "count": jnp.ones(members)}
            return {name: total + new[name] for name, total in totals.items()}

        def whole(due: bool, learnt: Learnt, totals: Any, *given: Any) -> tuple[Any, ...]:
            lesson = prepared(learnt.params, learnt.target_params, *given)
            learnt, (statistics, error) = learn(due, learnt, lesson)
            return learnt, add(totals, statistics), error

        return whole

    def update(self, groups: list[Group], whole: Any) -> Any:
        """`Agent.update`; steps of several groups are dispatched one by one, a single group is one computation."""
        period = self.learner.target_period_updates
        run = jax.jit(whole, static_argnums=0, donate_argnums=(1, 2)) if len(groups) == 1 else whole

        def update(state: AgentState, batch: Batch) -> tuple[AgentState, Float[Array, "B N"]]:
            updates = int(state.updates) + 1
            # Decided here and not under `jit`, where a conditional copies the target network at every update.
            due = updates % period == 0
            learnt, totals, error = run(due, Learnt(*state[:3]), state.totals, batch, state.noise, state.updates)
            return state._replace(**learnt._asdict(), updates=np.int32(updates), totals=totals), error

        return update

    def pure(self, whole: Any) -> PureUpdate:
        period = self.learner.target_period_updates

        def learn(state: AgentState, batch: Batch) -> tuple[AgentState, Float[Array, "B N"]]:
            given = (batch, state.noise, state.updates)
            learnt, totals, error = whole(period == 1, Learnt(*state[:3]), state.totals, *given)
            return state._replace(**learnt._asdict(), updates=state.updates + 1, totals=totals), error

        def move_target(state: AgentState) -> AgentState:
            critic = without_auxiliary(state.params["critic"])
            return state._replace(target_params=polyak_update(state.target_params, critic, self.learner.target_rate))

        return PureUpdate(learn, move_target, period)


def sac_agent(
    learner: SacLearner, networks: Networks, observation: np.ndarray, actions: Box, at_once: int | None = None
) -> Agent:
    return SacEnsemble(learner, networks, observation, actions, at_once).agent()
