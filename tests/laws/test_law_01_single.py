"""Law 1: an ensemble of one is Double DQN; copies of one are that one; a tandem is an ensemble with copies."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from builders import (
    ACTIONS,
    FLAT,
    assert_trees_close,
    load_example,
    members_taken,
    ring_for,
    state_with,
    tiny_agent,
    tiny_batch,
    tiny_learner,
    tiny_loop,
    tiny_network,
    tiny_params,
)
from chorus.agents.optimizers import Adam, CentredRMSProp
from chorus.ensemble.targets import greedy_actions, td_targets
from chorus.ensemble.value_map import Members
from chorus.runs.training import training_keys
from chorus.training.acting import LinearEpsilon, Tandem, Uniform, draw_member
from chorus.training.settings import Schedule

flat = load_example("double_dqn_flat")


def test_targets_of_one_member_are_textbook_double_dqn():
    online, target = np.float32([0.3, 0.9, 0.1]), np.float32([5.0, 7.0, 9.0])
    value_map = Members().build(1, 0.99)
    for reward, terminated in [(1.5, False), (-2.0, True)]:
        y = td_targets(
            value_map,
            value_map.heads_read(),
            greedy_actions(jnp.asarray(online[None])),
            jnp.asarray(target.reshape(1, 1, 3, 1)),
            np.float32([[reward]]),
            np.array([1]),
            np.array([terminated]),
        )
        textbook = reward + 0.99 * (not terminated) * target[np.argmax(online)]
        np.testing.assert_allclose(y, [[[textbook]]], rtol=1e-6)


def as_members(params) -> dict:
    """The flat file's parameters in the library's tree: one member, one head."""
    *hidden, (weight, bias) = params
    own = {f"layer_{i}": {"kernel": w.T[None], "bias": b[None]} for i, (w, b) in enumerate(hidden)}
    last = {f"layer_{len(hidden)}": {"kernel": weight.T[None, None], "bias": bias[None, None]}}
    return {"trunk": {}, "members": own, "heads": last}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("optimizer", "same_in_optax"),
    [
        (Adam(learning_rate=1e-2, epsilon=1e-3), optax.adam(1e-2, eps=1e-3)),
        (
            CentredRMSProp(learning_rate=1e-3, decay=0.95, epsilon=1e-3),
            optax.rmsprop(1e-3, decay=0.95, eps=1e-3, centered=True, eps_in_sqrt=True),
        ),
    ],
    ids=["adam", "rmsprop"],
)
def test_one_member_equals_the_flat_file_update_for_update(optimizer, same_in_optax):
    learner = tiny_learner(members=1, optimizer=optimizer, target_period=20)
    agent = tiny_agent(learner, tiny_network(members=1))
    params = jax.device_get(flat.init_params(jax.random.key(0), [*FLAT, 6, 5, ACTIONS]))
    state, flat_state = state_with(agent, as_members(params)), flat.init_state(params, same_in_optax)
    flat_update = flat.make_update(same_in_optax, 0.99, 20)
    for i in range(50):
        batch = tiny_batch(size=16, seed=i)
        shown = batch.observation, batch.action, batch.rewards[..., 0], batch.terminated, batch.next_observation
        state, _ = agent.update(state, batch)
        flat_state = flat_update(flat_state, flat.Batch(*(column[:, 0] for column in shown)))
        assert_trees_close(state.params, as_members(flat_state.params), rtol=1e-4, atol=1e-5)
        assert_trees_close(state.target_params, as_members(flat_state.target_params), rtol=1e-4, atol=1e-5)
    moved = np.abs(np.asarray(flat_state.params[0][0]) - np.asarray(params[0][0])).max()
    assert moved > 0.003, "parameters that stand still agree with anything"


@pytest.fixture(scope="module")
def played():
    """What ensembles made of the same two members store and learn in 48 steps and 10 updates; owners apart."""
    pair = tiny_params(tiny_network(members=2), (1,))

    @cache
    def loop_of(members, acting):
        agent = tiny_agent(tiny_learner(members=members), tiny_network(members=members), (1,))
        schedule = Schedule(total_steps=48, iteration_steps=48, learning_starts=8)
        epsilon = LinearEpsilon(final=0.2, decay_steps=1, warmup_steps=0)
        return tiny_loop(agent, members, "Probe/Both-v0", schedule, acting=acting, epsilon=epsilon)

    def play(order, acting):
        loop = loop_of(len(order), acting)
        ring, state = ring_for(loop), state_with(loop.agent, members_taken(pair, order))
        for event in loop.run(state, ring, 1, training_keys(0, 1), np.random.default_rng(0)):
            state = getattr(event, "state", state)
        columns = {name: column.copy() for name, column in ring.columns.arrays.items()}
        return columns.pop("owner"), columns, state

    return {
        "one": play([0], Uniform()),
        "four copies": play([0, 0, 0, 0], Uniform()),
        "tandem": play([0, 1], Tandem(passive_share=0.25)),
        "four": play([0, 0, 0, 1], Uniform()),
    }


@pytest.mark.slow
def test_copies_that_act_in_turn_gather_and_learn_what_one_does(played):
    owner, data, state = played["one"]
    owners, copied_data, copied_state = played["four copies"]
    assert set(owners.ravel()) == {0, 1, 2, 3} and set(owner.ravel()) == {0}
    assert_trees_close(copied_data, data, rtol=0, atol=0)
    for i in range(4):
        assert_trees_close(members_taken(copied_state.params, [i]), state.params)
        np.testing.assert_allclose(copied_state.totals["td_loss"][i], state.totals["td_loss"][0], rtol=1e-5)


@pytest.mark.slow
def test_a_quarter_tandem_is_four_members_of_which_three_are_copies(played):
    owner, data, state = played["tandem"]
    owners, copied_data, copied_state = played["four"]
    np.testing.assert_array_equal(owner == 1, owners == 3)
    assert 0 < np.mean(owner) < 1
    assert_trees_close(copied_data, data, rtol=0, atol=0)
    for i, original in enumerate([0, 0, 0, 1]):
        assert_trees_close(members_taken(copied_state.params, [i]), members_taken(state.params, [original]))


def test_the_draws_of_a_quarter_tandem_are_those_of_four_members():
    def draws(acting, members):
        shares = jnp.asarray(acting.shares(members), jnp.float32)
        return np.asarray(jax.vmap(draw_member, in_axes=(None, 0))(shares, jax.random.split(jax.random.key(0), 4_000)))

    tandem, four = draws(Tandem(passive_share=0.25), 2), draws(Uniform(), 4)
    np.testing.assert_array_equal(tandem == 1, four == 3)
    # 4000 draws: a share has a standard deviation of 0.007.
    np.testing.assert_allclose(np.bincount(four, minlength=4) / 4_000, 0.25, atol=0.03)
