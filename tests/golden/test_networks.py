"""Parameter counts and initialisation (equation E9) of the paper's network."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chorus.config.resolution import Request, resolve
from chorus.ensemble.value_map import Cross, Horizons, Members
from chorus.errors import ChorusError
from chorus.networks.forked import Forked
from chorus.networks.torsos import MLPTorso, ScaledMLPTorso, nature
from chorus.randomness import init_key

ATARI = (84, 84, 4)


def paper_network(kind=None, members=10, shared=0, actions=18):
    heads = (kind or Members()).build(members, 0.99).heads
    return Forked(torso=nature().layers(), members=members, shared=shared, heads=heads, actions=actions)


def count(*args, **kwargs):
    network = paper_network(*args, **kwargs)
    shapes = jax.eval_shape(lambda key: network.init(key, jnp.zeros(ATARI, jnp.uint8)), jax.random.key(0))
    return sum(leaf.size for leaf in jax.tree.leaves(shapes))


# Encoder 8·8·4·32+32 + 4·4·32·64+64 + 3·3·64·64+64 = 77 984; penultimate 3136·512+512 = 1 606 144;
# final 512·18+1 = 9 217.
ENCODER, PENULTIMATE, FINAL = 77_984, 1_606_144, 9_217


@pytest.mark.parametrize(
    ("kind", "members", "shared", "expected"),
    [
        (Members(), 1, 0, 1_693_345),
        (Members(), 10, 0, 16_933_450),
        (Members(), 10, 3, 16_231_594),
        (Members(), 10, 4, 1_776_298),
        (Cross(), 10, 0, 17_762_980),
        (Cross(), 10, 3, 17_061_124),
        (Horizons(), 10, 0, 17_762_980),
    ],
    ids=["member", "L=0", "L=3", "L=4", "CERL L=0", "CERL L=3", "MH"],
)
def test_parameter_counts(kind, members, shared, expected):
    assert count(kind, members, shared) == expected
    heads = kind.build(members, 0.99).heads
    copies = [1 if shared >= 3 else members, 1 if shared >= 4 else members, members * heads]
    assert expected == np.dot(copies, [ENCODER, PENULTIMATE, FINAL])


@pytest.mark.parametrize(
    ("actions", "percent"),
    [(3, 0.82), (4, 1.09), (6, 1.64), (7, 1.91), (8, 2.18), (9, 2.46), (10, 2.73), (14, 3.81), (18, 4.90)],
)
def test_what_cerl_adds_to_ten_members(actions, percent):
    # 90 more heads of 512 A + 1; 3.8149 is 3.82 rounded up.
    added = count(Cross(), actions=actions) / count(Members(), actions=actions) - 1
    assert 100 * added == pytest.approx(percent, abs=0.005)


@pytest.fixture(scope="module")
def initial():
    network = Forked(torso=nature().layers(), members=2, shared=1, heads=2, actions=6)
    return jax.device_get(network.init(init_key(0), np.zeros(ATARI, np.uint8)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("group", "layer", "fan_in", "bound"),
    [
        ("trunk", 0, 8 * 8 * 4, 0.0625),
        ("members", 1, 4 * 4 * 32, 0.04419),
        ("members", 2, 3 * 3 * 64, 0.041667),
        ("members", 3, 7 * 7 * 64, 0.017857),
        ("heads", 4, 512, 0.044194),
    ],
    ids=["conv1", "conv2", "conv3", "fc512", "final"],
)
def test_weights_and_biases_fill_the_interval_of_one_over_the_root_of_fan_in(initial, group, layer, fan_in, bound):
    assert 1 / math.sqrt(fan_in) == pytest.approx(bound, abs=1e-5)
    own = initial[group][f"layer_{layer}"]
    assert np.abs(own["kernel"]).max() <= 1 / math.sqrt(fan_in)
    assert np.abs(own["bias"]).max() <= 1 / math.sqrt(fan_in)
    # Uniform, not just bounded: it reaches the ends, and its standard deviation is c/√3.
    assert own["kernel"].min() < -0.99 * bound and own["kernel"].max() > 0.99 * bound
    assert own["kernel"].std() == pytest.approx(bound / math.sqrt(3), rel=0.03)
    assert np.all(own["bias"] != 0.0)


def test_a_head_has_one_bias_for_all_its_actions(initial):
    last = initial["heads"]["layer_4"]
    assert last["kernel"].shape == (2, 2, 6, 512)  # [N, H, A, D]
    assert last["bias"].shape == (2, 2, 1)  # [N, H, 1]


def test_members_and_heads_are_drawn_independently(initial):
    dense, last = initial["members"]["layer_3"]["kernel"], initial["heads"]["layer_4"]["kernel"]
    assert np.abs(np.corrcoef(dense[0].ravel(), dense[1].ravel())[0, 1]) < 0.01
    flat = last.reshape(4, -1)
    assert np.all(np.abs(np.corrcoef(flat) - np.eye(4)) < 0.1)


@pytest.mark.slow
def test_a_scaled_torso_reads_each_number_times_its_factor():
    """With the factors 2 and 10 the observation (3, 0.5) is read as (6, 5)."""
    plain, scaled = (
        Forked(torso=torso.layers(), members=2, shared=0, heads=1, actions=3)
        for torso in (MLPTorso(dense=(4, 4)), ScaledMLPTorso(dense=(4, 4), input_scale=(2.0, 10.0)))
    )
    params = plain.init(init_key(0), jnp.zeros(2))
    values = [
        network.features(params, jnp.array(observation).reshape(1, 1, 2)).last
        for network, observation in ((plain, [6.0, 5.0]), (scaled, [3.0, 0.5]))
    ]
    np.testing.assert_allclose(*values, rtol=1e-6)


def test_a_scale_that_does_not_fit_the_observations_is_refused():
    torso = {"kind": "scaled_mlp_torso", "dense": [8], "input_scale": [1.0]}
    with pytest.raises(ChorusError, match="has 1 factors; observations of CartPole-v1"):
        resolve(Request(preset="double-dqn", env="CartPole-v1", options={"agent.torso": torso}))
