"""Law 10: a passive member that never acts still learns; half a tandem is an ensemble of two; an observer changes
nothing for those it watches."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from builders import ring_for, state_with, tiny_agent, tiny_learner, tiny_loop, tiny_network, tiny_params
from chorus.runs.training import training_keys
from chorus.training.acting import AllButLast, Tandem, Uniform, draw_member
from chorus.training.settings import Schedule


def draws(acting, count=2_000):
    shares = jnp.asarray(acting.shares(2), jnp.float32)
    keys = jax.random.split(jax.random.key(1), count)
    return np.asarray(jax.vmap(draw_member, in_axes=(None, 0))(shares, keys))


def test_a_passive_member_of_share_zero_is_never_drawn():
    assert set(draws(Tandem(passive_share=0.0))) == {0}
    assert set(draws(Tandem(passive_share=1.0))) == {1}


def test_half_a_tandem_draws_like_two_members():
    np.testing.assert_array_equal(draws(Tandem(passive_share=0.5)), draws(Uniform()))


@pytest.mark.slow
def test_a_passive_member_that_never_acts_still_learns():
    learner, network = tiny_learner(members=2), tiny_network(members=2)
    agent, params = tiny_agent(learner, network, (1,)), tiny_params(network, (1,))
    schedule = Schedule(total_steps=32, iteration_steps=32, learning_starts=8)
    loop = tiny_loop(agent, 2, "Probe/Both-v0", schedule, acting=Tandem(passive_share=0.0))
    ring, state = ring_for(loop), state_with(agent, params)
    for event in loop.run(state, ring, 1, training_keys(0, 1), np.random.default_rng(0)):
        state = getattr(event, "state", state)
    assert np.all(ring.columns.arrays["owner"] == 0)
    before, after = (tree["members"]["layer_0"]["kernel"] for tree in (params, state.params))
    assert np.abs(np.asarray(after)[1] - before[1]).max() > 1e-3


@pytest.mark.slow
def test_an_observer_changes_nothing_for_those_it_watches():
    """With the same seed the acting members start equal and are drawn alike; without shared layers they learn alike."""
    alone, watched = (
        tiny_network(members=members).init(jax.random.key(0), np.zeros(4, np.float32)) for members in (2, 3)
    )
    for group in ("members", "heads"):
        jax.tree.map(lambda x, y: np.testing.assert_array_equal(x, y[:2]), alone[group], watched[group])
    keys = jax.random.split(jax.random.key(1), 500)
    draw = jax.vmap(draw_member, in_axes=(None, 0))
    three, two = (
        draw(jnp.asarray(rule.shares(n), jnp.float32), keys) for rule, n in ((AllButLast(), 3), (Uniform(), 2))
    )
    np.testing.assert_array_equal(three, two)
