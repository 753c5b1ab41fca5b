"""An auxiliary loss with parameters of its own trains with either learner, and one without a weight changes nothing."""

from dataclasses import dataclass, replace
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from builders import assert_trees_close, tiny_agent, tiny_batch, tiny_learner, tiny_network
from chorus.agents.auxiliary import init_with_auxiliary
from chorus.components import option, register
from chorus.config.resolution import Request, resolve
from chorus.ensemble.auxiliaries import Auxiliary, Mico, NoAuxiliary
from chorus.ensemble.losses import weighted_mean
from chorus.randomness import init_key
from chorus.spaces import Discrete
from soft_builders import soft_agent, soft_batch, soft_learner, soft_state


@register
@dataclass(frozen=True, kw_only=True)
class PredictedReward(Auxiliary):
    """Each member predicts the reward from its features, linearly."""

    weight: float = option(0.5, help="its share of the loss")

    def init(self, key, context):
        return {"kernel": 0.1 * jax.random.normal(key, (context.members, context.feature_size))}

    def losses(self, params, inputs):
        predicted = jnp.einsum("nbd,nd->bn", inputs.online.last, params["kernel"])
        losses = jnp.square(predicted - inputs.batch.rewards[..., 0])
        return weighted_mean(losses[..., None], inputs.batch.weight)[:, 0]


@dataclass(frozen=True, kw_only=True)
class ReadsEverything(Auxiliary):
    """The mean size of all it may read."""

    weight: float = 0.5

    def losses(self, params, inputs):
        features = (inputs.online, inputs.target(), inputs.next_target())
        sizes = [jnp.mean(jnp.square(part)) for own in features for part in own if part is not None]
        return sum(sizes)[None] + inputs.discount * jnp.mean(inputs.predictions)


@cache
def q(auxiliary):
    """An agent with this auxiliary loss, compiled once, and what makes its batches."""
    learner = replace(tiny_learner(), auxiliary=auxiliary)
    return tiny_agent(learner, replace(tiny_network(), feature_layers=1)), tiny_batch


@cache
def sac(auxiliary, at_once=2):
    return soft_agent(replace(soft_learner(), auxiliary=auxiliary), at_once), soft_batch


# Policies and critics take three times as long to compile as a network of values.
BOTH = [pytest.param(q, id="q"), pytest.param(sac, id="sac", marks=pytest.mark.long)]


def own_params(state):
    return state.params.get("critic", state.params)["auxiliary"]


def learnt(agent, make_batch, updates=3):
    state = agent.init(jax.random.key(0))
    for update in range(updates):
        state, errors = agent.update(state, make_batch(seed=update))
    return state, errors


@pytest.mark.slow
@pytest.mark.parametrize("build", BOTH)
def test_own_parameters_are_part_of_the_state_and_are_learnt(build):
    shape = (3, 5) if build is q else (2, 3, 5)
    agent, make_batch = build(PredictedReward())
    before = jax.tree.map(np.array, agent.init(jax.random.key(0)))
    after, _ = learnt(agent, make_batch)
    assert own_params(before)["kernel"].shape == shape
    moved = np.abs(np.asarray(own_params(after)["kernel"]) - own_params(before)["kernel"])
    assert moved.reshape(-1, shape[-1]).max(axis=1).min() > 1e-3
    # A checkpoint holds the leaves of the state: the parameters and their moments in the optimizer.
    names = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(after)]
    assert sum("auxiliary" in name and "kernel" in name for name in names) == 3
    assert "auxiliary" not in after.target_params
    assert after.totals["auxiliary_loss"].shape == (3,) and np.all(np.asarray(after.totals["auxiliary_loss"]) > 0)


@pytest.mark.slow
@pytest.mark.parametrize("build", BOTH)
def test_the_loss_falls_if_it_is_learnt_long_enough(build):
    agent, make_batch = build(PredictedReward(weight=0.9))
    state, batch, losses = agent.init(jax.random.key(0)), make_batch(), []
    for _ in range(60):
        state, _ = agent.update(state, batch)
        losses.append(float(state.totals["auxiliary_loss"].sum()))
    each = np.diff([0.0, *losses])
    assert each[-1] < 0.5 * each[0]


