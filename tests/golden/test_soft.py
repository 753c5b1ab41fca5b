"""SAC's numbers, each with its arithmetic."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from chorus.agents.agent import polyak_update
from chorus.agents.critics import Lowest
from chorus.agents.sac_losses import bootstrap_of
from chorus.config.resolution import Request, resolve
from chorus.ensemble.losses import MainAndAuxiliary, Squared, TwiceHuber
from chorus.ensemble.targets import bootstrapped
from chorus.ensemble.value_map import Cross, CrossOwn, Members
from chorus.ensemble.votes import action_distance
from chorus.envs.registry import describe
from chorus.networks.gaussian import Gaussian, draw, squash_log_std
from chorus.networks.layers import orthonormal
from chorus.runs.assembly import count_parameters
from soft_builders import soft_agent, soft_batch, soft_learner, soft_state


def test_log_std_is_squashed_between_minus_ten_and_two():
    np.testing.assert_allclose(squash_log_std(jnp.float32([0, 40, -40])), [-4, 2, -10], atol=1e-6)


@pytest.mark.parametrize(("mean", "log_std"), [(0.0, 0.0), (0.7, -1.0), (-1.5, 0.5)])
def test_the_squashed_log_probability_is_that_of_a_numerical_integral(mean, log_std):
    """The chance of |a - a0| < h is the Gaussian's between the arctanhs; over 2h it is the density at a0."""
    policy = Gaussian(mean=jnp.float32([mean]), log_std=jnp.float32([log_std]))
    noise = jnp.float32([0.4])
    action, log_prob = (np.float64(x) for x in draw(policy, noise))
    u = np.linspace(*np.arctanh(action[0] + np.array([-1e-3, 1e-3])), 2_001)
    density = np.exp(-0.5 * ((u - mean) / np.exp(log_std)) ** 2) / (np.exp(log_std) * np.sqrt(2 * np.pi))
    assert float(log_prob) == pytest.approx(np.log(np.trapezoid(density, u) / 2e-3), abs=1e-4)


@pytest.mark.slow
def test_the_squashed_density_integrates_to_one_and_numbers_add_up():
    noise = jnp.linspace(-8, 8, 4_001)[:, None]
    policy = Gaussian(mean=jnp.full((4_001, 1), 0.3), log_std=jnp.full((4_001, 1), -0.5))
    action, log_prob = (np.float64(x) for x in draw(policy, noise))
    assert np.trapezoid(np.exp(log_prob), action[:, 0]) == pytest.approx(1.0, abs=1e-3)
    pair = Gaussian(mean=jnp.float32([0.3, 0.3]), log_std=jnp.float32([-0.5, -0.5]))
    _, both = draw(pair, jnp.float32([0.0, 0.0]))
    assert float(both) == pytest.approx(2 * log_prob[2_000], rel=1e-5)


def test_far_out_the_log_probability_stays_finite():
    """At u = 40 float32 has 1 - tanh² u = 0, whose logarithm is none; the right one is 2 (ln 2 - 40) = -78.61."""
    _, log_prob = draw(Gaussian(mean=jnp.float32([40.0]), log_std=jnp.float32([0.0])), jnp.float32([0.0]))
    # log N(40; 40, 1) = -0.9189
    assert float(log_prob) == pytest.approx(-0.9189 + 78.6137, abs=1e-3)


def soft_target(kind, values, log_prob, temperature):
    """r = 1, γ = 0.99, not terminal."""
    value_map = kind.build(2, 0.99)
    policies, heads = value_map.policies_read(), value_map.heads_read()
    bootstrap = bootstrap_of(
        value_map, policies, heads, jnp.float32(temperature), jnp.float32(values), jnp.float32(log_prob)
    )
    y = bootstrapped(value_map, bootstrap, np.float32([[1.0]]), np.array([1]), np.array([False]))
    return np.asarray(y)[..., 0]


