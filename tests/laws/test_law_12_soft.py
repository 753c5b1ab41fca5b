"""Law 12: Ensemble SAC with one member is SAC; a member depends on itself alone; groups change nothing."""

import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from builders import assert_trees_close
from chorus.agents.optimizers import Adam
from chorus.agents.sac_losses import prepare
from chorus.agents.sac_networks import draw_noise
from chorus.config.resolution import Request, resolve
from chorus.ensemble.losses import MainAndAuxiliary, Squared, TwiceHuber
from chorus.ensemble.value_map import Cross, CrossOwn, Members
from chorus.networks.gaussian import Gaussian, draw
from soft_builders import soft_agent, soft_batch, soft_learner, soft_networks, soft_state

CERL_LOSS = MainAndAuxiliary(main=Squared(), auxiliary=TwiceHuber())


def mlp(params, x):
    """Two hidden layers and the last one, of one member: no ensemble, no heads."""
    for layer in ("layer_0", "layer_1"):
        own = params["members"][layer]
        x = jax.nn.relu(x @ own["kernel"][0].T + own["bias"][0])
    last = params["heads"]["layer_2"]
    return jnp.einsum("bd,hod->bho", x, last["kernel"][0]) + last["bias"][0]


def textbook(params, targets, optimizers, batch, noise, learner):
    """Haarnoja et al. (2018) with two critics, as one would write it for a single agent."""
    s, a, r, s2 = batch.observation[:, 0], batch.action[:, 0], batch.rewards[:, 0, 0], batch.next_observation[:, 0]
    alpha = jnp.exp(params["log_temperature"][0])
    adam = optax.adam(learner.optimizer.learning_rate, eps=learner.optimizer.epsilon)

    def policy(own, state, eps):
        heads = mlp(own, state)
        mean, log_std = heads[:, 0], -10 + 6 * (1 + jnp.tanh(heads[:, 1]))
        u = mean + jnp.exp(log_std) * eps
        log_prob = -0.5 * eps**2 - log_std - 0.5 * jnp.log(2 * jnp.pi) - jnp.log(1 - jnp.tanh(u) ** 2)
        return jnp.tanh(u), log_prob.sum(-1)

    def critics(own, state, action):
        x = jnp.concatenate([state, action], axis=-1)
        return jnp.stack([mlp(jax.tree.map(lambda w, c=c: w[c], own), x)[:, 0, 0] for c in range(2)])

    a2, log2 = policy(params["policy"], s2, noise.next[:, 0])
    y = r + 0.99 * (1 - batch.terminated[:, 0]) * (critics(targets, s2, a2).min(0) - alpha * log2)
    gradient = jax.grad(lambda own: jnp.mean((critics(own, s, a) - y) ** 2, axis=1).sum())(params["critic"])
    change, critic_optimizer = adam.update(gradient, optimizers["critic"])
    critic = optax.apply_updates(params["critic"], change)
    targets = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, targets, critic)

    def actor_loss(own):
        action, log_prob = policy(own, s, noise.current[:, 0])
        return jnp.mean(alpha * log_prob - critics(critic, s, action).min(0)), -jnp.mean(log_prob)

    gradient, entropy = jax.grad(actor_loss, has_aux=True)(params["policy"])
    change, policy_optimizer = adam.update(gradient, optimizers["policy"])
    own_policy = optax.apply_updates(params["policy"], change)
    # Two numbers an action: the entropy to keep is -0.5 · 2.
    slope = jax.grad(lambda log: (jnp.exp(log) * (entropy + 1.0)).sum())(params["log_temperature"])
    change, temperature_optimizer = adam.update(slope, optimizers["log_temperature"])
    new = {"critic": critic, "policy": own_policy, "log_temperature": params["log_temperature"] + change}
    states = {"critic": critic_optimizer, "policy": policy_optimizer, "log_temperature": temperature_optimizer}
    return new, targets, states


@pytest.mark.slow
def test_one_member_is_textbook_sac_update_for_update():
    # With a large epsilon steps grow with their gradients: twice the loss would be seen, and another entropy target.
    learner = soft_learner(members=1, optimizer=Adam(learning_rate=0.1, epsilon=10.0))
    agent = soft_agent(learner)
    state = soft_state(agent)
    params, targets, optimizers = state.params, state.target_params, state.optimizer
    step = jax.jit(lambda *given: textbook(*given, learner))
    for update in range(4):
        batch = soft_batch(seed=update)
        noise = draw_noise(jnp.asarray(state.noise), jnp.int32(update), 1, 6, 2)
        params, targets, optimizers = step(params, targets, optimizers, batch, noise)
        state = jax.tree.map(np.array, agent.update(state, batch)[0])
    assert_trees_close(state.params, params, rtol=2e-4, atol=2e-5)
    assert_trees_close(state.target_params, targets, rtol=2e-4, atol=2e-5)