@pytest.mark.slow
@pytest.mark.parametrize("build", [q, pytest.param(partial(sac, at_once=3), marks=pytest.mark.long)], ids=["q", "sac"])
def test_without_a_weight_the_numbers_are_those_of_no_auxiliary_loss(build):
    (plain, _), (unweighted, _) = (
        learnt(*build(auxiliary)) for auxiliary in (NoAuxiliary(), PredictedReward(weight=0))
    )
    assert "auxiliary_loss" not in plain.totals
    assert jax.tree.structure(plain) == jax.tree.structure(unweighted)
    for own, other in zip(jax.tree.leaves(plain), jax.tree.leaves(unweighted), strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.slow
@pytest.mark.parametrize("build", BOTH)
@pytest.mark.parametrize("key", [jax.random.key(0), init_key(0)], ids=["threefry", "rbg"])
def test_own_parameters_leave_the_initial_weights_of_the_network_alone(build, key):
    plain, with_own = (build(auxiliary)[0].init(key).params for auxiliary in (NoAuxiliary(), PredictedReward()))
    network = with_own.get("critic", with_own)
    del network["auxiliary"]
    # Up to rounding: the initialisation is compiled together with the further draw.
    assert_trees_close(plain, with_own)


@pytest.mark.slow
def test_the_initial_weights_are_those_of_the_network_alone():
    network, key = tiny_network(), init_key(0)
    observation = tiny_batch().observation[0, 0]
    alone = network.init(key, observation)
    found = init_with_auxiliary(NoAuxiliary(), key, network, observation, Discrete(network.actions))
    assert jax.tree.all(jax.tree.map(np.array_equal, alone, found))


@pytest.mark.slow
@pytest.mark.parametrize("build", BOTH)
def test_features_of_target_networks_can_be_read(build):
    state, _ = learnt(*build(ReadsEverything()))
    assert np.all(np.isfinite(state.totals["auxiliary_loss"]))


def test_mico_is_refused_for_critics_of_states_and_actions():
    resolved = resolve(Request(preset="ensemble-sac", env="Pendulum-v1"))
    config = replace(resolved.config, agent=replace(resolved.config.agent, auxiliary=Mico()))
    problems = list(Mico().problems(config, resolved.spec))
    assert any("states and actions" in problem for problem in problems)
    assert not list(config.agent.problems(config, resolved.spec))


@pytest.mark.slow
def test_errors_of_q_learners_are_those_of_the_main_heads():
    """A terminal transition's target is its reward: the error is |r - Q(s, a)|."""
    agent, batch = tiny_agent(tiny_learner(), tiny_network()), tiny_batch()
    batch = batch._replace(terminated=np.ones_like(batch.terminated))
    state = agent.init(jax.random.key(0))
    values = jax.jit(agent.value)(state.params, batch.observation[:, 0], batch.action[:, 0])
    expected = np.abs(batch.rewards[:, :, 0] - values)
    _, errors = agent.update(state, batch)
    np.testing.assert_allclose(errors, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_errors_of_sac_are_the_mean_over_critics_in_any_grouping():
    batch = soft_batch()
    batch = batch._replace(terminated=np.ones_like(batch.terminated))
    found = []
    for at_once in (1, 3):
        agent = soft_agent(soft_learner(critics=1), at_once)
        state = soft_state(agent)
        # With a single critic, the lowest value is its value.
        values = jax.jit(agent.value)(state.params, batch.observation[:, 0], batch.action[:, 0])
        expected = np.abs(batch.rewards[:, :, 0] - values)
        found.append(agent.update(state, batch)[1])
        np.testing.assert_allclose(found[-1], expected, rtol=1e-4, atol=1e-5)
    assert_trees_close(*found)