@pytest.mark.slow
def test_the_lowest_critic_counts_and_entropy_is_added():
    # Member 0: min(3, 2) - 0.5 · (-1) = 2.5, y = 1 + 0.99 · 2.5; member 1: min(4, 6) - 0.1 · 2 = 3.8.
    values = np.array([[3.0, 4.0], [2.0, 6.0]]).reshape(2, 2, 1, 1)
    y = soft_target(Members(), values, [-1.0, 2.0], [0.5, 0.1])
    np.testing.assert_allclose(y, [[3.475], [4.762]], rtol=1e-6)
    # CERL: both members learn both numbers.
    np.testing.assert_allclose(soft_target(Cross(), values, [-1.0, 2.0], [0.5, 0.1]), [[3.475, 4.762]] * 2, rtol=1e-6)


def test_self_target_asks_ones_own_critics_about_the_others_actions():
    # values[c, member, policy, head]; both critics alike but for 0.5. Head (i, k) reads [i, k, k].
    values = np.zeros((2, 2, 2, 2))
    values[:, 0, 0, 0], values[:, 0, 1, 1], values[:, 1, 0, 0], values[:, 1, 1, 1] = 1.0, 2.0, 3.0, 4.0
    values[1] -= 0.5
    y = soft_target(CrossOwn(), values, [-1.0, 2.0], [0.5, 0.1])
    # Entropy adds 0.5 for policy 0 and takes 0.2 for policy 1: 0.99 · (0.5 + 0.5), 0.99 · (1.5 - 0.2), ...
    np.testing.assert_allclose(y, [[1.99, 2.287], [3.97, 4.267]], rtol=1e-6)


@pytest.mark.slow
def test_main_heads_are_squared_whatever_their_size():
    loss = MainAndAuxiliary(main=Squared(), auxiliary=TwiceHuber())
    predictions = jnp.full((2, 2, 1), 20.0)
    losses = loss.of_heads(np.arange(2), predictions, jnp.zeros((2, 2, 1)))
    np.testing.assert_allclose(losses, [[400, 300], [300, 400]])


@pytest.mark.slow
def test_infinite_auxiliary_targets_leave_a_bounded_gradient():
    loss = MainAndAuxiliary(main=Squared(), auxiliary=TwiceHuber())
    targets = jnp.float32([[1.0, jnp.inf]])[..., None]
    gradient = jax.grad(lambda p: loss.of_heads(np.array([0]), p, targets).sum())(jnp.zeros((1, 2, 1)))
    # 2 (0 - 1) of the main head; -2 · 10 of the other.
    np.testing.assert_allclose(gradient[..., 0], [[-2.0, -20.0]])


@pytest.mark.slow
def test_the_entropy_target_is_half_a_nat_below_zero_for_each_number():
    """α (H - H̄) falls where H is above H̄ = -0.5 · 2 = -1: α must go down there, and up below."""
    agent = soft_agent(soft_learner(members=1))
    state = soft_state(agent)
    # A narrow policy whatever it sees, as at the start of training.
    state.params["policy"] = jax.tree.map(np.zeros_like, state.params["policy"])
    after, _ = agent.update(jax.tree.map(np.array, state), soft_batch())
    entropy = float(after.totals["entropy"][0])
    moved = float(after.params["log_temperature"][0] - state.params["log_temperature"][0])
    # With heads of zero σ = e^-4: far below. Adam's first step is the learning rate.
    assert entropy < -1.0
    assert moved == pytest.approx(1e-2, rel=1e-3)
    # Its first moment is a tenth of the slope α (H + 0.5 · 2) in log α, with α = 1.
    (moment,) = after.optimizer["log_temperature"][0].mu
    assert float(moment) == pytest.approx(0.1 * (entropy + 1.0), rel=1e-5)


def test_a_target_network_takes_over_a_share_or_all():
    # 0.995 · 2 + 0.005 · 4 = 2.01
    assert float(polyak_update({"w": jnp.float32(2)}, {"w": jnp.float32(4)}, 0.005)["w"]) == pytest.approx(2.01)
    # A copy must not read what it replaces, which may be undefined.
    assert float(polyak_update({"w": jnp.float32(jnp.nan)}, {"w": jnp.float32(4)}, 1.0)["w"]) == 4.0


