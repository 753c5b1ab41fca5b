"""Law 14: value bias = estimate - discounted clipped return, positive for an over-estimator."""

import jax
import numpy as np
import pytest

from builders import tiny_agent, tiny_learner, tiny_network, tiny_params
from chorus.ensemble.measures import discounted_returns, value_bias
from chorus.envs.registry import make_jax
from chorus.runs.training import evaluation_keys
from chorus.training.evaluate import Evaluator
from chorus.training.policies import RandomMember
from chorus.training.settings import Amount
from chorus.training.stepper import JaxStepper


def test_returns_are_discounted_from_the_back():
    # G_2 = 4, G_1 = 2 + 0.5 · 4 = 4, G_0 = 1 + 0.5 · 4 = 3.
    np.testing.assert_allclose(discounted_returns(np.array([1.0, 2.0, 4.0]), 0.5), [3.0, 4.0, 4.0])


@pytest.mark.parametrize(("estimate", "sign"), [(5.0, 1), (3.0, -1)])
def test_an_over_estimator_is_positive_and_an_under_estimator_negative(estimate, sign):
    bias = value_bias(np.full(3, estimate), np.array([1.0, 2.0, 4.0]), 0.5)
    # The returns 3, 4, 4 have the mean 11/3.
    assert bias == pytest.approx(estimate - 11 / 3)
    assert np.sign(bias) == sign


def test_no_return_goes_across_a_terminal_that_the_learner_sees():
    # Lives of one and two steps: G_0 = 1; G_2 = 4, G_1 = 2 + 0.5 · 4 = 4; their mean is 3.
    assert value_bias(np.full(3, 5.0), np.array([1.0, 2.0, 4.0]), 0.5, [1]) == pytest.approx(5.0 - 3.0)


@pytest.mark.slow
def test_an_evaluation_measures_the_bias_against_clipped_rewards():
    learner, network = tiny_learner(members=2), tiny_network(members=2)
    agent = tiny_agent(learner, network, (1,))
    # Members that value everything at 3, in a world that pays 1 once: 2 too much, or 2.5 if rewards are clipped at 0.5.
    params = jax.tree.map(np.zeros_like, tiny_params(network, (1,)))
    params["heads"]["layer_2"]["bias"][:] = 3.0
    env = make_jax("Probe/Constant-v0", None)
    for clip, expected in [(None, 2.0), (0.5, 2.5)]:
        evaluator = Evaluator(
            agent=agent,
            members=2,
            actions=env.spec.actions,
            policies={"individual": RandomMember()},
            make_stepper=lambda decide, slots: JaxStepper(env, decide, slots),
            slots=2,
            epsilon=0.0,
            discount=0.99,
            reward_clip=clip,
        )
        results = evaluator.evaluate(params, "individual", evaluation_keys(0, 1, "individual"), Amount(episodes=3))
        assert len(results) == 6
        assert [result.bias for result in results] == pytest.approx([expected] * 6)
        assert {result.episodic_return for result in results} == {1.0}
