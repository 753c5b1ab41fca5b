"""Evaluation of named policies with frozen networks; the number of episodes per slot is fixed in advance."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, Shaped

from chorus.agents.agent import Agent, Proposal
from chorus.ensemble.measures import value_bias
from chorus.spaces import Actions
from chorus.training.decisions import choose_actions, diversity_measure, estimate_value
from chorus.training.episodes import Episode, EpisodeRecorder
from chorus.training.policies import Policy
from chorus.training.settings import Amount
from chorus.training.stepper import Decide, Keys, Stepper, Steps

MakeStepper = Callable[[Decide, int], Stepper]


class Measured(NamedTuple):
    """Measured at each decision: how far the members' modes differ, and the policy's value estimate."""

    diversity: Float[Array, " E"]
    estimate: Float[Array, " E"]


@dataclass(frozen=True)
class EpisodeResult:
    """One finished evaluation episode; `bias` is None where a time limit cut the return short."""

    slot: int
    member: int | None
    episodic_return: float
    length: int
    diversity: float
    bias: float | None


@dataclass
class Evaluator:
    """Plays the policies of one agent; `discount` and `reward_clip` are those it learns with, for the value bias."""

    agent: Agent
    members: int
    actions: Actions
    policies: Mapping[str, Policy]
    make_stepper: MakeStepper
    slots: int
    epsilon: float
    discount: float
    reward_clip: float | None

    @cached_property
    def stepper(self) -> Stepper:
        """One compiled program for all policies: which one decides is an argument beside the parameters."""
        policies, diversity = list(self.policies.values()), diversity_measure(self.actions)

        def decide(
            params_and_policy: Any, observation: Array, member: Array, key: PRNGKeyArray, epsilon: Array
        ) -> tuple[Array, Any]:
            params, index, combines = params_and_policy

            def choose(proposal: Proposal, one: Int[Array, ""], key: PRNGKeyArray) -> Shaped[Array, "..."]:
                return jax.lax.switch(index, [self._choose(policy) for policy in policies], proposal, one, key)

            action, proposal = choose_actions(
                self.agent, self.actions, choose, params, observation, member, key, epsilon
            )
            value = self.agent.value(params, observation, action)
            return action, Measured(
                diversity=jax.vmap(diversity.compute)(proposal.mode),
                estimate=estimate_value(value, member, combines),
            )

        return self.make_stepper(decide, self.slots)

    def _choose(self, policy: Policy) -> Callable[[Proposal, Array, PRNGKeyArray], Array]:
        """The branches of a switch must agree in their types."""
        return lambda proposal, member, key: jnp.asarray(
            policy.choose(proposal, member, self.actions, key), self.actions.dtype
        )

    def advance(self, params: Any, policy_name: str, rollout: Any) -> tuple[Any, Steps]:
        """One chunk of steps."""
        epsilon = np.full(self.stepper.chunk, self.epsilon, np.float32)
        policy, index = self.policies[policy_name], np.int32(list(self.policies).index(policy_name))
        params_and_policy = (params, index, np.asarray(policy.combines_members))
        return self.stepper.advance(params_and_policy, policy.shares(self.members), rollout, epsilon)

    def evaluate(self, params: Any, policy_name: str, keys: Keys, amount: Amount) -> list[EpisodeResult]:
        """The first episodes of every slot, until it has played the amount; ordered by slot."""
        results: list[list[EpisodeResult]] = [[] for _ in range(self.slots)]
        recorder = EpisodeRecorder(self.slots)
        rollout = self.stepper.start(keys)
        try:
            while not all(_enough(played, amount) for played in results):
                rollout, steps = self.advance(params, policy_name, rollout)
                for episode in record_steps(recorder, steps):
                    if not _enough(results[episode.slot], amount):
                        results[episode.slot].append(self._result(episode))
        finally:
            rollout.close()
        return [result for played in results for result in played]

    def _result(self, episode: Episode) -> EpisodeResult:
        rewards, columns = episode.rewards, episode.columns
        learnt = rewards if self.reward_clip is None else rewards.clip(-self.reward_clip, self.reward_clip)
        terminals = (np.flatnonzero(columns["life_ended"]) + 1).tolist()
        bias = value_bias(columns["estimate"], learnt, self.discount, terminals) if columns["terminated"][-1] else None
        return EpisodeResult(
            slot=episode.slot,
            member=episode.member,
            episodic_return=episode.episodic_return,
            length=episode.length,
            diversity=float(np.mean(columns["diversity"])),
            bias=bias,
        )


def record_steps(recorder: EpisodeRecorder, steps: Steps) -> list[Episode]:
    """Steps of an evaluation; returns the episodes that they finished."""
    return recorder.record(
        owner=steps.member,
        reward=steps.reward,
        ended=steps.terminated | steps.truncated,
        terminated=steps.terminated,
        life_ended=steps.life_ended,
        estimate=steps.measured.estimate.astype(np.float64),
        diversity=steps.measured.diversity.astype(np.float64),
    )


def _enough(played: list[EpisodeResult], amount: Amount) -> bool:
    return amount.reached(len(played), sum(result.length for result in played))


def summarise(results: list[EpisodeResult], policy_name: str, actions: Actions) -> dict[str, float]:
    """The metrics of one policy (docs/metrics.md); diversity is a mean over decisions, not over episodes."""
    lengths = np.array([result.length for result in results])
    biases = [result.bias for result in results if result.bias is not None]
    diversity = np.average([result.diversity for result in results], weights=lengths)
    metrics = {
        f"eval/{policy_name}/episodic_return": float(np.mean([result.episodic_return for result in results])),
        f"eval/{policy_name}/episodic_length": float(lengths.mean()),
        f"eval/{policy_name}/episodes": float(len(results)),
        f"{diversity_measure(actions).metric}/{policy_name}": float(diversity),
    }
    if biases:
        metrics[f"eval/{policy_name}/value_bias"] = float(np.mean(biases))
    return metrics
