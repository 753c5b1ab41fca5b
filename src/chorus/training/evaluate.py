"""One evaluation for every named policy: frozen networks, and in every slot as much play as was fixed before."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from chorus.agents.agent import Agent, explore
from chorus.ensemble.measures import value_bias
from chorus.spaces import Actions
from chorus.training.policies import Policy, choose, council, measure
from chorus.training.settings import Amount
from chorus.training.stepper import Decide, Keys, Stepper, Steps

MakeStepper = Callable[[Decide, int], Stepper]


@dataclass(frozen=True)
class EpisodeResult:
    """One finished evaluation episode; `bias` is undefined (None) where a time limit cut the return short."""

    slot: int
    member: int
    episodic_return: float
    length: int
    diversity: float
    bias: float | None


@dataclass
class _Slot:
    """The episode that is being played; where the learner sees a terminal, `lives` has the steps before it."""

    rewards: list[float] = field(default_factory=list)
    estimates: list[float] = field(default_factory=list)
    diversity: list[float] = field(default_factory=list)
    lives: list[int] = field(default_factory=list)


@dataclass
class Evaluator:
    """Plays policies of one agent; `discount` and `reward_clip` are those it learns with, for the value bias."""

    agent: Agent
    members: int
    actions: Actions
    make_stepper: MakeStepper
    slots: int
    epsilon: float
    discount: float
    reward_clip: float | None

    @cached_property
    def stepper(self) -> Stepper:
        """Moves the slots by any policy: what it is travels beside the parameters."""
        among = council(self.actions)

        def decide(
            params_and_way: Any, observation: Array, member: Array, key: PRNGKeyArray, epsilon: Array
        ) -> tuple[Array, Any]:
            params, way = params_and_way
            choose_key, explore_key = jax.random.split(key)
            proposal = self.agent.propose(params, observation, jax.random.fold_in(key, 2))
            choice = choose(among, proposal, member, way, choose_key)
            action = explore(choice.action, self.actions, explore_key, epsilon)
            return action, measure(choice, self.agent.value(params, observation, action))

        return self.make_stepper(decide, self.slots)

    def advance(self, params: Any, policy: Policy, rollout: Any) -> tuple[Any, Steps]:
        """As many steps as are worth asking for at once."""
        epsilon = np.full(self.stepper.chunk, self.epsilon, np.float32)
        shares = policy.shares(self.members)
        way = jax.tree.map(np.asarray, policy.way)
        return self.stepper.advance((params, way), shares, rollout, epsilon)

    def evaluate(self, params: Any, policy: Policy, keys: Keys, amount: Amount) -> list[EpisodeResult]:
        """Every slot's first episodes, until it has played the amount."""
        results: list[list[EpisodeResult]] = [[] for _ in range(self.slots)]
        open_slots: list[_Slot | None] = [_Slot() for _ in range(self.slots)]
        rollout = self.stepper.start(keys)
        try:
            while any(running is not None for running in open_slots):
                rollout, steps = self.advance(params, policy, rollout)
                for t, slot in np.ndindex(*steps.reward.shape):
                    running, done = open_slots[slot], results[slot]
                    finished = self._record(running, steps, t, slot) if running is not None else None
                    if finished is not None:
                        done.append(finished)
                        enough = amount.reached(len(done), sum(result.length for result in done))
                        open_slots[slot] = None if enough else _Slot()
        finally:
            rollout.close()
        return [result for slot in results for result in slot]

    def _record(self, running: _Slot, steps: Steps, t: int, slot: int) -> EpisodeResult | None:
        running.rewards.append(float(steps.reward[t, slot]))
        running.estimates.append(float(steps.measured.estimate[t, slot]))
        running.diversity.append(float(steps.measured.diversity[t, slot]))
        if steps.life_ended[t, slot]:
            running.lives.append(len(running.rewards))
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
            diversity=float(np.mean(running.diversity)),
            bias=value_bias(np.asarray(running.estimates), learnt, self.discount, running.lives) if whole else None,
        )


def summarise(results: list[EpisodeResult], policy_name: str, actions: Actions) -> dict[str, float]:
    """The metrics of one policy (docs/metrics.md); diversity is a mean over decisions, not over episodes."""
    lengths = np.array([result.length for result in results])
    biases = [result.bias for result in results if result.bias is not None]
    metrics = {
        f"eval/{policy_name}/episodic_return": float(np.mean([result.episodic_return for result in results])),
        f"eval/{policy_name}/episodic_length": float(lengths.mean()),
        f"eval/{policy_name}/episodes": float(len(results)),
        f"{council(actions).metric}/{policy_name}": float(
            np.average([result.diversity for result in results], weights=lengths)
        ),
    }
    if biases:
        metrics[f"eval/{policy_name}/value_bias"] = float(np.mean(biases))
    return metrics