def test_the_preset_with_one_member_is_sac():
    def config(preset, **options):
        asked = resolve(Request(preset=preset, env="Pendulum-v1", options=options)).config.to_json()
        return {name: value for name, value in asked.items() if name != "preset"}

    assert config("ensemble-sac", members=1) == config("sac")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "loss"), [(Members(), Squared()), (Cross(), CERL_LOSS), (CrossOwn(), CERL_LOSS)], ids=type
)
def test_grouping_changes_nothing(kind, loss):
    learnt = []
    for at_once in (2, 3):
        agent = soft_agent(soft_learner(kind, loss=loss), at_once)
        state = soft_state(agent)
        for update in range(3):
            state, errors = agent.update(state, soft_batch(seed=update))
        seen = np.zeros((3, 4), np.float32)
        acted = jax.jit(agent.act)(state.params, seen, np.arange(3), jax.random.key(1), np.float32(0))
        learnt.append((state, errors, acted))
    assert_trees_close(*learnt, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_the_acting_member_acts():
    """Three policies, two groups, one state: each slot does what its own member's distribution and the noise say."""
    learner = soft_learner()
    agent = soft_agent(learner, at_once=2)
    state, key = soft_state(agent), jax.random.key(1)
    seen, member = np.full((4, 4), 0.3, np.float32), np.array([2, 0, 1, 2])
    acted = jax.jit(agent.act)(state.params, seen, member, key, np.float32(0))
    policies = jax.jit(soft_networks(learner).distribution)(state.params["policy"], seen[:, None])
    noise = jax.random.normal(jax.random.split(key)[0], (4, 2))
    own = Gaussian(*(column[np.arange(4), member] for column in policies))
    np.testing.assert_allclose(acted, draw(own, noise)[0], rtol=1e-4, atol=1e-5)
    assert np.abs(acted[1] - acted[2]).max() > 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Cross(), CrossOwn()], ids=type)
def test_targets_ask_who_they_should_about_whose_actions(kind):
    """Head k of member i learns r + γ (min_c Q̄_c(s', a'_k) - α_k log π_k), of member k's critics or of its own."""
    learner = soft_learner(kind, members=2, loss=CERL_LOSS)
    networks = soft_networks(learner)
    state, batch = soft_state(soft_agent(learner)), soft_batch(size=3)
    params, critics = state.params, state.target_params
    params["log_temperature"] += np.float32([0.0, 0.5])
    seed = jnp.asarray(state.noise)
    targets = jax.jit(partial(prepare, learner, networks))(params, critics, batch, seed, jnp.int32(0)).targets
    noise = draw_noise(seed, jnp.int32(0), 2, 3, 2)
    distribution, values_of = jax.jit(networks.distribution), jax.jit(networks.values)
    action, log_prob = map(np.asarray, draw(distribution(params["policy"], batch.next_observation), noise.next))
    for b, i, k in itertools.product(range(3), range(2), range(2)):
        asked = i if isinstance(kind, CrossOwn) else k
        values = values_of(critics, batch.next_observation[b : b + 1], action[b : b + 1, k : k + 1])
        soft = np.asarray(values)[:, 0, asked, k].min() - np.exp(params["log_temperature"][k]) * log_prob[b, k]
        expected = batch.rewards[b, 0, 0] + 0.99 * (1 - batch.terminated[b, 0]) * soft
        assert float(targets[b, i, k, 0]) == pytest.approx(float(expected), rel=1e-4, abs=1e-5)


@pytest.mark.slow
def test_a_members_step_depends_on_itself_alone():
    """Members 1 and 2 become others: member 0, its temperature included, must not notice."""
    agent = soft_agent(soft_learner(), at_once=3)
    state = soft_state(agent)
    changed = jax.tree.map(np.array, state)
    for part in (changed.params["policy"], {"temperature": changed.params["log_temperature"]}):
        jax.tree.map(lambda x: x[1:].__iadd__(0.3), part)
    jax.tree.map(lambda x: x[:, 1:].__iadd__(0.3), changed.params["critic"])
    one, other = (agent.update(start, soft_batch())[0].params for start in (state, changed))
    assert_trees_close(jax.tree.map(lambda x: x[:, 0], other["critic"]), jax.tree.map(lambda x: x[:, 0], one["critic"]))
    for name in ("policy", "log_temperature"):
        assert_trees_close(jax.tree.map(lambda x: x[0], other[name]), jax.tree.map(lambda x: x[0], one[name]))
        differs = jax.tree.map(lambda x, y: np.abs(x[1:] - y[1:]).max(), other[name], one[name])
        assert max(jax.tree.leaves(differs)) > 1e-3


@pytest.mark.slow
def test_batches_of_ones_own_equal_a_shared_one_if_they_are_the_same():
    agent, shared = soft_agent(soft_learner(), at_once=2), soft_batch()
    own = shared._replace(**{
        name: np.repeat(column, 3, axis=1) for name, column in shared._asdict().items() if name != "weight"
    })  # fmt: skip
    state = soft_state(agent)
    once, each = (agent.update(jax.tree.map(np.array, state), batch)[0].params for batch in (shared, own))
    assert_trees_close(each, once, rtol=1e-4, atol=1e-5)