def test_action_distance_is_half_the_mean_squared_distance_of_pairs():
    actions = np.float32([[0.0, 0.0], [0.6, 0.0], [0.0, 0.8]])
    # Squared distances 0.36, 0.64 and 1: their mean 2/3, halved and divided by two numbers: 1/6.
    assert float(action_distance(jnp.asarray(actions))) == pytest.approx(1 / 6, rel=1e-6)
    assert float(action_distance(jnp.asarray(actions[:1]))) == 0.0


@pytest.mark.slow
def test_weights_start_orthogonal():
    columns = np.asarray(orthonormal(jax.random.normal(jax.random.key(0), (40, 30))))
    np.testing.assert_allclose(columns.T @ columns, np.eye(30), atol=1e-5)
    params = jax.tree.map(np.asarray, jax.jit(soft_agent(soft_learner(Cross())).init)(jax.random.key(0)).params)
    hidden, last = params["critic"]["members"]["layer_0"], params["critic"]["heads"]["layer_2"]
    # [C, N, 6, 6] of scale √2, so that W W^T = 2; three heads of five weights are orthogonal to each other.
    np.testing.assert_allclose(hidden["kernel"][1, 2] @ hidden["kernel"][1, 2].T, 2 * np.eye(6), atol=1e-5)
    heads = last["kernel"][0, 1, :, 0]
    np.testing.assert_allclose(heads @ heads.T, 2 * np.eye(3), atol=1e-5)
    assert not hidden["bias"].any() and not last["bias"].any()
    policy = params["policy"]["heads"]["layer_2"]["kernel"][0]
    for head, scale in ((0, 2.0), (1, 1.0)):
        np.testing.assert_allclose(policy[head] @ policy[head].T, scale * np.eye(2), atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "env", "parameters"),
    [
        # A critic 393·256 + 256 + 256² + 256 + 256 + 1 = 166,913; a policy 376·256 + 256 + 256² + 256
        # + 2 (256·17 + 17) = 171,042; and a temperature.
        ("sac", "Humanoid-v4", 2 * 166_913 + 171_042 + 1),
        ("ensemble-sac", "Humanoid-v4", 10 * (2 * 166_913 + 171_042 + 1)),
        # Ten outputs: 166,913 + 9 · 257 = 169,226, which is 0.92 % more in all.
        ("ensemble-sac-cerl", "Humanoid-v4", 10 * (2 * 169_226 + 171_042 + 1)),
    ],
)
def test_parameter_counts_are_the_papers(preset, env, parameters):
    resolved = resolve(Request(preset=preset, env=env, scale="paper"))
    assert count_parameters(resolved.config, resolved.spec) == parameters


@pytest.mark.parametrize(
    ("env", "sizes"),
    [
        ("HalfCheetah-v4", (17, 6)),
        ("Walker2d-v4", (17, 6)),
        ("Hopper-v4", (11, 3)),
        ("Ant-v4", (27, 8)),
        ("Humanoid-v4", (376, 17)),
    ],
)
def test_the_papers_tasks_have_the_papers_sizes(env, sizes):
    spec = describe(env)
    assert (*spec.observation_shape, *spec.actions.shape) == sizes
    assert (spec.family, spec.max_episode_steps) == ("control", 1_000)


def test_the_policy_improves_the_lowest_critic_without_a_division():
    """A derivative that divides by how many critics equal the minimum is 0/0 where none does after rounding."""
    values = jnp.float32([[3.0, 1.0, 2.0], [2.0, 4.0, 2.0]]).reshape(2, 3, 1, 1)
    lowest = Lowest().value
    np.testing.assert_array_equal(np.ravel(lowest(values)), [2, 1, 2])
    gradient = jax.grad(lambda x: jnp.sum(lowest(x)))
    # The second critic is lower for the first state, the first one for the second; of equal ones the first counts.
    np.testing.assert_array_equal(gradient(values).reshape(2, 3), [[0, 1, 1], [1, 0, 0]])
    assert "div" not in str(jax.make_jaxpr(gradient)(values))
    assert "div" in str(jax.make_jaxpr(jax.grad(lambda x: jnp.sum(jnp.min(x, axis=0))))(values))
