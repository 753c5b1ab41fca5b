"""`wide` has CERL's parameters in its last hidden layer (equation E18)."""

import jax
import pytest

from chorus.config.resolution import Request, resolve
from chorus.errors import ChorusError
from chorus.networks.layers import Dense, VarianceScaled, WidenedDense
from chorus.networks.torsos import custom
from chorus.runs.assembly import count_parameters

# For ten members 512 + 9 (512 A + 1)/(3137 + A), rounded.
WIDTHS = {18: 538, 14: 532, 10: 527, 9: 525, 8: 524, 7: 522, 6: 521, 4: 518, 3: 516}


@pytest.mark.parametrize(("actions", "width"), WIDTHS.items())
def test_the_papers_network_is_widened_for_its_action_count(actions, width):
    assert WidenedDense(512, members=10, outputs=actions).width(3_136) == width


def test_a_bias_for_each_output_counts():
    layer = WidenedDense(16, VarianceScaled(), members=3, outputs=10)
    # (3 - 1)(16 · 10 + 10) = 340 parameters, a unit costs 20 + 1 + 10 = 31 of them: 10.97 units.
    assert layer.width(20) == 16 + 11


def test_one_member_needs_no_more():
    assert WidenedDense(512, members=1, outputs=18).width(3_136) == Dense(512).width(3_136) == 512


@pytest.mark.slow
@pytest.mark.parametrize("env", ["ALE/Breakout-v5", "ALE/Amidar-v5", "MinAtar/Breakout-v1", "CartPole-v1"])
@pytest.mark.parametrize("members", [2, 10])
def test_the_ensemble_has_as_many_parameters_as_cerls_to_half_a_unit(env, members):
    counts = {}
    for preset in ("bootstrapped-dqn", "cerl", "wide"):
        resolved = resolve(Request(preset=preset, env=env, scale="paper", options={"members": members}))
        counts[preset] = count_parameters(resolved.config, resolved.spec)
    agent = resolved.config.agent
    network = agent.network(resolved.spec)
    shapes = jax.eval_shape(lambda key: network.init(key, resolved.spec.example()), jax.random.key(0))
    inputs = shapes["members"][f"layer_{len(network.torso) - 1}"]["kernel"].shape[-1]
    unit = members * (inputs + 1 + resolved.spec.actions.count)
    assert counts["cerl"] > counts["bootstrapped-dqn"]
    assert abs(counts["wide"] - counts["cerl"]) <= unit / 2


def test_a_shared_last_layer_and_a_torso_of_ones_own_are_refused():
    with pytest.raises(ChorusError, match="--shared-layers 4 shares the layer that is widened"):
        resolve(Request(preset="wide", env="ALE/Breakout-v5", scale="paper", options={"shared_layers": 4}))
    with pytest.raises(ChorusError, match="widens a network of Chorus's own"):
        resolve(Request(preset="wide", env="CartPole-v1", torso=custom(Dense(4))))
