"""Acting rules with every preset: what they can be combined with, and the sentences where they cannot."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from chorus.config.presets import PRESETS
from chorus.config.resolution import Request, resolve
from chorus.errors import ChorusError
from chorus.runs.assembly import Assembly
from chorus.spaces import Discrete

OWN = [name for name, one in PRESETS.items() if one.change.__module__.startswith("chorus.")]
SOFT = [name for name in OWN if PRESETS[name].group == "sac"]
DISCRETE = [name for name in OWN if name not in (*SOFT, "life-loss")]
TOGETHER = {"discrete": ("vote", "greedy_mean", "ucb"), "soft": ("mean_action", "ucb")}
# Presets that are defined by who acts, or whose members learn from what they did themselves.
DEFINED_BY_ACTING, OF_OWN_DATA = ("tandem", "sac-tandem", "per-step", "observer"), ("self-oversampled", "separate")


def resolved(preset, rule, env=None, **options):
    env = env or ("Pendulum-v1" if preset in SOFT else "CartPole-v1")
    return resolve(Request(preset=preset, env=env, scale="smoke", options={"acting": {"kind": rule}, **options}))


def decides(preset, rules):
    """Shapes alone: one action per slot comes out of a decision of all members, by any of the rules."""
    found = [resolved(preset, rule) for rule in rules]
    first = Assembly.of(found[0].config)
    spec, params = first.spec, jax.eval_shape(first.agent.init, jax.random.key(0)).params
    seen = np.zeros((2, *spec.observation_shape), spec.observation_dtype)
    # Presets differ in what is proposed, and a rule does not know by whom: tracing all rules for two is enough.
    for one in found if preset in ("bootstrapped-dqn", "ensemble-sac") else found[-1:]:
        assembly = replace(first, config=one.config)
        action, _ = jax.eval_shape(
            assembly._decide_in_training, params, seen, np.zeros(2, np.int32), jax.random.key(1), np.float32(0.1)
        )
        inner = () if isinstance(spec.actions, Discrete) else spec.actions.shape
        assert action.shape == (2, *inner) and action.dtype == spec.actions.dtype


@pytest.mark.slow
@pytest.mark.parametrize("preset", [*DISCRETE, *SOFT])
def test_rules_that_use_all_members_work_with_every_preset_that_does_not_exclude_them(preset):
    rules = TOGETHER["soft" if preset in SOFT else "discrete"]
    if preset in (*DEFINED_BY_ACTING, *OF_OWN_DATA):
        sentence = "does not apply to" if preset in DEFINED_BY_ACTING else "all members choose every action together"
        for rule in rules:
            with pytest.raises(ChorusError, match=rf"{rule} {sentence}"):
                resolved(preset, rule)
    else:
        decides(preset, rules)


def test_rules_that_use_all_members_are_accepted_by_the_preset_of_atari_games():
    for rule in TOGETHER["discrete"]:
        assert resolved("life-loss", rule, env="ALE/Breakout-v5").config.acting.kind == rule


@pytest.mark.parametrize(
    ("preset", "rule", "sentence"),
    [
        (
            "bootstrapped-dqn",
            "mean_action",
            "averages a Box and 'CartPole-v1' has Discrete actions; use vote, greedy_m",
        ),
        ("ensemble-sac", "vote", "compares Discrete actions and 'Pendulum-v1' has a Box; use mean_action or ucb"),
        ("ensemble-sac", "greedy_mean", "compares Discrete actions and 'Pendulum-v1' has a Box"),
        ("separate", "all_but_last", "a member that never acts never learns, and the acting rule all_but_last"),
    ],
)
def test_undefined_combinations_are_refused_with_a_remedy(preset, rule, sentence):
    with pytest.raises(ChorusError, match=sentence):
        resolved(preset, rule)


def test_all_problems_are_reported_at_once():
    with pytest.raises(ChorusError) as refused:
        resolved("self-oversampled", "mean_action", own_probability=2.0)
    for part in ("averages a Box", "needs transitions of single members", "--own-probability is 2.0"):
        assert part in str(refused.value)


def test_beta_is_an_option_beside_the_rule():
    assert resolved("bootstrapped-dqn", "ucb", ucb_beta=2.5).config.acting.beta == 2.5
    with pytest.raises(ChorusError, match=r"--ucb-beta 2\.5 does not apply to bootstrapped-dqn"):
        resolve(Request(preset="bootstrapped-dqn", env="CartPole-v1", options={"ucb_beta": 2.5}))


def test_an_observer_needs_somebody_to_watch():
    with pytest.raises(ChorusError) as refused:
        resolve(Request(preset="observer", env="CartPole-v1", options={"members": 1}))
    assert str(refused.value).count("needs a member that acts and one that watches, and --members is 1") == 1
    with pytest.raises(ChorusError, match="the policy observer is for ensembles whose last member only watches"):
        policy = {"evaluation.policies.observer": {"kind": "observer"}}
        resolve(Request(preset="bootstrapped-dqn", env="CartPole-v1", options=policy))
