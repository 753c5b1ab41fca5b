"""Choosing an action from the proposals of all members: in evaluation, in `Player.predict`, in videos, and in training
with an acting rule that uses all members."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, Shaped

from chorus.agents.agent import Agent, Proposal, explore
from chorus.ensemble.votes import action_distance, vote_entropy
from chorus.spaces import Actions, AnyArray, Discrete

# (the members' proposals in one state, the member drawn for the episode, key) -> the action
Choose = Callable[[Proposal, Int[Array, ""], PRNGKeyArray], Shaped[Array, "..."]]


def choose_actions(
    agent: Agent,
    actions: Actions,
    choose: Choose,
    params: Any,
    observation: Shaped[Array, "E ..."],
    member: Int[Array, " E"],
    key: PRNGKeyArray,
    epsilon: Array,
) -> tuple[Shaped[Array, "E ..."], Proposal]:
    """One action per slot, chosen from one evaluation of all members and explored on top; and what they proposed."""
    slots = observation.shape[0]
    propose_key, choose_key, explore_key = jax.random.split(key, 3)
    proposal = agent.propose(params, observation, propose_key)
    chosen = jax.vmap(choose)(proposal, member, jax.random.split(choose_key, slots))
    return explore(chosen.astype(actions.dtype), actions, explore_key, epsilon), proposal


def valuing_proposals(agent: Agent) -> Agent:
    """The agent whose proposals for Box actions hold value[e, i, j]: member i's value of the action that j proposes."""

    def propose(params: Any, observation: Shaped[Array, "E ..."], key: PRNGKeyArray) -> Proposal:
        proposal = agent.propose(params, observation, key)
        of_each = jax.vmap(agent.value, in_axes=(None, None, 1), out_axes=2)
        return proposal._replace(value=of_each(params, observation, proposal.action))

    return replace(agent, propose=propose)


class DiversityMeasure(NamedTuple):
    """How far the members' actions in one state differ, and the metric that reports it."""

    compute: Callable[[Shaped[Array, "N ..."]], Float[Array, ""]]
    metric: str
    unit: str


def diversity_measure(actions: Actions) -> DiversityMeasure:
    if isinstance(actions, Discrete):
        return DiversityMeasure(partial(vote_entropy, num_actions=actions.count), "diversity/vote_entropy", "nats")
    return DiversityMeasure(action_distance, "diversity/action_distance", "squared")


def estimate_value(
    value: Float[Array, "E N"], member: Int[Array, " E"], combines_members: bool | Bool[AnyArray, ""]
) -> Float[Array, " E"]:
    """The mean of the members' values of an action, or the value of the drawn member alone.

    Values of other members are then not read, because they may not be finite.
    """
    members = value.shape[1]
    weights = jnp.where(combines_members, 1.0 / members, jax.nn.one_hot(member, members))
    return jnp.sum(jnp.where(weights > 0, value * weights, 0.0), axis=1)
