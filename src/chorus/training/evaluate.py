"""One evaluation for every named policy: frozen networks, a fixed number of episodes in every slot."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from chorus.agents.q import Agent, explore
from chorus.ensemble.bias import value_bias
from chorus.training.policies import Policy, choose, measure
from chorus.training.stepper import Decide, Keys, Stepper, Steps

MakeStepper = Callable[[Decide, int], Stepper]


@dataclass(frozen=True)
class EpisodeResult:
    """One finished evaluation episode; `bias` is undefined (None) where a time limit cut the return short."""

    slot: int
    member: int
    episodic_return: float
    length: int
    entropy: float
    bias: float | None


@dataclass
class _Slot:
    rewards: list[float] = field(default_factory=list)
    estimates: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)


@dataclass
class Evaluator:
    """Plays policies of one agent; `discount` and `reward_clip` are those it learns with, for the value bias."""

    agent: Agent
    members: int
    actions: int
    make_stepper: MakeStepper
    slots: int
    epsilon: float
    discount: float
    reward_clip: float | None

    @cached_property
    def stepper(self) -> Stepper:
        """Moves the slots by any policy: what it is travels beside the parameters."""

        def decide(
            params_and_voting: Any, observation: Array, member: Array, key: PRNGKeyArray, epsilon: Array
        ) -> tuple[Array, Any]:
            params, voting = params_and_voting
            choose_key, explore_key = jax.random.split(key)
            proposal = self.agent.propose(params, observation)
            choice = choose(proposal, member, voting, choose_key)
            action = explore(choice.action, self.actions, explore_key, epsilon, observation.shape[0])
            return action, measure(proposal, choice._replace(action=action))

        return self.make_stepper(decide, self.slots)

    def advance(self, params: Any, policy: Policy, stay: Any) -> tuple[Any, Steps]:
        """As many steps as are worth asking for at once."""
        epsilon = np.full(self.stepper.chunk, self.epsilon, np.float32)
        shares = policy.shares(self.members)
        return self.stepper.advance((params, np.asarray(policy.voting)), shares, stay, epsilon)

    def evaluate(self, params: Any, policy: Policy, keys: Keys, episodes_a_slot: int) -> list[EpisodeResult]:
        """The first `episodes_a_slot` episodes of every slot: taking the first to finish would favour short ones."""
        results: list[list[EpisodeResult]] = [[] for _ in range(self.slots)]
        open_slots = [_Slot() for _ in range(self.slots)]
        stay = self.stepper.start(keys)
        try:
            while any(len(done) < episodes_a_slot for done in results):
                stay, steps = self.advance(params, policy, stay)
                for t, slot in np.ndindex(*steps.reward.shape):
                    if len(results[slot]) < episodes_a_slot:
                        finished = self._record(open_slots[slot], steps, t, slot)
                        if finished is not None:
                            results[slot].append(finished)
                            open_slots[slot] = _Slot()
        finally:
            stay.close()
        return [result for slot in results for result in slot]

    def _record(self, running: _Slot, steps: Steps, t: int, slot: int) -> EpisodeResult | None:
        running.rewards.append(float(steps.reward[t, slot]))
        running.estimates.append(float(steps.measured.estimate[t, slot]))
        running.entropies.append(float(steps.measured.entropy[t, slot]))
        if not (steps.terminated[t, slot] or steps.truncated[t, slot]):
            return None
        rewards = np.asarray(running.rewards)
        learnt = rewards if self.reward_clip is None else rewards.clip(-self.reward_clip, self.reward_clip)
        whole = bool(steps.terminated[t, slot])
        return EpisodeResult(
            slot=slot,
            member=int(steps.member[t, slot]),
            episodic_return=float(rewards.sum()),
            length=len(rewards),
            entropy=float(np.mean(running.entropies)),
            bias=value_bias(np.asarray(running.estimates), learnt, self.discount) if whole else None,
        )


def summarise(results: list[EpisodeResult], policy_name: str) -> dict[str, float]:
    """The metrics of one policy (docs/metrics.md); entropy is a mean over decisions, not over episodes."""
    lengths = np.array([result.length for result in results])
    biases = [result.bias for result in results if result.bias is not None]
    metrics = {
        f"eval/{policy_name}/episodic_return": float(np.mean([result.episodic_return for result in results])),
        f"eval/{policy_name}/episodic_length": float(lengths.mean()),
        f"eval/{policy_name}/episodes": float(len(results)),
        f"diversity/vote_entropy/{policy_name}": float(
            np.average([result.entropy for result in results], weights=lengths)
        ),
    }
    if biases:
        metrics[f"eval/{policy_name}/value_bias"] = float(np.mean(biases))
    return metrics
