"""Law 4: the view of member i equals row i of the full forward pass, for every L, in every form of the layers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from builders import CONV_TORSO, IMAGE, tiny_batch, tiny_network, tiny_params
from chorus.networks.lifting import batched, best_for_backend, unrolled

FORMS = {"batched": batched, "unrolled": unrolled, "best_for_backend": best_for_backend}
MEMBERS, HEADS = 2, 2


def conv_network(shared, form):
    return tiny_network(members=MEMBERS, heads=HEADS, shared=shared, torso=CONV_TORSO, lift=FORMS[form])


def every_form_and_depth():
    """All of them; of the forms this backend does not choose, the depths in between are left to `make test`."""
    for form in FORMS:
        for shared in range(len(CONV_TORSO) + 1):
            rare = form != "best_for_backend" and shared not in (0, 2)
            yield pytest.param(form, shared, marks=pytest.mark.slow if rare else (), id=f"{form} L={shared}")


@pytest.mark.slow
@pytest.mark.parametrize(("form", "shared"), list(every_form_and_depth()))
def test_the_view_of_a_member_is_its_row_of_the_full_pass(form, shared):
    network = conv_network(shared, form)

    def full_and_alone(params, observation):
        def alone(index):
            view = network.view(params, index // HEADS, index % HEADS)
            return network.alone().apply(view, observation)[:, 0, 0]

        return network.apply(params, observation), jax.lax.map(alone, jnp.arange(MEMBERS * HEADS))

    params, observation = tiny_params(network, IMAGE), tiny_batch(size=3, shape=IMAGE).observation
    full, alone = jax.jit(full_and_alone)(params, observation)
    rows = np.moveaxis(np.asarray(full), 0, 2).reshape(alone.shape)
    np.testing.assert_allclose(alone, rows, rtol=1e-5, atol=1e-6)
    distinct = np.unique(rows.reshape(len(rows), -1).round(6), axis=0)
    assert len(distinct) == len(rows), "heads differ, or the law says nothing"


@pytest.mark.slow
@pytest.mark.parametrize("copies", [1, MEMBERS], ids=["shared batch", "a batch a member"])
@pytest.mark.parametrize("shared", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_all_forms_agree_in_value_and_gradient(shared, copies):
    observation = tiny_batch(size=3, copies=copies, shape=IMAGE).observation
    params = tiny_params(conv_network(shared, "batched"), IMAGE)
    answers = []
    for form in FORMS:
        network = conv_network(shared, form)

        def score(params, network=network):
            values = network.apply(params, observation)
            return jnp.sum(jnp.sin(3.0 * values)), values

        gradient, values = jax.jit(jax.grad(score, has_aux=True))(params)
        answers.append(np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves((gradient, values))]))
    np.testing.assert_allclose(answers[1], answers[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(answers[2], answers[0], rtol=1e-4, atol=1e-5)


def test_some_heads_alone_equal_those_heads_of_all():
    network = conv_network(1, "best_for_backend")
    params, observation = tiny_params(network, IMAGE), tiny_batch(size=3, shape=IMAGE).observation
    main = np.array([[0], [1]])
    every, some = jax.jit(lambda p, o: (network.apply(p, o), network.apply(p, o, main)))(params, observation)
    np.testing.assert_allclose(some[:, :, 0], np.asarray(every)[:, [0, 1], [0, 1]], rtol=1e-5, atol=1e-6)
